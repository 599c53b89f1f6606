"""Mutations of requests by their schemas: some fields take other values, and the frame is in good
order. What decoding refuses never reaches a handler; this does."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any, NamedTuple

from odradek.wire import Request
from odradek.wire.schema import Field, Struct, Type

from .batches import change_batch

_KEPT = 300
_REPEATED_MAX = 60
_TEXTS = (
    *("", " ", ".", "..", "\0", "ü", "\ud7ff", "a" * 249, "a" * 250, "a" * 3000, "*", "[", "(a*)*"),
    *("__consumer_offsets", "__transaction_state", "__cluster_metadata", "-1", "9" * 30, "x,y"),
)
_BYTES = (b"", b"\0", b"\xff" * 9, bytes(40), b"\x7f\xff\xff\xff", b"\0\0\0\0\0\1")
_FLOATS = (0.0, -0.0, -1.0, 1e6, 1e308, float("inf"), float("-inf"), float("nan"))


class Slot(NamedTuple):
    """A field of one struct in a request."""

    struct: Struct
    field: Field
    type: Type


class Fields:
    """Changes fields; values that other requests had in fields of the same kind are used too."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._known: dict[str, deque[Any]] = {}

    def changed(self, request: Request, version: int) -> Request:
        """A copy of a request in which some fields are different."""
        slots: list[Slot] = []
        copy = _copied(request, version, slots)
        assert isinstance(copy, Request)
        for _ in range(self._random.choice((1, 1, 1, 2, 3)) if slots else 0):
            struct, field, type_ = self._random.choice(slots)
            now = getattr(struct, field.name)
            self._keep(type_, now)
            setattr(struct, field.name, self._other(field, type_, now, version))
        return copy

    def _keep(self, type_: Type, value: Any) -> None:
        if type_.kind is not None and not type_.is_list and value is not None:
            self._known.setdefault(type_.kind.name, deque(maxlen=_KEPT)).append(value)

    def _other(self, field: Field, type_: Type, now: Any, version: int) -> Any:
        random = self._random
        if field.may_be_null(type_, version) and random.random() < 0.15:
            return None
        if type_.is_list:
            return self._other_list(type_, now or [])
        return self._other_value(type_, now)

    def _other_list(self, type_: Type, now: list[Any]) -> list[Any]:
        random = self._random
        chance = random.random()
        if chance < 0.2 or (not now and type_.struct is not None):
            return []
        if chance < 0.5 and now:
            return (now * random.choice((2, 2, 3, _REPEATED_MAX)))[:_REPEATED_MAX]
        if chance < 0.6:
            return now[::-1]
        if type_.struct is None:
            return [*now, self._other_value(type_, now[0] if now else None)]
        return now[: random.randrange(len(now) + 1)]

    def _other_value(self, type_: Type, now: Any) -> Any:
        random, kind = self._random, type_.kind
        if kind is None:
            return now
        known = self._known.get(kind.name)
        if known and random.random() < 0.35:
            return random.choice(known)
        if kind.name == "bool":
            return not now
        if kind.name.startswith(("int", "uint")):
            return self._number(kind.size * 8, kind.name[0] == "u", now)
        others: dict[str, Any] = {
            "string": _TEXTS,
            "bytes": _BYTES,
            "float64": _FLOATS,
            "uuid": (bytes(16), bytes(15) + b"\1", b"\xff" * 16),
        }
        if kind.name in others:
            return random.choice(others[kind.name])
        return change_batch(random, bytes(now)) if now else b"\0" * random.choice((1, 12, 61, 80))

    def _number(self, bits: int, is_unsigned: bool, now: Any) -> int:
        least, most = (
            (0, (1 << bits) - 1) if is_unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)
        )
        near = (now if isinstance(now, int) else 0) + self._random.choice((-1, 1, 2))
        number = self._random.choice((least, least + 1, -2, -1, 0, 1, 2, 127, most - 1, most, near))
        return min(max(number, least), most)


def _copied(value: Any, version: int, slots: list[Slot]) -> Any:
    """A copy down to the last struct, of which the fields of this version are noted."""
    if isinstance(value, Struct):
        copy = type(value)()
        for field, type_ in type(value).fields():
            setattr(copy, field.name, _copied(getattr(value, field.name), version, slots))
            if field.is_in(version):
                slots.append(Slot(copy, field, type_))
        return copy
    if isinstance(value, list):
        return [_copied(each, version, slots) for each in value]
    return value
