"""Habits from other tools: where the address stands, other names of a verb.

The address of a broker is the first argument of a view, or one with a port that stands after the
action, or that of `--bootstrap-server` (Kafka's scripts), `--brokers` (rpk) or `-b` (kcat),
wherever it stands. Without one it is that of the variable ODRADEK_BOOTSTRAP, or of a profile
(connecting.py). While one is known, a first argument is an address only if it has a port. Options
of other tools: scripts.py.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from .arguments import KAFKAS_PORT
from .connecting import (
    CONNECTION_OPTIONS,
    ConnectionSettingsError,
    address_of_profile,
    named_profile,
)
from .scripts import Unclear, as_here, flags

VARIABLE = "ODRADEK_BOOTSTRAP"
_VIEW_NAMES = {
    "consume": "records",
    "topic": "topics",
    "group": "groups",
    "config": "configs",
    "broker": "brokers",
    "cluster": "brokers",
    "user": "users",
    "quota": "quotas",
    "acl": "acls",
    "transaction": "transactions",
    "txn": "transactions",
    "console-consumer": "records",
    "console-producer": "produce",
    "consumer-groups": "groups",
    "share-groups": "groups",
    "streams-groups": "groups",
}
"""Other names of views. `kafka-` before and `.sh` behind a name are left out."""
_OF_TOPICS = {"consume": "records", "produce": "produce", "alter-config": "configs"}
"""Actions of `rpk topic`, and the views that have them here."""
_OPTIONS = ("--bootstrap-server", "--bootstrap-servers", "--brokers", "-b")
_CONNECTING = (*CONNECTION_OPTIONS, "--timeout")
_WITH_PORT = re.compile(r"\S*:[0-9]{1,5}(,\S+)*")
_SURELY = re.compile(r"((localhost|[0-9.]+|\[[0-9a-f:]+\]):[0-9]{1,5}|\S+:[0-9]{4,5})(,\S+)*")
"""An address wherever it stands: orders:0 is a partition."""
_ACTIONS = {
    "list": ("ls",),
    "show": ("describe",),
    "grow": ("add-partitions",),
    "empty": ("purge", "trim-prefix"),
    "delete": ("rm", "remove"),
    "reset": ("seek",),
    "forget": ("offset-delete",),
}
_OF_ONE_VIEW = (
    *("partitions", "elect", "lead", "reassign", "cancel", "topic", "group", "kick"),
    *("add", "set", "producers", "hanging", "abort"),
)
_NAME_COMES_FIRST = ("records", "produce")
_HELP = {"-h", "--help"}
_ANY = f"localhost:{KAFKAS_PORT}"


class NoAddress(Unclear):
    """No broker was named."""


def with_address(
    arguments: Sequence[str], environment: Mapping[str, str] = os.environ
) -> list[str]:
    """The words of a view as it has them, its name and the address first, then how to connect.
    Raises Unclear, with what to type."""
    view, given_rest = _renamed(arguments)
    rest = list(given_rest)
    address = _taken_out(rest)
    connecting, rest = _divided(rest)
    address = address or _typed(view, rest) or _known(connecting, environment)
    if not address and rest and rest[0] in _HELP:
        return [view, *rest]
    if not address:
        address = _first(view, rest)
    return [view, address, *connecting, *as_here(view, _formatted(view, rest))]


def view_named(name: str) -> str:
    plain = name.removeprefix("kafka-").removesuffix(".sh")
    return _VIEW_NAMES.get(plain, plain)


def _renamed(arguments: Sequence[str]) -> tuple[str, Sequence[str]]:
    view, rest = view_named(arguments[0]), arguments[1:]
    if view == "topics" and rest[:1] and rest[0] in _OF_TOPICS:
        view = _OF_TOPICS[rest[0]]
        return view, [*(["topic"] if view == "configs" else []), *rest[1:]]
    return view, rest


def _formatted(view: str, rest: Sequence[str]) -> list[str]:
    """`-f` with a template is kcat's and rpk's format, alone it follows."""
    rest = list(rest)
    if view == "records":
        for at, each in enumerate(rest[:-1]):
            if each == "-f" and re.search(r"%\w|\{\w+\}", rest[at + 1]):
                rest[at] = "--format"
    return rest


def _typed(view: str, rest: list[str]) -> str:
    """The address among these words, which is removed: the first one if it has a port, or one that
    stands after the action; empty if there is none."""
    without_value = {*flags(view), "--json"}
    for at, each in enumerate(rest):
        before = rest[at - 1] if at else ""
        if before.startswith("-") and before not in without_value:
            continue
        if (_SURELY if at else _WITH_PORT).fullmatch(each):
            return rest.pop(at)
    return ""


def _first(view: str, rest: list[str]) -> str:
    """A host without a port, where no address is known otherwise; removed. Raises NoAddress."""
    if rest and not rest[0]:
        return rest.pop(0)  # which is no address, as argparse will say
    first = rest[0] if rest and not rest[0].startswith("-") else ""
    others = (other for names in _ACTIONS.values() for other in names)
    is_action = first in {*_ACTIONS, *others, "create", *_OF_ONE_VIEW}
    is_name = view in _NAME_COMES_FIRST and (not rest[1:] or rest[1].startswith("-"))
    if is_action and _HELP & {*rest}:
        return _ANY
    if not first or is_action or is_name:
        what = f" {first}" if first else ""
        raise NoAddress(f"which broker? odradek {view} HOST:PORT{what} ..., or set {VARIABLE}")
    return rest.pop(0)


def _divided(rest: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options that say how to connect, which may stand anywhere, and the other arguments."""
    connecting: list[str] = []
    others: list[str] = []
    left = iter(rest)
    for each in left:
        name, equals, _ = each.partition("=")
        if name not in _CONNECTING:
            others.append(each)
            continue
        connecting.append(each)
        if not equals:
            connecting += list(islice(left, 1))
    return connecting, others


def _known(rest: Sequence[str], environment: Mapping[str, str]) -> str:
    """The address that need not be typed: of a profile that is named, of the variable, of the
    profile that another variable names. Raises NoAddress."""
    found = "" if named_profile(rest) else environment.get(VARIABLE, "")
    try:
        return found or address_of_profile(rest, environment)
    except ConnectionSettingsError as error:
        raise NoAddress(str(error)) from None


def _taken_out(rest: list[str]) -> str:
    """The value of an option for the address, which is removed; empty if there is none."""
    for number, each in enumerate(rest):
        name, equals, value = each.partition("=")
        if name in _OPTIONS:
            if not equals:
                value = rest.pop(number + 1) if number + 1 < len(rest) else ""
            del rest[number]
            return value
    return ""


def add_action(actions: Any, name: str, what: str, *more: str) -> argparse.ArgumentParser:
    """The parser of an action, which is also found by the names that other tools have for it; and
    by `more`, in this view alone."""
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=what, aliases=(*_ACTIONS.get(name, ()), *more)
    )
    parser.set_defaults(action=name)
    return parser
