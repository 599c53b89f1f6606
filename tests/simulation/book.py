"""The book: what clients sent, what they were promised, and what they saw.

It refuses at once what may never be (`Broken`): an owner beside another, an offset that went back,
a record that was delivered though it was aborted. What only the end can show is in checks.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

Place: TypeAlias = tuple[str, int]
"""Topic and partition."""


class Broken(AssertionError):
    """A guarantee was broken."""


class Fate(Enum):
    """What became of a transaction, as far as its producer knows."""

    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


@dataclass(eq=False)
class Txn:
    owner: str
    fate: Fate = Fate.OPEN
    offsets: dict[tuple[str, Place], int] = field(default_factory=dict)
    """Group and place -> the offset that is committed with it."""


@dataclass(eq=False)
class Sent:
    """A record that a client has sent at least once."""

    place: Place
    producer: str
    number: int
    key: bytes | None
    value: bytes | None
    txn: Txn | None
    time: int
    offset: int | None = None
    """Where it is, once that was acknowledged."""


class Book:
    """Of one simulated cluster."""

    def __init__(self) -> None:
        self.sent: dict[bytes, Sent] = {}
        """By the record's name, which is its header."""
        self._numbers = 0
        self._owners: dict[tuple[str, int, Place], str] = {}
        self.committed: dict[tuple[str, Place], int] = {}
        """Group and place -> what was acknowledged as committed, or was seen."""
        self.reached: dict[tuple[str, Place], int] = {}
        """Group and place -> up to where all was committed, and there was no more to read."""
        self._marks: dict[Place, tuple[int, int]] = {}

    # Producers

    def sends(
        self,
        place: Place,
        producer: str,
        time: int,
        *,
        key: bytes | None = None,
        about: bytes = b"",
        txn: Txn | None = None,
    ) -> bytes:
        """A client is about to send a record; returns its name."""
        self._numbers += 1
        name = b"%s#%s.%d" % (about, producer.encode(), self._numbers)
        self.sent[name] = Sent(place, producer, self._numbers, key, name, txn, time)
        return name

    def acknowledged(self, name: bytes, offset: int) -> None:
        """A client was told where a record is."""
        sent = self.sent[name]
        if sent.offset not in (None, offset):
            raise Broken(f"{name!r} was acknowledged at {sent.offset}, and now at {offset}")
        sent.offset = offset

    def ended(self, txn: Txn, fate: Fate) -> None:
        """A transaction is over, for its producer."""
        txn.fate = fate
        if fate is Fate.COMMITTED:
            for (group, place), offset in txn.offsets.items():
                # An end that is repeated may be acknowledged long after it was carried out.
                self.committed[group, place] = max(self.committed.get((group, place), 0), offset)

    # Groups

    def owns(self, group: str, epoch: int, place: Place, member: str) -> None:
        """A member was told that a partition is its own in this generation or epoch."""
        owner = self._owners.setdefault((group, epoch, place), member)
        if owner != member:
            raise Broken(f"{place} of {group} belongs to {owner} and {member} in {epoch}")

    def committed_is(self, group: str, place: Place, offset: int) -> None:
        """An offset was acknowledged as committed."""
        before = self.committed.get((group, place), 0)
        if offset < before:
            raise Broken(f"{group} committed {offset} for {place}, after {before}")
        self.committed[group, place] = offset

    def begins_at(self, group: str, place: Place, offset: int, least: int) -> None:
        """A member was told where to begin; `least` was committed when it asked."""
        if offset < least:
            raise Broken(f"{group} begins at {offset} of {place}, and had committed {least}")
        self.committed[group, place] = max(self.committed.get((group, place), 0), offset)

    # Partitions

    def marks_are(self, place: Place, high_watermark: int, stable: int) -> None:
        """How far a partition may be read now."""
        before = self._marks.get(place, (0, 0))
        if high_watermark < before[0]:
            raise Broken(f"the high watermark of {place}: {high_watermark} after {before[0]}")
        if stable < before[1]:
            raise Broken(f"the last stable offset of {place}: {stable} after {before[1]}")
        if stable > high_watermark:
            raise Broken(f"{place} is stable up to {stable}, and ends at {high_watermark}")
        self._marks[place] = high_watermark, stable

    def delivered(self, place: Place, offset: int, name: bytes, *, committed: bool) -> None:
        """A consumer was given a record."""
        sent = self.sent.get(name)
        if sent is None or sent.place != place:
            raise Broken(f"{place} at {offset} has {name!r}, which nobody sent there")
        if sent.offset not in (None, offset):
            raise Broken(f"{name!r} was acknowledged at {sent.offset}, and is at {offset}")
        if committed and sent.txn is not None and sent.txn.fate is Fate.ABORTED:
            raise Broken(f"{name!r} at {offset} of {place} was aborted, and is read all the same")
