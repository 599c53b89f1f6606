"""The seven levels of compatibility: with which earlier versions a new schema is compared, and
which of both has to read what the other wrote.

Source: "Schema Evolution and Compatibility" of Confluent's documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from .formats import Schema
from .limits import TooLarge

_SHOWN = 10 * 1024
_OTHER_KIND = "Incompatible because of different schema type"


class _Level(NamedTuple):
    new_reads: bool = False
    old_reads: bool = False
    is_transitive: bool = False


_LEVELS = {
    "NONE": _Level(),
    "BACKWARD": _Level(new_reads=True),
    "FORWARD": _Level(old_reads=True),
    "FULL": _Level(new_reads=True, old_reads=True),
    "BACKWARD_TRANSITIVE": _Level(new_reads=True, is_transitive=True),
    "FORWARD_TRANSITIVE": _Level(old_reads=True, is_transitive=True),
    "FULL_TRANSITIVE": _Level(new_reads=True, old_reads=True, is_transitive=True),
}


class Earlier(NamedTuple):
    """A version that is there: its number, and how it is read, once it has to be."""

    version: int
    schema: Callable[[], Schema]


def problems(level: str, new: Schema, earlier: Iterable[Earlier]) -> list[str]:
    """Why a schema may not follow these versions, the newest of them first; empty if it may.

    As Confluent's registry words it: the reasons, then the version and the schema that they are of.
    """
    rules = _LEVELS[level]
    if not (rules.new_reads or rules.old_reads):
        return []
    for each in earlier:
        found = _against(rules, new, each)
        if found:
            return [*found, f"{{validateFields: 'false', compatibility: '{level}'}}"]
        if not rules.is_transitive:
            break
    return []


def _against(rules: _Level, new: Schema, each: Earlier) -> list[str]:
    old = each.schema()
    if old.kind != new.kind:
        return [_OTHER_KIND]
    found: list[str] = []
    reasons: list[str] = []
    try:
        if rules.old_reads:
            found += [reason.words("old", "new") for reason in old.cannot_read(new)]
        if rules.new_reads:
            reasons = [reason.words("new", "old") for reason in new.cannot_read(old)]
    except TooLarge as error:
        return [str(error)]
    except RecursionError:
        return ["the schemas refer to one another through too many levels to be compared"]
    found += reasons
    if reasons or (found and not rules.new_reads):  # as in Confluent's: not of FULL's first half
        found += _about(each.version, old)
    return found


def _about(version: int, old: Schema) -> list[str]:
    text = old.text
    shown = f"'{text}'" if len(text) <= _SHOWN else f"<truncated> '{text[:_SHOWN]}...'"
    return [f"{{oldSchemaVersion: {version}}}", f"{{oldSchema: {shown}}}"]
