"""What people type who know other tools: where the address stands, other names of a verb.

The address of a broker is the first argument of a view, or that of `--bootstrap-server` (Kafka's
scripts), `--brokers` (rpk) or `-b` (kcat), wherever it stands. Without one it is that of the
variable ODRADEK_BOOTSTRAP, or of a profile (connecting.py). While one is known, a first argument is
an address only if it has a port.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from .connecting import (
    CONNECTION_OPTIONS,
    ConnectionSettingsError,
    address_of_profile,
    named_profile,
)

VARIABLE = "ODRADEK_BOOTSTRAP"
VIEW_NAMES = {
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
}
"""Other names of views."""
_OPTIONS = ("--bootstrap-server", "--bootstrap-servers", "--brokers", "-b")
_OF_SCRIPTS = {
    "topics": "list describe create delete",
    "groups": "list describe delete",
    "acls": "list add remove",
}
"""The actions of Kafka's scripts, which begin with two dashes there."""
_NAME_OPTIONS = {"topics": "--topic", "groups": "--group"}
_CONNECTING = (*CONNECTION_OPTIONS, "--timeout")
_WITH_PORT = re.compile(r"\S*:[0-9]{1,5}(,\S+)*")
_ACTIONS = {
    "list": ("ls",),
    "show": ("describe",),
    "grow": ("add-partitions",),
    "empty": ("purge",),
    "delete": ("rm", "remove"),
    "reset": ("seek",),
}
_OF_ONE_VIEW = (
    *("partitions", "elect", "lead", "reassign", "cancel"),
    *("add", "set", "producers", "hanging", "abort"),
)


class NoAddress(Exception):
    """No broker was named."""


def with_address(given: Sequence[str], environment: Mapping[str, str] = os.environ) -> list[str]:
    """The arguments of a view, the address first, then how to connect. Raises NoAddress, with what
    to type."""
    view, rest = given[0], _as_here(given[0], given[1:])
    if named := _taken_out(rest):
        return [view, named, *_connecting_first(rest)]
    connecting, rest = _divided(rest)
    found = _with_known(view, connecting, rest, environment)
    return [*found[:2], *connecting, *found[2:]]


def _as_here(view: str, rest: Sequence[str]) -> list[str]:
    """What Kafka's scripts call `--describe --topic NAME` is an action and a name here; `-f` with a
    template is kcat's and rpk's format, alone it follows."""
    rest = list(rest)
    if view == "records":
        for at, each in enumerate(rest[:-1]):
            if each == "-f" and re.search(r"%\w|\{\w+\}", rest[at + 1]):
                rest[at] = "--format"
    scripts = _OF_SCRIPTS.get(view, "")
    action = next((each for each in rest if each[2:] in scripts.split()), None)
    if action is None:
        return rest
    rest.remove(action)
    names: list[str] = []
    option = _NAME_OPTIONS.get(view)
    while option in rest:
        at = rest.index(option)
        names += rest[at + 1 : at + 2]
        del rest[at : at + 2]
    addresses = [each for each in rest[:1] if _WITH_PORT.fullmatch(each)]
    return [*addresses, action[2:], *rest[len(addresses) :], *names]


def _with_known(
    view: str, connecting: Sequence[str], rest: list[str], environment: Mapping[str, str]
) -> list[str]:
    first = next((each for each in rest if not each.startswith("-")), "")
    known = _known(connecting, environment)
    if known and not _WITH_PORT.fullmatch(first):
        return [view, known, *rest]
    if not first and rest:  # --help, or a wrong option: argparse tells
        return [view, *rest]
    others = (other for names in _ACTIONS.values() for other in names)
    actions = {*_ACTIONS, *others, "create", *_OF_ONE_VIEW}
    if not first or first in actions:
        action = f" {first}" if first else ""
        raise NoAddress(f"which broker? odradek {view} HOST:PORT{action} ..., or set {VARIABLE}")
    return [view, *rest]


def _connecting_first(rest: Sequence[str]) -> list[str]:
    connecting, others = _divided(rest)
    return [*connecting, *others]


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
