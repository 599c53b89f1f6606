"""Search: the records that are as expected, looked for as they come, and those that are nearest."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from ..base.fitting import shown
from ..base.words import number_of
from .matching import Expected, nearest_text
from .reading import READ_COMMITTED, READ_UNCOMMITTED
from .record import Raw
from .span import Span
from .waiting import Wait

Since: TypeAlias = int | datetime | None
"""An offset (an int, in each partition) or a time from which on records count; None for all."""
FROM_NOW = datetime.max
_MOST_TOLD = 5


class Following:
    """Reads what has come to some partitions, each record once."""

    def __init__(self, span: Span, isolation: str, since: Since = None) -> None:
        if isolation not in (READ_COMMITTED, READ_UNCOMMITTED):
            levels = f"{READ_COMMITTED!r} or {READ_UNCOMMITTED!r}"
            raise ValueError(f"isolation is {levels}, not {isolation!r}")
        if not isinstance(since, int | datetime | None) or isinstance(since, bool):
            raise TypeError(f"since is an offset (int) or a time (datetime), not {since!r}")
        if isinstance(since, int) and since < 0:
            raise ValueError(f"since is an offset from 0 on, or a time, not {since}")
        self.span = span
        self.isolation = isolation
        self.partitions = 0
        """How many there were at the last look."""
        self._since = since
        self._begin: dict[int, int] | None = None
        self._next: dict[int, int] = {}

    @property
    def since(self) -> str:
        """Its beginning in words, if a test has named one."""
        if self._since is None or self._since is FROM_NOW:
            return ""
        return f" since {'offset ' * isinstance(self._since, int)}{self._since}"

    def more(self) -> list[Raw]:
        """What has come since the last call."""
        self._next = self._next or dict(self.begin())
        new: list[Raw] = []
        followed = self.span.follow(self._next, self.isolation)
        self.partitions = len(followed)
        for index, (records, end) in followed.items():
            new += records
            self._next[index] = end
        return new

    def begin(self) -> dict[int, int]:
        """From where on each partition is read."""
        if self._begin is None:
            if self._since is None:
                self._begin = {}
            elif self._since is FROM_NOW:
                self._begin = self.span.ends(self.isolation)
            else:
                self._begin = self.span.starts(self._since)
        return self._begin

    def all(self) -> tuple[list[Raw], list[Raw]]:
        """What has been there from the beginning on, read anew: what is seen at this isolation
        level, and what is not."""
        found = self.span.everything(self.begin()).values()
        seen = [record for one in found for record in one.visible(self.isolation)]
        hidden = [
            record
            for one in found
            for record in one.records
            if self.isolation == READ_COMMITTED
            and (record.state != "committed" or record.offset >= one.last_stable_offset)
        ]
        return seen, hidden


class Search:
    """Looks for some records that are as expected."""

    def __init__(self, name: str, following: Following, expected: Expected, count: int) -> None:
        self.found: list[Raw] = []
        self.name = name
        self.expected = expected
        self._following = following
        self.count = count

    def look(self) -> list[Raw] | None:
        """All that were found, once there are enough."""
        self.found += self.expected.among(self._following.more())
        if len(self.found) < self.count:
            return None
        return sorted(self.found, key=lambda record: (record.partition, record.offset))

    def wait(self, *, describes: bool = True) -> Wait[list[Raw]]:
        """A wait for them, which at the end of its time describes what is there; without that its
        end is what the caller hopes for."""
        what = "a record" if self.count == 1 else number_of(self.count, "record")
        text = f"{what} in {self.name}{with_(self.expected)}{self._following.since}"
        if describes:
            return self._following.span.wait(text, self.look, self.there)
        return replace(self._following.span.wait(text, self.look, str), is_to_end=True)

    def there(self) -> str:
        """What there is, and the nearest records."""
        records, hidden = self._following.all()
        lines = [f"There {counted(len(records), 'record')}."]
        if expected := str(self.expected):
            fitting = [each for each in records if self.expected.is_like(each)]
            if records:
                lines[0] = lines[0][:-1] + f", {len(fitting)} with {expected}."
            if hidden := [each for each in hidden if self.expected.is_like(each)]:
                lines.append("These are so, but not committed:")
                lines += lines_of(hidden)
            lines.append(nearest_text(records, self.expected))
        else:
            lines += lines_of(records)
            if hidden:
                lines.append("These are not committed:")
                lines += lines_of(hidden)
        return "\n".join(filter(None, lines))


def with_(expected: Expected) -> str:
    """Its words, if there are some."""
    return f" with {expected}" if str(expected) else ""


def counted(count: int, noun: str) -> str:
    """As in "are 3 records"."""
    if not count:
        return f"are no {noun}s"
    return f"{'is' if count == 1 else 'are'} {number_of(count, noun)}"


def lines_of(records: list[Raw]) -> list[str]:
    """Lines with the last of these records."""
    more = [f"  ({len(records) - _MOST_TOLD} more)"] if len(records) > _MOST_TOLD else []
    return more + [f"  {shown(each)}" for each in records[-_MOST_TOLD:]]
