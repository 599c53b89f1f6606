"""What people type who know other tools: where the address stands, other names of a verb.

The address of a broker is the first argument of a view, or that of `--bootstrap-server` (Kafka's
scripts), `--brokers` (rpk) or `-b` (kcat), wherever it stands. Without one it is that of the
variable ODRADEK_BOOTSTRAP. While that is set, a first argument is an address only if it has a port.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

VARIABLE = "ODRADEK_BOOTSTRAP"
VIEW_NAMES = {
    "consume": "records",
    "topic": "topics",
    "group": "groups",
    "config": "configs",
    "broker": "brokers",
    "cluster": "brokers",
}
"""Other names of views."""
_OPTIONS = ("--bootstrap-server", "--bootstrap-servers", "--brokers", "-b")
_WITH_PORT = re.compile(r"\S*:[0-9]{1,5}(,\S+)*")
_ACTIONS = {
    "list": ("ls",),
    "show": ("describe",),
    "grow": ("add-partitions",),
    "empty": ("purge",),
    "delete": ("rm", "remove"),
    "reset": ("seek",),
}
_OF_BROKERS = ("partitions", "elect", "lead", "reassign", "cancel")


class NoAddress(Exception):
    """No broker was named."""


def with_address(given: Sequence[str], environment: Mapping[str, str] = os.environ) -> list[str]:
    """The arguments of a view, the address first. Raises NoAddress, with what to type."""
    view, rest = given[0], list(given[1:])
    if named := _taken_out(rest):
        return [view, named, *rest]
    first = next((each for each in rest if not each.startswith("-")), "")
    known = environment.get(VARIABLE, "")
    if known and not _WITH_PORT.fullmatch(first):
        return [view, known, *rest]
    if not first and rest:  # --help, or a wrong option: argparse tells
        return list(given)
    others = (other for names in _ACTIONS.values() for other in names)
    actions = {*_ACTIONS, *others, "create", *_OF_BROKERS}
    if not first or first in actions:
        action = f" {first}" if first else ""
        raise NoAddress(f"which broker? odradek {view} HOST:PORT{action} ..., or set {VARIABLE}")
    return list(given)


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
