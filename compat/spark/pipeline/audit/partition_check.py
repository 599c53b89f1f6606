"""A partition: the summaries of its segments joined in order, and the small files beside them.

- Offsets go on from segment to segment; compaction makes gaps, a repair may have recorded some, and
  with a clean stop the log reaches its recovery point.
- Sequences, transactions and leader epochs go on, too.
- A producer snapshot at a segment's base, or at the log end, is what the batches before it say of
  the producers that are in both; an open transaction is in it. (A broker forgets producers after a
  while, and compaction removes batches: those are not compared.)
- Where a stop was clean, or segments were rolled, there are snapshots if there are producers.

What is kept between segments is one `ProducerRun` a producer, `PRODUCERS_MAX` of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .....storage.checkpoints import (
    HIGH_WATERMARKS,
    LEADER_EPOCHS,
    LOG_STARTS,
    PARTITION_METADATA,
    CheckpointError,
    read_epochs,
    read_partition_metadata,
)
from .....storage.damage import after_gaps, repaired_gaps
from .....storage.disk.directory import Directory
from .....storage.naming import CLEANED, DAMAGED, DELETED, SNAPSHOT, SWAP, Naming
from .....storage.producers import ProducerState, ProducerStates, SnapshotError
from .....storage.repairs.faults import EpochCheck, wrong_epoch
from .batches import (
    NONE,
    PRODUCERS_MAX,
    MissingOffsets,
    Policies,
    ProducerRun,
    SegmentSummary,
    tell_sequence,
)
from .findings import Finding, Findings
from .segment_check import SUFFIXES

_SMALL_FILE_MAX = 64 << 20
_QUORUM_STATE = "quorum-state"
_METADATA_SNAPSHOT = re.compile(r"\d{20}-\d{10}\.checkpoint(\.deleted)?")


@dataclass(frozen=True)
class PartitionFacts:
    """Facts about a partition from the data directory, besides its own files."""

    recovery_point: int | None = None
    log_start: int | None = None
    high_watermark: int | None = None
    was_cleaned: bool = False
    """Whether it was compacted before."""
    was_killed: bool = False
    """Whether its broker was not stopped cleanly, or still runs."""
    is_in_use: bool = False
    """Whether a broker has the directory open."""
    knows_checkpoints: bool = False
    """Whether the checkpoints of the data directory were looked at."""
    is_internal_log: bool = False
    """Whether it is the cluster's metadata log, which has a few files of its own."""


@dataclass
class PartitionSummary:
    """The summary of a partition. Small."""

    topic: str
    partition: int
    segments: int
    batches: int
    records: int
    size: int
    first_offset: int
    next_offset: int
    open_transactions: int
    findings: Findings


class PartitionFold:
    """Joins the summaries of one partition; `add` them in order, then `finish`."""

    def __init__(
        self,
        directory: Directory,
        topic: str,
        partition: int,
        naming: Naming,
        facts: PartitionFacts,
        policies: Policies,
    ) -> None:
        name = naming.directory(topic, partition)
        self.files = directory.child(name)
        self.names = self.files.files()
        self.naming = naming
        self.facts = facts
        self.is_part = False
        """Whether only one of its segments is looked at, and nothing beside it."""
        self.findings = Findings(name)
        self.summary = PartitionSummary(topic, partition, 0, 0, 0, 0, -1, 0, 0, self.findings)
        self._gaps = self._repaired_gaps()
        self._missing = MissingOffsets(topic, policies, self._gaps, facts.was_cleaned)
        self._runs: dict[int, ProducerRun] = {}
        self._open: dict[int, int] = {}
        self._epochs = EpochCheck()
        self._is_whole = True
        """Whether nothing is damaged or compacted so far, so that snapshots can be compared."""
        self._has_producers = False
        self._first_base = 1 << 63
        self._ends_torn = False

    def add(self, segment: SegmentSummary) -> None:
        summary = self.summary
        if not self.is_part:
            self._check_snapshot(segment.task.base_offset)
        self.findings.join(segment.findings)
        summary.segments += 1
        summary.batches += segment.batches
        summary.records += segment.records
        summary.size += segment.size
        if summary.first_offset < 0:
            summary.first_offset = segment.first_offset
        summary.next_offset = max(summary.next_offset, segment.next_offset)
        self._ends_torn = segment.damaged_end
        self._is_whole &= not segment.is_compacted and not segment.findings.damages
        self._is_whole &= not segment.damaged_end
        self._is_whole &= not any(first <= segment.next_offset for first, _ in self._gaps)
        self._first_base = min(self._first_base, segment.task.base_offset)
        self._missing.take(segment)
        if not self.is_part:
            self._check_end(segment)
        self._join_epochs(segment)
        self._join_producers(segment)

    def finish(self) -> PartitionSummary:
        """No more segments: compare the files beside them."""
        self._missing.tell(self.findings)
        if self.is_part:
            return self.summary
        if not self.summary.segments and self.facts.recovery_point:
            lost = self.facts.recovery_point
            self.findings.damage("no segment is left", offset=0, next_offset=lost)
        self._check_recovery_point()
        self._check_log_start()
        if self.summary.segments:
            self._check_snapshot(self.summary.next_offset)
        self._check_snapshot_files()
        self._check_epochs()
        for (file, byte, offset), epoch, right in self._epochs.wrong:
            self.findings.damage(wrong_epoch(epoch, right), file=file, byte=byte, offset=offset)
        self._check_metadata()
        self._check_other_files()
        for producer_id, first in sorted(self._open.items(), key=lambda each: each[1]):
            what = f"an unfinished transaction of producer {producer_id}"
            self.findings.remark(what, offset=first)
        self.summary.open_transactions = len(self._open)
        return self.summary

    # Segments.

    def _check_end(self, segment: SegmentSummary) -> None:
        """Offsets that are missing between this segment and the next one."""
        limit = segment.task.limit
        if limit is None or segment.is_compacted or segment.damaged_end:
            return
        first = after_gaps(self._gaps, segment.next_offset)
        if first < limit:
            what = "offsets are missing before the next segment"
            where = self.findings.partition, segment.name
            self._missing.take_end(Finding(*where, what, segment.size, first, limit))
            self._is_whole = False

    def _check_recovery_point(self) -> None:
        point = self.facts.recovery_point or 0
        end = after_gaps(self._gaps, self.summary.next_offset)
        if self.summary.segments and end < point and not self._ends_torn:
            what = f"the log ends before its recovery point, {point}"
            self.findings.damage(what, offset=end, next_offset=point)
            self._is_whole = False

    def _check_log_start(self) -> None:
        """A log start that is past the end: a real Kafka's next start deletes the log. (A high
        watermark there is of no consequence, but tells that there were more records.)"""
        start, end = self.facts.log_start or 0, after_gaps(self._gaps, self.summary.next_offset)
        if not self.summary.segments:
            return
        if end < start:
            what = f"log start {start} is past the log's end {end}: a real Kafka deletes the log"
            first = max(self.summary.first_offset, 0)
            self.findings.damage(what, file=LOG_STARTS, offset=first, next_offset=end)
        mark = self.facts.high_watermark or 0
        if end < mark and end >= (self.facts.recovery_point or 0) and not self._ends_torn:
            what = f"high watermark {mark} is past the log's end {end}: the log was longer"
            self.findings.remark(what, file=HIGH_WATERMARKS, offset=end)

    def _join_epochs(self, segment: SegmentSummary) -> None:
        for epoch, start in segment.epochs:
            byte = segment.raised_at if epoch == segment.epochs[-1][0] else 0
            self._epochs.batch((segment.name, byte or 0, start), epoch, start)
        if segment.epochs and segment.raised_at is None:  # its last batches are of one epoch
            epoch, start = segment.epochs[-1]
            self._epochs.batch((segment.name, 0, start), epoch, start)

    # Producers.

    def _join_producers(self, segment: SegmentSummary) -> None:
        found = segment.producers
        missing = Findings(self.findings.partition)
        for producer_id, run in found.runs.items():
            self._has_producers |= run.first_sequence != NONE
            known = self._runs.get(producer_id)
            if known is not None:
                self._continue(known, run, producer_id, segment, missing)
            elif len(self._runs) < PRODUCERS_MAX:
                self._runs[producer_id] = run
        if not segment.is_compacted and self._is_whole:
            self.findings.join(missing)
        for producer_id in found.ended:
            self._open.pop(producer_id, None)
        for producer_id, first in found.opened.items():
            self._open.setdefault(producer_id, first)

    def _continue(
        self,
        known: ProducerRun,
        run: ProducerRun,
        producer_id: int,
        segment: SegmentSummary,
        missing: Findings,
    ) -> None:
        if run.first_sequence != NONE and segment.producers.are_numbered:
            batch = run.first_epoch, run.first_sequence, run.first_last_sequence
            where = segment.name, run.first_byte, run.first_offset
            tell_sequence(known, batch, producer_id, where, self.findings, missing)
        if run.last_offset != NONE or run.epoch != known.epoch:
            known.epoch, known.sequence = run.epoch, run.sequence
            known.last_offset = run.last_offset

    def _check_snapshot(self, offset: int) -> None:
        """Compare the snapshot at this offset, if there is one, with the batches before it."""
        name = self.naming.file(offset, SNAPSHOT)
        if not self._is_whole or self.names.get(name, _SMALL_FILE_MAX) >= _SMALL_FILE_MAX:
            return
        producers = ProducerStates()
        try:
            producers.load(self.files.read_bytes(name))
        except SnapshotError:
            return  # found by _check_snapshot_files
        for producer_id, state in producers.states.items():
            what = self._difference(producer_id, state)
            if what:
                self.findings.damage(f"producer {producer_id}: {what}", file=name, offset=offset)
                return
        for producer_id, first in self._open.items():
            state_or_none = producers.states.get(producer_id)
            if state_or_none is None or state_or_none.txn_first_offset != first:
                what = f"producer {producer_id}: its open transaction is not in it"
                self.findings.damage(what, file=name, offset=first)
                return

    def _difference(self, producer_id: int, state: ProducerState) -> str:
        run = self._runs.get(producer_id)
        if run is None:
            in_log = state.last_offset >= self.summary.first_offset >= 0
            full = len(self._runs) >= PRODUCERS_MAX
            return "there is no batch of it" if in_log and not full else ""
        stored = state.epoch, state.last_sequence, state.last_offset
        if stored != (run.epoch, run.sequence, run.last_offset) and (
            state.last_offset >= self.summary.first_offset or run.last_offset != NONE
        ):
            return (
                f"epoch, sequence and offset are {stored}, "
                f"in the log {(run.epoch, run.sequence, run.last_offset)}"
            )
        return ""

    def _check_snapshot_files(self) -> None:
        offsets = []
        for name in sorted(self.names):
            parsed = self.naming.parse_file(name)
            if parsed is None or parsed[1] != SNAPSHOT:
                continue
            offsets.append(parsed[0])
            if self.names[name] >= _SMALL_FILE_MAX:
                self.findings.damage(f"{self.names[name]} bytes are too many for it", file=name)
                continue
            try:
                ProducerStates().load(self.files.read_bytes(name))
            except SnapshotError as error:
                self.findings.damage(str(error), file=name, byte=0)
        is_due = self.summary.segments > 1 or not self.facts.was_killed
        if self._has_producers and not offsets and is_due:
            self.findings.damage("the snapshots of its producers are missing")
        is_whole = self._has_producers and self._is_whole and not self.facts.was_killed
        if is_whole and 0 < max(offsets, default=0) < self.summary.next_offset:
            name = self.naming.file(self.summary.next_offset, SNAPSHOT)
            self.findings.damage("missing: a clean stop writes one of its producers", file=name)

    # The files beside the segments.

    def _check_epochs(self) -> None:
        if LEADER_EPOCHS not in self.names:
            self._epochs.end({})
            if self._epochs.starts:
                self.findings.damage("missing", file=LEADER_EPOCHS)
            return
        try:
            stored = read_epochs(self.files.read_bytes(LEADER_EPOCHS))
        except CheckpointError as error:
            self._malformed(LEADER_EPOCHS, error)
            return
        known = dict(stored)
        self._epochs.end(known)
        start = max(self.facts.log_start or 0, self.summary.first_offset)
        for epoch, first in self._epochs.starts:
            begin = known.get(epoch)
            is_last = epoch == self._epochs.starts[-1][0]
            if begin is None and (is_last or self._end_of(epoch) > start):
                what = f"leader epoch {epoch} is not in it"
                self.findings.damage(what, file=LEADER_EPOCHS, offset=first)
            elif begin is not None and begin > max(first, start):
                self._tell_epoch(epoch, begin, first, is_first=epoch == stored[0][0])
        began = max(stored[0][1] if stored else start, self.facts.log_start or 0)
        if self.summary.segments and not self.facts.was_killed and began < self._first_base:
            what = f"segments are missing at the beginning: the log began at {began}"
            self.findings.damage(what, offset=began, next_offset=self._first_base)

    def _tell_epoch(self, epoch: int, begin: int, first: int, *, is_first: bool) -> None:
        """An epoch begins later in the checkpoint than in the log. That of the first one is raised
        to the log start, which is then in a checkpoint, too."""
        if is_first and self.facts.log_start is None and self.facts.knows_checkpoints:
            what = f"the log start, {begin}, is in no checkpoint: deleted records would return"
            self.findings.damage(what, offset=first, next_offset=begin)
        elif not is_first or self.facts.log_start is not None:
            what = f"leader epoch {epoch} begins at {begin} in it"
            self.findings.damage(what, file=LEADER_EPOCHS, offset=first)

    def _end_of(self, epoch: int) -> int:
        later = [start for each, start in self._epochs.starts if each > epoch]
        return later[0] if later else self.summary.next_offset

    def _check_metadata(self) -> None:
        if PARTITION_METADATA not in self.names:
            if self.summary.segments and not self.facts.is_internal_log:
                self.findings.damage("missing", file=PARTITION_METADATA)
            return
        try:
            read_partition_metadata(self.files.read_bytes(PARTITION_METADATA))
        except CheckpointError as error:
            self._malformed(PARTITION_METADATA, error)

    def _malformed(self, file: str, error: CheckpointError) -> None:
        line = f"line {error.line}: " if error.line else ""
        self.findings.damage(f"malformed: {line}{error.problem}", file=file)

    def _check_other_files(self) -> None:
        logs = {
            found[0]
            for name in self.names
            if (found := self.naming.parse_file(name)) and found[1] == self.naming.log_suffix
        }
        left = [name for name in sorted(self.names) if name.endswith((DELETED, CLEANED))]
        if left:
            what = f"left over, as {len(left) - 1} more: the next start removes them"
            self.findings.remark(what, file=left[0])
        for name in sorted(set(self.names).difference(left)):
            self._check_file(name, logs)
        for name in self.files.directories():
            self.findings.remark("a directory that no broker knows", file=name)

    def _check_file(self, name: str, logs: Collection[int]) -> None:
        parsed = self.naming.parse_file(name)
        suffix = parsed[1] if parsed else ""
        if parsed and suffix in SUFFIXES:
            if parsed[0] in logs:
                return
            if self.facts.is_in_use:
                self.findings.remark("its segment is missing, or just removed", file=name)
            else:
                self.findings.damage("its segment is missing", file=name)
        elif parsed and suffix == self.naming.log_suffix + SWAP and parsed[0] not in logs:
            what = "a segment that has only this name: the next start gives it its own"
            self.findings.damage(what, file=name)
        elif name.endswith(SWAP):
            self.findings.remark("left over: the next start renames it", file=name)
        elif name.endswith(DAMAGED):
            self.findings.remark("what a repair has set aside", file=name)
        elif not self._is_known(name, suffix):
            self.findings.remark("a file that no broker knows", file=name)

    def _is_known(self, name: str, suffix: str) -> bool:
        own = name in (LEADER_EPOCHS, PARTITION_METADATA)
        internal = self.facts.is_internal_log and self._is_of_quorum(name)
        return own or internal or suffix in (SNAPSHOT, self.naming.log_suffix)

    def _is_of_quorum(self, name: str) -> bool:
        return name == _QUORUM_STATE or _METADATA_SNAPSHOT.fullmatch(name) is not None

    def _repaired_gaps(self) -> list[tuple[int, int]]:
        names: Sequence[str] = [
            name
            for name, size in self.names.items()
            if name.endswith(DAMAGED) and size < _SMALL_FILE_MAX
        ]
        try:
            return repaired_gaps(self.files, list(names))
        except ValueError:
            self.findings.remark("a .damaged file of a repair cannot be read")
            return []
