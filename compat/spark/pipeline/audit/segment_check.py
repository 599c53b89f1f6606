"""One segment, checked by itself: its batches, its indexes, and what the partition must know of it.

Every batch is read once, with its CRC (storage's damage search says what is wrong and where the
next valid batch begins); offsets, indexes, sequences, transactions and times are compared on the
way. Files are only read, in pieces; the summary's size does not grow with the batches.

The records in the batches are looked at by the decoder, in a second pass (records_check.py).

A broker may be writing meanwhile. It writes to the log first, then to the indexes: here it is the
other way round, so that no entry is of a batch that is not looked at. A batch that is cut short at
the end of its newest segment is then no damage, and older segments may be gone.

A segment's offset and time index, compared with its batches as they pass.

- Offset index: each entry gives the byte at which a batch begins, and the last offset of it, or of
  a later one that was appended with it. (Before magic 2 it was the first offset once.)
- Time index: no batch up to the one that holds an entry's offset is later than the entry's time,
  and that batch is as late. The last entry has the largest time of all, once the file is final.
- The index of a segment that was being written when its broker was killed ends with zeros, which
  the broker had reserved: there, entries count up to the first that does not rise.
- Entries of the two are added together, so an offset index without any beside a time index with
  several has lost them.

The first wrong entry is a finding, with its byte in the index file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress

import pyarrow as pa

from .....storage.batch_walk import CUT_SHORT, header_at
from .....storage.damage import Damage
from .....storage.disk.directory import Directory
from .....storage.index import (
    NO_TIMESTAMP,
    OFFSET_ENTRY_SIZE,
    TIME_ENTRY_SIZE,
    offset_entries,
    time_entries,
)
from .....storage.naming import (
    CLUSTER_METADATA,
    OFFSET_INDEX,
    SNAPSHOT,
    TIME_INDEX,
    TRANSACTION_INDEX,
    Naming,
)
from .....storage.naming_detection import naming_in
from .....storage.partition_directory import PartitionDirectory
from .....storage.producers import ProducerStates, SnapshotError
from .....storage.recovery.damage_search import NO_LIMIT, DamageSearch
from .....storage.repairs.faults import coordinator_problem, is_unknown_type
from .....wire.batch import MAGIC, BatchHeader
from .....wire.primitives import Buffer
from .....wire.records import Record
from .....wire.stored.topics import INTERNAL_TOPICS
from ...segments.damaged import Damaged
from ...segments.decoder import read_segment
from ...segments.listing import Segment
from ...segments.wanted import Wanted
from .batches import AbortedCheck, BatchChecks, Gaps, SegmentSummary, SegmentTask, span
from .findings import Finding, Findings
from .records_check import COLUMNS

_NONE = (1 << 62, 1 << 62)
SUFFIXES = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)
"""Files that belong to a segment, besides its `.log`."""

Wrong = Callable[[str, int], None]
"""Called with the problem, and its byte in the index file."""


class OffsetIndexCheck:
    """The `.index` of one segment."""

    def __init__(self, base_offset: int, data: Buffer, wrong: Wrong, *, is_final: bool) -> None:
        self._base = base_offset
        self._wrong: Wrong | None = wrong
        self._entries = offset_entries(data) if is_final else _rising(offset_entries(data))
        self.count = -1
        """The number of the entry that is waited for: how many were right."""
        self._offset = self._position = self._last = -1
        self._advance()

    def batch(self, position: int, header: BatchHeader) -> None:
        while position >= self._position:
            if position > self._position:
                self._is_wrong(f"no batch begins at byte {self._position} of the log")
            elif header[0] - self._base > self._offset:
                self._is_wrong(f"offset {self._base + self._offset} is before the batch it names")
            self._end_last()
            if header[3] >= MAGIC or header[0] - self._base != self._offset:
                self._last = self._offset
            self._advance()
        last = header[0] + header[6] - self._base
        if last == self._last:
            self._last = -1
        elif last > self._last >= 0:
            self._end_last()

    def end(self) -> None:
        self._end_last()
        if self._position != _NONE[0]:
            self._is_wrong(f"no batch begins at byte {self._position} of the log")

    def _end_last(self) -> None:
        """No further batch can have the offset of the last entry."""
        if self._last >= 0:
            offset = self._base + self._last
            self._is_wrong(f"{offset} is no batch's last offset", self.count - 1)
        self._last = -1

    def _advance(self) -> None:
        before = self._offset, self._position
        self._offset, self._position = next(self._entries, _NONE)
        self.count += 1
        if self._offset <= before[0] or self._position <= before[1]:
            self._is_wrong("it does not rise")

    def _is_wrong(self, what: str, count: int | None = None) -> None:
        if self._wrong is not None:
            number = self.count if count is None else count
            self._wrong(f"a wrong entry: {what}", number * OFFSET_ENTRY_SIZE)
        self._wrong = None


class TimeIndexCheck:
    """The `.timeindex` of one segment."""

    def __init__(self, base_offset: int, data: Buffer, wrong: Wrong, *, is_final: bool) -> None:
        self._base = base_offset
        self._wrong: Wrong | None = wrong
        self._is_final = is_final
        self._entries = time_entries(data) if is_final else _rising(time_entries(data))
        self._latest = self._last_time = NO_TIMESTAMP
        self._time = self._offset = -1
        self.count = -1
        """The number of the entry that is waited for: how many were right."""
        self._advance()

    def batch(self, header: BatchHeader) -> None:
        if header[8] > self._latest:  # max_timestamp; by index, for this runs for every batch
            self._latest = header[8]
        last = header[0] + header[6] - self._base
        while last >= self._offset:
            if not self._time == self._latest == header[8]:
                offset = self._base + self._offset
                self._is_wrong(f"{self._time} is not the latest time up to offset {offset}")
            self._advance()

    def end(self) -> None:
        if self._offset != _NONE[1]:
            self._is_wrong(f"there is no offset {self._base + self._offset} in the log")
        elif self._is_final and self._last_time != self._latest >= 0:
            self._is_wrong(f"it ends before the latest time, {self._latest}")

    def _advance(self) -> None:
        before = self._time, self._offset
        if self.count >= 0:
            self._last_time = self._time
        self._time, self._offset = next(self._entries, _NONE)
        self.count += 1
        if self._time <= before[0] or self._offset <= before[1]:
            self._is_wrong("it does not rise")

    def _is_wrong(self, what: str) -> None:
        if self._wrong is not None:
            self._wrong(f"a wrong entry: {what}", self.count * TIME_ENTRY_SIZE)
        self._wrong = None


def _rising(entries: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    before = (-1, -1)
    for entry in entries:
        if entry[0] <= before[0] or entry[1] <= before[1] or entry == (0, 0):
            return
        yield entry
        before = entry


INDEX_MAX_BYTES = 256 << 20
"""An index file beyond this is not read: no broker makes one."""


def check_segment(task: SegmentTask) -> SegmentSummary:
    """Check one segment, then look at its records. Raises OSError if a file cannot be read."""
    try:
        return _checked(task)
    except FileNotFoundError:
        if not task.is_in_use:
            raise
        return _removed(task)


def _checked(task: SegmentTask) -> SegmentSummary:
    check = _SegmentCheck(task, naming_in(Directory(task.directory)))
    summary = check.run()
    if task.topic != CLUSTER_METADATA:
        _look_at_records(check, summary)
    return summary


def _removed(task: SegmentTask) -> SegmentSummary:
    """A segment that retention or compaction took away since the audit was planned."""
    naming = naming_in(Directory(task.directory))
    name, base = naming.log(task.base_offset), task.base_offset
    findings = Findings(naming.directory(task.topic, task.partition), name)
    findings.remark("removed by its broker during the audit")
    return SegmentSummary(task, name, findings, next_offset=task.limit or base, has_gaps=True)


def _look_at_records(check: _SegmentCheck, summary: SegmentSummary) -> None:
    """Keys and sizes; and what cannot be read although its batch's checksum is right."""
    known = [(each.position, max(each.end, each.position + 1)) for each in check.search.damages]

    def tell(damaged: Damaged) -> None:
        if not any(start <= damaged.position < end for start, end in known):
            what = f"its records cannot be read: {damaged.what}"
            file = check.home.files.file(summary.name)
            header = header_at(file, damaged.position, summary.size)
            file.close()
            after = None if header is None else header.last_offset + 1
            found = summary.findings
            place = found.partition, found.file, what, damaged.position, damaged.offset
            found.add(Finding(*place, after))

    wanted = Wanted(columns=COLUMNS, isolation="read_uncommitted")
    for batch in read_segment(check.as_listed(), wanted, on_damage=tell):
        summary.content.add(batch, summary.name)
        if summary.task.topic in INTERNAL_TOPICS:
            _look_at_coordinator_records(batch, summary)


def _look_at_coordinator_records(batch: pa.RecordBatch, summary: SegmentSummary) -> None:
    topic = summary.task.topic
    for row in batch.to_pylist():
        record = Record(row["offset"], 0, row["key"], row["value"], ())
        where = {"byte": row["position"], "offset": row["offset"]}
        what = coordinator_problem(topic, record)
        if what is not None:
            summary.findings.damage(f"a record that no coordinator reads: {what}", **where)
        elif is_unknown_type(topic, record):
            summary.findings.remark("a record of an unknown type, which is passed over", **where)


class _SegmentCheck:
    def __init__(self, task: SegmentTask, naming: Naming) -> None:
        parent = Directory(task.directory)
        self.home = PartitionDirectory(parent, task.topic, task.partition, naming)
        self.segment = self.home.segment(task.base_offset, now_ms=0, index_interval_bytes=4096)
        self.naming = naming
        self.task = task
        self.files = self._sizes()
        self.findings = Findings(self.home.name, self.segment.name)
        self.gaps = Gaps(task.base_offset)
        self.summary = SegmentSummary(task, self.segment.name, self.findings, gaps=self.gaps)
        self.batches = BatchChecks(self.summary)
        self.is_final = task.limit is not None or not task.was_killed
        self.indexes = {suffix: self._read(suffix) for suffix in SUFFIXES}
        size = os.path.getsize(self._path(self.segment.name))
        limit = NO_LIMIT if task.limit is None else task.limit
        self.search = DamageSearch(self.home.name, self.segment, size, limit=limit)
        self.summary.size = self.segment.size = size

    def _path(self, name: str) -> str:
        return os.path.join(self.task.directory, self.home.name, name)

    def _sizes(self) -> dict[str, int]:
        """The files of this segment that are there. (To list the partition for each of thousands of
        segments would take most of the time.)"""
        found = {}
        for suffix in (*SUFFIXES, SNAPSHOT):
            name = self._name(suffix)
            with suppress(FileNotFoundError):
                found[name] = os.path.getsize(self._path(name))
        return found

    def as_listed(self) -> Segment:
        """The segment as the decoder takes it, as large as it was checked."""
        task = self.task
        is_newest = task.limit is None
        return Segment(
            topic=task.topic,
            partition=task.partition,
            path=self._path(self.segment.name),
            base_offset=task.base_offset,
            next_base=task.limit,
            size=self.summary.size,
            last=is_newest,
            log_start=task.log_start,
            may_be_torn=is_newest,
        )

    def run(self) -> SegmentSummary:
        offsets, times = self.indexes[OFFSET_INDEX], self.indexes[TIME_INDEX]
        base = self.task.base_offset
        wrong: list[tuple[str, str, int]] = []
        by_offset = OffsetIndexCheck(
            *(base, offsets or b"", lambda what, byte: wrong.append((OFFSET_INDEX, what, byte))),
            is_final=self.is_final,
        )
        by_time = TimeIndexCheck(
            *(base, times or b"", lambda what, byte: wrong.append((TIME_INDEX, what, byte))),
            is_final=self.is_final,
        )
        aborted = AbortedCheck(
            self.indexes[TRANSACTION_INDEX], self._carried(), self._wrong_transaction
        )
        for position, header, chunk, at in self.search.batches():
            self.gaps.take(position, header)
            by_offset.batch(position, header)
            by_time.batch(header)
            self.batches.take(position, header, chunk, at, aborted)
        self._finish()
        self._tell_indexes(offsets, times, wrong, (by_offset, by_time))
        if not self.search.damages:
            end = self.search.next_offset
            unmatched = aborted.end(end, base, is_compacted=self.summary.is_compacted)
            if unmatched is not None:
                place = self.findings.partition, self._name(TRANSACTION_INDEX)
                self.summary.unmatched = Finding(*place, *unmatched)
        self.segment.close()
        return self.summary

    def _finish(self) -> None:
        summary, search = self.summary, self.search
        summary.next_offset, summary.has_gaps = search.next_offset, search.has_gaps
        for damage in search.damages:
            self._tell_damage(damage)
        self.batches.finish()
        modified = self.home.files.modified_ms(summary.name)
        if summary.latest_time > modified + self.task.jump_ms:
            ahead = span(summary.latest_time - modified)
            self.findings.remark(f"times are {ahead} later than the file's last change")

    def _tell_damage(self, damage: Damage) -> None:
        is_last = damage.end == self.segment.size and damage.size > 0
        self.summary.damaged_end |= is_last
        what = f"{damage.problem} ({damage.size} bytes)" if damage.size else damage.problem
        if is_last and self.task.is_growing and damage.problem == CUT_SHORT.format(damage.position):
            what += ", or is being written"
            self.findings.remark(what, byte=damage.position, offset=damage.first_offset)
            return
        lost = max(damage.next_offset, damage.first_offset)
        self.findings.damage(
            what, byte=damage.position, offset=damage.first_offset, next_offset=lost
        )

    def _tell_indexes(
        self,
        offsets: bytes | None,
        times: bytes | None,
        wrong: list[tuple[str, str, int]],
        checks: tuple[OffsetIndexCheck, TimeIndexCheck],
    ) -> None:
        for suffix, data, size in (
            (OFFSET_INDEX, offsets, OFFSET_ENTRY_SIZE),
            (TIME_INDEX, times, TIME_ENTRY_SIZE),
        ):
            name = self._name(suffix)
            if data is None and name in self.files:
                continue  # too large: a finding already
            if data is None:
                self._tell_missing(name)
            elif len(data) % size:
                what = f"its size, {len(data)} bytes, is no multiple of {size}"
                self.findings.damage(what, file=name, byte=len(data) - len(data) % size)
        for check in checks:
            check.end()
        if self.search.damages:
            return  # entries of what is damaged lead nowhere
        missing = [
            suffix
            for suffix, data in ((OFFSET_INDEX, offsets), (TIME_INDEX, times))
            if data is None
        ]
        for suffix, what, byte in wrong:
            if suffix not in missing:
                self.findings.damage(what, file=self._name(suffix), byte=byte)
        if offsets == b"" and times is not None and checks[1].count > 1:
            self.findings.damage(
                "it is empty, the time index is not", file=self._name(OFFSET_INDEX), byte=0
            )

    def _tell_missing(self, name: str) -> None:
        """An index that is not there. That of the newest segment may not have been written yet."""
        if self.is_final:
            self.findings.damage("missing", file=name)
        else:
            self.findings.remark("not there (yet): the next start builds it", file=name)

    def _wrong_transaction(self, what: str, byte: int | None, offset: int | None) -> None:
        name = self._name(TRANSACTION_INDEX)
        is_missing = name not in self.files
        if is_missing:
            what = "missing: the log has an aborted transaction"
        if self.is_final or not (is_missing or what.startswith("has no entry")):
            self.findings.damage(what, file=name, byte=byte, offset=offset)
        else:
            what = "not complete (yet): the next start builds it"
            self.findings.remark(what, file=name, offset=offset)

    def _carried(self) -> dict[int, int] | None:
        """The transactions that are open at the base, if the snapshot there tells."""
        base = self.task.base_offset
        if base == 0:
            return {}
        name = self.naming.file(base, SNAPSHOT)
        if name not in self.files:
            return None
        producers = ProducerStates()
        try:
            producers.load(self.home.files.read_bytes(name))
        except SnapshotError:
            return None
        return {
            producer_id: state.txn_first_offset
            for producer_id, state in producers.states.items()
            if state.txn_first_offset >= 0
        }

    def _read(self, suffix: str) -> bytes | None:
        name = self._name(suffix)
        if name not in self.files:
            return None
        if self.files[name] > INDEX_MAX_BYTES:
            self.findings.damage(f"{self.files[name]} bytes are too many for it", file=name)
            return None
        data = self.home.files.read_bytes(name)
        # Its broker gives an index its place in advance, and cuts it to its entries when the
        # segment is full: a read meanwhile ends anywhere.
        while self.task.is_in_use and len(data) > os.path.getsize(self._path(name)):
            data = self.home.files.read_bytes(name)
        return data

    def _name(self, suffix: str) -> str:
        return self.naming.file(self.task.base_offset, suffix)
