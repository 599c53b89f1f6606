"""`odradek users`: users who log in by SCRAM: list, add, remove.

odradek users localhost:9092
odradek users localhost:9092 add alice --password secret
odradek users localhost:9092 add alice --mechanism SCRAM-SHA-512     asks for the password
odradek users localhost:9092 remove alice

A user has a password for each mechanism. To add one that is there sets another password.
"""

from __future__ import annotations

import argparse
import getpass
import hashlib
import secrets
import sys

from ....wire import Error
from ....wire.api.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
from ....wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from .aliases import add_action
from .arguments import named, whole
from .client import Brokers, ConsoleError, check, likely, report
from .confirm import add_yes, confirm
from .tables import add_json, print_rows

MECHANISMS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
_NAMES = {number: name for name, number in MECHANISMS.items()}
_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_HEADS = ("user", "mechanism", "iterations")
_SALT_BYTES = 20
_ITERATIONS = (4096, 16384)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek users ADDRESS`."""
    parser.set_defaults(json=False, user=[])
    actions = parser.add_subparsers(dest="action", metavar="ACTION", help="without one: list them")
    listed = add_action(actions, "list", "all of them, as without an action", "show", "describe")
    listed.add_argument("user", nargs="*", help="only these")
    for each in (parser, listed):
        add_json(each)
    add = add_action(actions, "add", "a user, or another password", "create", "update", "set")
    remove = add_action(actions, "remove", "users, or one mechanism of theirs", "delete", "rm")
    add.add_argument("user", type=named, help="the name")
    add.add_argument(
        "-p", "--password", metavar="TEXT", help="default: asked for, or the line of standard input"
    )
    add.add_argument(
        "--mechanism",
        type=_mechanism,
        metavar="NAME",
        default="SCRAM-SHA-256",
        help="SCRAM-SHA-256 (the default) or SCRAM-SHA-512",
    )
    add.add_argument(
        "--iterations",
        type=whole(*_ITERATIONS),
        metavar="N",
        default=_ITERATIONS[0],
        help=f"how often the password is hashed: {_ITERATIONS[0]} (the default) or more",
    )
    remove.add_argument("user", nargs="+", type=named, help="the name")
    remove.add_argument(
        "--mechanism", type=_mechanism, metavar="NAME", help="only of this; default: of all"
    )
    add_yes(remove)


def run(brokers: Brokers, options: argparse.Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    match options.action:
        case None | "list":
            rows = _credentials(brokers, options.user)
            print_rows(_HEADS, rows, as_json=options.json)
        case "add":
            _add(brokers, options)
        case "remove":
            _remove(brokers, options)
    return 0


def _mechanism(text: str) -> str:
    name = text.upper()
    if name.startswith("SHA-"):
        name = f"SCRAM-{name}"
    if name not in MECHANISMS:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(MECHANISMS)}")
    return name


def _credentials(brokers: Brokers, users: list[str]) -> list[list[object]]:
    """User, mechanism, iterations. Raises ConsoleError if one of these users is not there."""
    named_ones = [DescribeUserScramCredentialsRequest.User(name=user) for user in users]
    request = DescribeUserScramCredentialsRequest(users=named_ones or None)
    answer = brokers.ask_controller(request)
    check(answer.error_code, "users", answer.error_message)
    rows: list[list[object]] = []
    for result in sorted(answer.results, key=lambda each: each.user):
        if result.error_code == Error.RESOURCE_NOT_FOUND:
            known = [str(user) for user, *_ in _credentials(brokers, [])]
            raise ConsoleError(f"there is no user {result.user}{likely(result.user, known)}")
        check(result.error_code, f"user {result.user}", result.error_message)
        for each in sorted(result.credential_infos, key=lambda each: each.mechanism):
            name = _NAMES.get(each.mechanism, each.mechanism)
            rows.append([result.user, name, each.iterations])
    return rows


def _add(brokers: Brokers, options: argparse.Namespace) -> None:
    password = _password(options)
    salt = secrets.token_bytes(_SALT_BYTES)
    digest = _HASHES[options.mechanism]
    salted = hashlib.pbkdf2_hmac(digest, password.encode(), salt, options.iterations)
    entry = AlterUserScramCredentialsRequest.Upsertion(
        name=options.user,
        mechanism=MECHANISMS[options.mechanism],
        iterations=options.iterations,
        salt=salt,
        salted_password=salted,
    )
    request = AlterUserScramCredentialsRequest(deletions=[], upsertions=[entry])
    _report(brokers.ask_controller(request), f"may log in by {options.mechanism}")
    # The controller answers first: the broker that will be asked next follows it.
    brokers.until(
        lambda: [options.user, options.mechanism, options.iterations] in _credentials(brokers, []),
        f"user {options.user} is not there yet",
    )


def _password(options: argparse.Namespace) -> str:
    password: str | None = options.password
    if password is None and sys.stdin is not None and sys.stdin.isatty():
        password = getpass.getpass(f"password of {options.user}: ")
    elif password is None:
        password = sys.stdin.readline().rstrip("\r\n") if sys.stdin else ""
    if not password:
        raise ConsoleError(f"a password of {options.user} is missing: --password")
    return password


def _remove(brokers: Brokers, options: argparse.Namespace) -> None:
    there = _credentials(brokers, options.user)
    gone = [row for row in there if options.mechanism in (None, row[1])]
    if not gone:
        raise ConsoleError(f"{', '.join(options.user)}: no password for {options.mechanism}")
    confirm(options, f"remove {', '.join(f'{user} ({mechanism})' for user, mechanism, _ in gone)}")
    # A request may name a user once.
    for mechanism in dict.fromkeys(str(name) for _, name, _ in gone):
        deletions = [
            AlterUserScramCredentialsRequest.Deletion(
                name=str(user), mechanism=MECHANISMS[mechanism]
            )
            for user, name, _ in gone
            if name == mechanism
        ]
        request = AlterUserScramCredentialsRequest(deletions=deletions, upsertions=[])
        _report(brokers.ask_controller(request), f"cannot log in by {mechanism} any more")
    brokers.until(
        lambda: not any(row in _credentials(brokers, []) for row in gone),
        "the users are still there",
    )


def _report(answer: AlterUserScramCredentialsResponse, done: str) -> None:
    report(
        (each.error_code, f"user {each.user}", each.error_message, f"{each.user} {done}")
        for each in answer.results
    )
