"""InOrder: whether records come in an order, whatever lies between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..base.fitting import shown
from ..base.words import number_of
from .matching import UNSET, Expected, nearest_text
from .produced import NewRecord, listed, to_bytes
from .record import Raw
from .search import Following, counted, lines_of
from .waiting import Wait


class InOrder:
    """Follows the records, and remembers how far the order has come: of each key, or of all."""

    def __init__(
        self, name: str, following: Following, expected: Iterable[Any], *, by_key: bool
    ) -> None:
        self._name = name
        self._following = following
        self._by_key = by_key
        self._orders: dict[bytes | None, _Order] = {}
        self._count = 0
        for each in listed("expected", expected):
            self._count += 1
            record = _with_key(each) if by_key else _record(each)
            key = to_bytes(record.key, "key") if by_key else None
            self._orders.setdefault(key, _Order()).expected.append(_expected(record))
        if not self._count:
            raise ValueError("no record is expected: use assert_nothing_produced")

    def wait(self) -> Wait[bool]:
        """A wait for the last of them."""
        order = "in order of each key" if self._by_key else "in this order"
        noun = "a record" if self._count == 1 else number_of(self._count, "record")
        what = f"{noun} in {self._name} {order}"
        return self._following.span.wait(what, self._look, self._there)

    def _look(self) -> bool | None:
        records = self._following.more()
        if self._following.partitions > 1 and not self._by_key:
            has = f"{self._name} has {self._following.partitions} partitions"
            todo = f"use by_key=True, or one partition, as in {self._name}[0]"
            raise ValueError(f"{has}, between which there is no order: {todo}")
        for record in records:
            order = self._orders.get(record.key if self._by_key else None)
            if order is not None:
                order.take(record)
        return all(order.is_complete for order in self._orders.values()) or None

    def _there(self) -> str:
        records, hidden = self._following.all()
        lines = [f"There {counted(len(records), 'record')}."]
        for key, order in self._orders.items():
            if not order.is_complete:
                own = [each for each in records if not self._by_key or each.key == key]
                lines += order.missing(f"of key {key!r} " if self._by_key else "", own)
                expected = order.expected[order.done]
                if fitting := [each for each in hidden if expected.is_like(each)]:
                    lines += ["It is there, but not committed:", *lines_of(fitting)]
        return "\n".join(lines)


class _Order:
    """Records that are expected one after the other."""

    def __init__(self) -> None:
        self.expected: list[Expected] = []
        self.done = 0
        self.last: Raw | None = None

    @property
    def is_complete(self) -> bool:
        return self.done == len(self.expected)

    def take(self, record: Raw) -> None:
        """The next record."""
        if not self.is_complete and self.expected[self.done].matches(record):
            self.done += 1
            self.last = record

    def missing(self, of: str, records: list[Raw]) -> list[str]:
        """Lines about the first that has not come."""
        wanted = self.expected[self.done]
        place = f"number {self.done + 1} {of}of {len(self.expected)} in order"
        after = f" after {shown(self.last)}" if self.last is not None else ""
        lines = [f"Missing is {place}, {wanted}{after}."]
        last = self.last
        later = [
            each
            for each in records
            if last is None or (each.partition, each.offset) > (last.partition, last.offset)
        ]
        if earlier := [each for each in records if each not in later and wanted.is_like(each)]:
            lines += ["It is there, but earlier:", *lines_of(earlier)]
        if near := nearest_text(later, wanted):
            lines.append(near)
        return lines


def _record(given: Any) -> NewRecord:
    return given if isinstance(given, NewRecord) else NewRecord(given, key=UNSET)


def _with_key(given: Any) -> NewRecord:
    if isinstance(given, tuple) and len(given) == 2:
        return NewRecord(given[1], key=given[0])
    if isinstance(given, NewRecord) and given.key is not None:
        return given
    kinds = "a pair (key, value) or a NewRecord with a key"
    raise TypeError(f"with by_key=True each record is {kinds}, not {given!r}")


def _expected(record: NewRecord) -> Expected:
    headers = UNSET if record.headers is None else record.headers
    return Expected(key=record.key, value=record.value, headers=headers)
