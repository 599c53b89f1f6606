"""Putting files and batches back where their offsets say that they belong.

A plan says what each segment is to hold: pieces of files, and batches that were mended. It changes
nothing; the check reads through it, and the repair writes what it says.

- A file whose batches go together is named by the first of them, if its name does not fit.
- Other batches go into the segment that has their offsets, in their order.
- A batch is moved only if it continues another one there, or is continued: offsets are in no CRC.
  One that fits nowhere, in whose place exactly as many offsets are missing, gets these.
- A last offset that reaches into the next batch is that of the last record.
- A second copy of a batch is set aside.

What is between two batches, and is none, stays behind the first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...wire.batch import BatchHeader
from ...wire.records import assign
from ..batch_walk import ReadableFile
from ..disk.directory import Directory
from ..recovery.damage_search import NO_LIMIT, DamageSearch
from .faults import shortened


class Piece(NamedTuple):
    """Bytes of a file, or `data` instead of them."""

    file: str
    start: int
    end: int
    data: bytes | None = None

    @property
    def size(self) -> int:
        return self.end - self.start if self.data is None else len(self.data)


class Planned:
    """The planned contents of a segment, read as a file."""

    def __init__(self, files: Directory, pieces: Sequence[Piece]) -> None:
        self._files, self.pieces = files, _joined(pieces)
        self._ends: list[int] = []
        self.size = 0
        for piece in self.pieces:
            self.size += piece.size
            self._ends.append(self.size)

    def read(self, position: int, size: int) -> bytes:
        """Exactly these bytes. Raises OSError."""
        found = []
        index = bisect_right(self._ends, position)
        while size > 0:
            piece = self.pieces[index]
            begin = position - (self._ends[index] - piece.size)
            count = min(size, piece.size - begin)
            if piece.data is None:
                file = self._files.file(piece.file)
                found.append(bytes(file.read(piece.start + begin, count)))
                file.close()
            else:
                found.append(piece.data[begin : begin + count])
            position, size, index = position + count, size - count, index + 1
        return b"".join(found)

    def close(self) -> None:
        """Nothing is open."""

    release = close


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    found: list[Piece] = []
    for piece in pieces:
        last = found[-1] if found else None
        if not piece.size:
            continue
        if (
            last is not None
            and last.data is None is piece.data
            and (last.file, last.end) == (piece.file, piece.start)
        ):
            found[-1] = last._replace(end=piece.end)
        else:
            found.append(piece)
    return found


class Aside(NamedTuple):
    """Bytes that are not in the plan, or not as they were, and why."""

    file: str
    position: int
    data: bytes
    offset: int
    problem: str
    action: str


@dataclass
class Entry:
    """A batch in a file, with what follows it up to the next one."""

    base: int
    last: int
    file: str
    start: int
    size: int
    header: BatchHeader
    data: bytes | None = None
    is_stray: bool = False
    tails: list[Piece] = field(default_factory=list)

    @property
    def pieces(self) -> list[Piece]:
        return [Piece(self.file, self.start, self.start + self.size, self.data), *self.tails]


@dataclass
class Plan:
    """The planned contents of the segments, by base offset."""

    segments: dict[int, Planned] = field(default_factory=dict)
    """Only those that are to change."""
    bases: list[int] = field(default_factory=list)
    """Of all segments."""
    aside: list[Aside] = field(default_factory=list)
    names: list[tuple[str, int, int, int]] = field(default_factory=list)
    """Files that get another name: it, their offsets, and the base offset of the new one."""
    moved: list[Entry] = field(default_factory=list)


class Known(NamedTuple):
    mended: Mapping[tuple[str, int], tuple[bytes, str]]
    """Batches as they should be, by file and position, and what was wrong with them."""
    written: Sequence[tuple[bytes, BatchHeader]]
    """Batches that were lost, and are written again."""
    flushed_to: int


def arranged(
    files: Directory, sizes: Mapping[int, int], names: dict[int, str], known: Known
) -> Plan:
    """The plan for segments of these sizes and names, by base offset. Raises OSError."""
    return _Arranging(files, sizes, names, known).run()


class Searched(NamedTuple):
    """A segment as far as DamageSearch reads it."""

    name: str
    base_offset: int
    file: ReadableFile


class _Arranging:
    def __init__(
        self, files: Directory, sizes: Mapping[int, int], names: dict[int, str], known: Known
    ) -> None:
        self._files, self._sizes, self._names, self._known = files, sizes, names, known
        self._plan = Plan(bases=sorted(sizes))
        self._heads: dict[str, list[Piece]] = {}
        """The bytes before a file's first batch."""
        self._by_file: dict[str, list[Entry]] = {}

    def run(self) -> Plan:
        for base in self._plan.bases:
            self._by_file[self._names[base]] = self._entries(base)
        self._find_strays()
        ordered = self._in_order()
        self._build(ordered)
        return self._plan

    def _read(self, entry: Entry) -> bytes:
        if entry.data is not None:
            return entry.data
        file = self._files.file(entry.file)
        data = bytes(file.read(entry.start, entry.size))
        file.close()
        return data

    def _entries(self, base: int) -> list[Entry]:
        name, size = self._names[base], self._sizes[base]
        file = self._files.file(name)
        searched = Searched(name, base, file)
        found: list[Entry] = []
        for position, header, _, _ in DamageSearch("", searched, size, in_order=False).batches():
            place = header.base_offset, header.last_offset, name, position
            entry = Entry(*place, header.size, header)
            self._end_last(name, found, position)
            found.append(entry)
            mended = self._known.mended.get((name, position))
            if mended is not None:
                self._mend(entry, *mended)
        file.close()
        self._end_last(name, found, size)
        return found

    def _end_last(self, name: str, found: list[Entry], position: int) -> None:
        """Bytes before this position that are no batch belong to the last one."""
        if found:
            end = found[-1].start + found[-1].size
            found[-1].tails.append(Piece(name, end, position))
        else:
            self._heads[name] = [Piece(name, 0, position)]

    def _mend(self, entry: Entry, data: bytes, problem: str) -> None:
        where = entry.file, entry.start
        self._plan.aside.append(Aside(*where, self._read(entry), entry.base, problem, "mended"))
        entry.data = data

    # Which batches are where they belong.

    def _find_strays(self) -> None:
        """Batches out of order that fit nowhere: they get the offsets missing in their place, or
        count as bytes that are no batch."""
        everything = [entry for entries in self._by_file.values() for entry in entries]
        ordered = sorted(everything, key=lambda each: each.base)
        place = {id(entry): number for number, entry in enumerate(ordered)}
        in_place = _longest_rise(everything)
        for entry in everything:
            if id(entry) in in_place:
                continue
            number = place[id(entry)]
            before = ordered[number - 1] if number else None
            after = ordered[number + 1] if number + 1 < len(ordered) else None
            follows = before is not None and before.last + 1 == entry.base
            leads = after is not None and entry.last + 1 == after.base
            is_copy = any(
                each is not None and each.header.crc == entry.header.crc and each.base == entry.base
                for each in (before, after)
            )
            entry.is_stray = not (follows or leads or is_copy)
        for base in self._plan.bases:
            self._place_strays(base)

    def _place_strays(self, base: int) -> None:
        name = self._names[base]
        entries = self._by_file[name]
        kept: list[Entry] = []
        for number, entry in enumerate(entries):
            if entry.is_stray:
                first = kept[-1].last + 1 if kept else base
                after = next((each.base for each in entries[number + 1 :] if not each.is_stray), -1)
                if after < 0:
                    later = bisect_right(self._plan.bases, base)
                    is_last = later == len(self._plan.bases)
                    after = self._known.flushed_to if is_last else self._plan.bases[later]
                if after - first != entry.last - entry.base + 1:
                    (kept[-1].tails if kept else self._heads[name]).extend(entry.pieces)
                    continue
                data = bytearray(self._read(entry))
                assign(data, 0, first, entry.header.leader_epoch)
                what = f"its offset is {entry.base}, of which offset {first} is missing here"
                self._mend(entry, bytes(data), what)
                entry.last, entry.base = after - 1, first
            kept.append(entry)
        self._by_file[name] = kept

    def _in_order(self) -> list[Entry]:
        """All batches by their offsets, without copies."""
        everything = [entry for entries in self._by_file.values() for entry in entries]
        for data, header in self._known.written:
            file = self._names[self._plan.bases[self._home_of(header.base_offset)]]
            place = header.base_offset, header.last_offset, file, 0
            everything.append(Entry(*place, 0, header, bytes(data)))
        everything.sort(key=lambda each: each.base)
        found: list[Entry] = []
        for entry in everything:
            before = found[-1] if found else None
            if before is not None and not entry.size:  # what was damaged comes after it
                entry.tails, before.tails = before.tails, []
            if before is not None and before.last >= entry.base:
                if before.header.crc == entry.header.crc and before.base == entry.base:
                    self._set_aside(entry, before)
                    continue
                short = shortened(self._read(before), before.header, entry.base)
                if short is not None:
                    what = f"its last offset is {before.last}, that of its records is lower"
                    self._mend(before, short, what)
                    before.last = entry.base - 1
            found.append(entry)
        return found

    def _set_aside(self, copy: Entry, before: Entry) -> None:
        what = f"a second copy of the batch of offset {copy.base}"
        where = copy.file, copy.start
        self._plan.aside.append(Aside(*where, self._read(copy), copy.base, what, "set aside"))
        before.tails += copy.tails

    # Which segment has which batches.

    def _build(self, ordered: list[Entry]) -> None:
        contents = self._by_files(ordered) or self._by_names(ordered)
        self._plan.bases = sorted(contents)
        by_name = {name: base for base, name in self._names.items()}
        for base, pieces in contents.items():
            planned = Planned(self._files, pieces)
            name = self._names.get(base)
            same = name is not None and planned.pieces == _joined(
                [Piece(name, 0, self._sizes[by_name[name]])]
            )
            if not same:
                self._plan.segments[base] = planned

    def _by_files(self, ordered: list[Entry]) -> dict[int, list[Piece]]:
        """Each file as a whole, if its batches go together; nothing if they do not."""
        runs: list[list[Entry]] = []
        for entry in ordered:
            if runs and runs[-1][0].file == entry.file:
                runs[-1].append(entry)
            else:
                runs.append([entry])
        files = [run[0].file for run in runs]
        if len(set(files)) < len(files):
            return {}
        bases = {name: base for base, name in self._names.items()}
        found = {base: list(self._heads[name]) for name, base in bases.items() if name not in files}
        end = -1
        for number, run in enumerate(runs):
            own, first = bases[run[0].file], run[0].base
            after = runs[number + 1][0].base if number + 1 < len(runs) else NO_LIMIT
            base = own if end < own <= first and run[-1].last < after else first
            if base in found:
                return {}
            if base != own:
                self._plan.names.append((run[0].file, first, run[-1].last, base))
            end = run[-1].last
            self._note_moved(run)
            found[base] = [
                *self._heads[run[0].file],
                *(piece for entry in run for piece in entry.pieces),
            ]
        return found

    def _by_names(self, ordered: list[Entry]) -> dict[int, list[Piece]]:
        """Each batch in the segment whose name fits."""
        self._plan.names.clear()
        self._plan.moved.clear()
        found = {base: list(self._heads[name]) for base, name in self._names.items()}
        by_base: dict[int, list[Entry]] = {}
        for entry in ordered:
            base = self._plan.bases[self._home_of(entry.base)]
            by_base.setdefault(base, []).append(entry)
            found[base] += entry.pieces
        for base, entries in by_base.items():
            self._plan.moved += [each for each in entries if each.file != self._names[base]]
            self._note_moved([each for each in entries if each.file == self._names[base]])
        return found

    def _note_moved(self, entries: list[Entry]) -> None:
        """Those of one file, in order, that were in another place."""
        in_place = _longest_rise(sorted(entries, key=lambda each: each.start))
        self._plan.moved += [each for each in entries if each.size and id(each) not in in_place]

    def _home_of(self, offset: int) -> int:
        return max(0, bisect_right(self._plan.bases, offset) - 1)


def _longest_rise(entries: Sequence[Entry]) -> set[int]:
    """The ids of the most entries that are in order, each after the one before."""
    ends: list[int] = []
    tails: list[int] = []
    before: list[int] = [-1] * len(entries)
    for number, entry in enumerate(entries):
        at = bisect_left(ends, entry.base)
        if at == len(ends):
            ends.append(entry.base)
            tails.append(number)
        else:
            ends[at], tails[at] = entry.base, number
        before[number] = tails[at - 1] if at else -1
    found, number = set(), tails[-1] if tails else -1
    while number >= 0:
        found.add(id(entries[number]))
        number = before[number]
    return found
