"""Which rows of A and B are the same, and what the others are. Plain numpy over whole groups.

`match` looks at rows of the same identity: as many rows of equal content as both sides have are
matched; more of them on one side are duplicates; the rest are left over. `moved` looks at rows of
the same content wherever they are. `rest` pairs what is left over of one identity, in order, as
changed; what has no partner is missing or extra.

By key a match whose place among the matches of its key is another one in B is reordered.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .hashed import Rows

Mask: TypeAlias = npt.NDArray[np.bool_]

KINDS = ("missing", "extra", "changed", "reordered", "duplicated")


class Where(NamedTuple):
    partition: int
    offset: int
    split: int
    side: int


Pair: TypeAlias = tuple[Where | None, Where | None]
"""Of A and of B."""


@dataclass
class Tally:
    """How many there are of each kind, and some of each. Small, and can be joined."""

    samples_max: int
    same: int = 0
    records: list[int] = field(default_factory=lambda: [0, 0])
    """In A and in B."""
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    samples: dict[str, list[Pair]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    """The first ones, by partition and offset."""

    def add(self, kind: str, a: Rows | None, b: Rows | None) -> None:
        """Add records of one kind: pairs, or those of one side."""
        rows = a if a is not None else b
        if rows is None or not len(rows):
            return
        self.counts[kind] += len(rows)
        order = np.lexsort((rows["split"], rows["offset"], rows["partition"]))[: self.samples_max]
        found = zip(_where(a, order), _where(b, order), strict=True)
        self._sample(kind, found)

    def join(self, other: Tally) -> None:
        self.same += other.same
        self.records = [one + two for one, two in zip(self.records, other.records, strict=True)]
        for kind in KINDS:
            self.counts[kind] += other.counts[kind]
            self._sample(kind, other.samples[kind])

    @property
    def differences(self) -> int:
        return sum(self.counts.values())

    def _sample(self, kind: str, found: Iterable[Pair]) -> None:
        both = [*self.samples[kind], *found]
        both.sort(key=lambda pair: (pair[0] or pair[1] or (0,), pair[1] or (0,)))
        self.samples[kind] = both[: self.samples_max]


def _where(rows: Rows | None, order: npt.NDArray[np.int64]) -> list[Where | None]:
    if rows is None:
        return [None] * len(order)
    names = ["partition", "offset", "split", "side"]
    return [Where(*map(int, row)) for row in rows[order][names].tolist()]


def match(rows: Rows, tally: Tally, *, ordered: bool) -> Rows:
    """Match rows of the same identity; give what is left over. `rows` has all of an identity."""
    tally.records = [int(np.count_nonzero(rows["side"] == side)) for side in (0, 1)]
    rows, rank, common = _grouped(rows, ("i0", "i1", "c0", "c1"))
    matched = rank < common
    is_b = rows["side"] == 1
    a, b = matched & ~is_b, matched & is_b
    moved = _out_of_order(rows, a, b) if ordered else np.zeros(np.count_nonzero(a), np.bool_)
    tally.add("reordered", rows[a][moved], rows[b][moved])
    tally.same += int(np.count_nonzero(~moved))
    again = ~matched & (common > 0)
    tally.add("duplicated", rows[again & ~is_b], None)
    tally.add("duplicated", None, rows[again & is_b])
    left: Rows = rows[common == 0]
    return left


def moved(rows: Rows, tally: Tally) -> Rows:
    """Match rows of the same content at other places; give what is left over."""
    rows, rank, common = _grouped(rows, ("c0", "c1"))
    matched = rank < common
    is_b = rows["side"] == 1
    tally.add("reordered", rows[matched & ~is_b], rows[matched & is_b])
    left: Rows = rows[~matched]
    return left


def rest(rows: Rows, tally: Tally) -> None:
    """Pair rows of the same identity as changed; the others are missing or extra."""
    rows, rank, common = _grouped(rows, ("i0", "i1"))
    paired = rank < common
    is_b = rows["side"] == 1
    tally.add("changed", rows[paired & ~is_b], rows[paired & is_b])
    tally.add("missing", rows[~paired & ~is_b], None)
    tally.add("extra", None, rows[~paired & is_b])


def _grouped(
    rows: Rows, names: tuple[str, ...]
) -> tuple[Rows, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The rows by group, side and place; the rank of each in its group and side; and how many
    rows both sides of its group have at least."""
    rows = _sorted(rows, (*names, "side"))
    starts = _starts(rows, names)
    group = np.cumsum(starts) - 1
    begin = np.flatnonzero(starts)
    in_b = np.add.reduceat(rows["side"].astype(np.int64), begin) if len(rows) else begin
    sizes = np.diff(np.append(begin, len(rows)))
    in_a = sizes - in_b
    rank = np.arange(len(rows)) - begin[group]
    rank = np.where(rows["side"] == 1, rank - in_a[group], rank)
    return rows, rank, np.minimum(in_a, in_b)[group]


def _sorted(rows: Rows, names: tuple[str, ...]) -> Rows:
    last_first = ("offset", "split", "partition", *reversed(names))
    order = np.lexsort(tuple(rows[name] for name in last_first))
    found: Rows = rows[order]
    return found


def _starts(rows: Rows, names: tuple[str, ...]) -> Mask:
    starts = np.zeros(len(rows), np.bool_)
    starts[:1] = True
    for name in names:
        starts[1:] |= rows[name][1:] != rows[name][:-1]
    return starts


def _out_of_order(rows: Rows, a: Mask, b: Mask) -> Mask:
    """Of pairs of matched rows: whether they have another place among those of their identity."""
    found: Mask = _places(rows[a]) != _places(rows[b])
    return found


def _places(rows: Rows) -> npt.NDArray[np.int64]:
    """The number of each row among those of its identity, by partition and offset."""
    names = ("offset", "split", "partition", "i1", "i0")
    order = np.lexsort(tuple(rows[name] for name in names))
    starts = _starts(rows[order], ("i0", "i1"))
    begin = np.flatnonzero(starts)
    places = np.empty(len(rows), np.int64)
    places[order] = np.arange(len(rows)) - (begin[np.cumsum(starts) - 1] if len(rows) else 0)
    return places
