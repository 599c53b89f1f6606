"""Comparisons from batch to batch, wherever they come from: epochs, times, producers.

Also what is left of them, `SegmentSummary`, which the rest of a partition has to know.

The producers of one segment: sequences that do not continue, transactions, their summary.

Within an epoch a producer's batches continue each other's sequence numbers. A batch whose numbers
were there before was written twice; one that leaves numbers out misses some (compaction makes such
gaps, and a producer that its broker had forgotten). An epoch never goes back.

`ProducerRun` is what the rest of the partition has to know of a producer here: where it began and
where it ended. There is one for each producer, up to `PRODUCERS_MAX`; later ones are not followed,
which is a finding.

Offsets that are missing between batches: by compaction, or lost.

A log that was never compacted has none: markers and aborted records keep theirs. So a gap is damage
where the topic's policy is known and is not to compact, unless a repair has recorded it. It is a
remark where the log may have been compacted nevertheless:

- the policy is not known;
- the metadata log still has that it was another one before (a snapshot of it does not);
- batches have holes within them, or a delete horizon, which only compaction and kept offsets make.

What the cleaner's checkpoint has is no finding.

A segment's `.txnindex`, compared with the markers as they pass.

Each aborted transaction with data has an entry: producer, first offset, the marker's offset, and
the last stable offset once the marker is there. What began in an earlier segment is known from the
producer snapshot at this segment's base; without one, only what begins here is compared in full.

Compaction removes data and markers, not entries: of a compacted segment an index that is there is
only read, and one that is missing is a finding where aborted data is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from .....emulator.metadata.topic_repair import known_values
from .....storage import LogDirectoryError
from .....storage.checkpoints import META_PROPERTIES, CheckpointError, read_meta_properties
from .....storage.damage import after_gaps
from .....storage.disk.directory import Directory
from .....storage.index import TransactionIndex, check_transaction_index
from .....storage.naming import CLUSTER_METADATA, Naming
from .....storage.producers import MAX_SEQUENCE, AbortedTransaction
from .....storage.recovery.producer_replay import find_marker
from .....storage.repairs.faults import EpochCheck, wrong_epoch
from .....wire.batch import CONTROL, NO_TIMESTAMP, BatchHeader
from .....wire.errors import Refused, WireError
from .....wire.primitives import Buffer
from .....wire.records import Marker
from .findings import FINDINGS_MAX, Finding, Findings
from .records_check import RecordsSummary

POLICY = "cleanup.policy"
COMPACT = "compact"
MAY_BE_COMPACTED = "they may have been compacted away, or are lost"


class Gap(NamedTuple):
    """Offsets, [first, next), that no batch has."""

    byte: int
    """Where the batch after them begins."""
    first: int
    next: int


@dataclass
class Gaps:
    """Those of one segment, its batches taken in order. Picklable, and small."""

    base_offset: int
    found: list[Gap] = field(default_factory=list)
    """The first `FINDINGS_MAX`."""
    count: int = 0
    is_rewritten: bool = False
    """Whether a batch is as only compaction writes it: offsets are missing within it, or it has a
    delete horizon. (Records with kept offsets have such batches, too.)"""
    _end: int = 0
    _next: int = -1

    def take(self, position: int, header: BatchHeader) -> None:
        """The next valid batch; damaged bytes between it and the last one tell of themselves."""
        expected = self.base_offset if self._next < 0 else self._next
        if position == self._end and header.base_offset > expected:
            self.count += 1
            if self.count <= FINDINGS_MAX:
                self.found.append(Gap(position, expected, header.base_offset))
        self.is_rewritten |= header.count <= header.last_offset_delta or header.has_delete_horizon
        self._end, self._next = position + header.size, header.last_offset + 1


class Policies:
    """The cleanup policies of topics by a data directory's metadata log."""

    def __init__(self, path: str, naming: Naming) -> None:
        self._directory, self._naming = Directory(path), naming

    def compacts(self, topic: str) -> bool | None:
        """Whether a topic is compacted; None if the metadata log does not tell."""
        if topic in COORDINATORS or topic == CLUSTER_METADATA:
            return True
        policies = self._policies.get(topic)
        return None if policies is None else COMPACT in policies[-1]

    def was_to_compact(self, topic: str) -> bool:
        return any(COMPACT in policy for policy in self._policies.get(topic, []))

    @cached_property
    def _policies(self) -> Mapping[str, Sequence[str]]:
        """Those of each topic, one after the other. Read when there is a gap, not before: that
        takes a copy of the metadata log."""
        try:
            properties = read_meta_properties(self._directory.read_bytes(META_PROPERTIES))
            return known_values(self._directory, self._naming, properties.node_id, POLICY)
        except (LogDirectoryError, Refused, WireError, CheckpointError, OSError):
            return {}


class MissingOffsets:
    """The missing offsets of one partition, its segments taken in order. Their meaning is decided
    at the end: any segment may show that the log was compacted."""

    def __init__(
        self, topic: str, policies: Policies, repaired: Sequence[tuple[int, int]], was_cleaned: bool
    ) -> None:
        self._topic, self._policies = topic, policies
        self._repaired = repaired
        self._was_cleaned = was_cleaned
        self._inside: list[tuple[str, int, list[Gap]]] = []
        """Of segments: their name, how many gaps there are, and the first of them."""
        self._at_ends: list[Finding] = []
        self._is_rewritten = False
        self._unmatched: list[Finding] = []
        """Entries of transaction indexes whose markers are not there."""

    def take(self, segment: SegmentSummary) -> None:
        gaps = segment.gaps
        if gaps is None:
            return
        self._is_rewritten |= gaps.is_rewritten
        if segment.unmatched is not None and not segment.task.is_compacted:
            self._unmatched.append(segment.unmatched)
        start = segment.task.log_start
        lost = [each for each in gaps.found if each.next > start and not self._is_known(each)]
        if lost and not segment.task.is_compacted:
            self._inside.append((segment.name, gaps.count, lost))

    def take_end(self, finding: Finding) -> None:
        self._at_ends.append(finding)

    def tell(self, findings: Findings) -> None:
        """Tell of what no compaction and no repair explains."""
        if not self._inside and not self._at_ends and not self._unmatched:
            return
        compacts = self._policies.compacts(self._topic)
        was_compacted = compacts is not False or self._is_rewritten or self._was_cleaned
        if not was_compacted and not self._policies.was_to_compact(self._topic):
            for finding in self._unmatched:
                findings.add(finding)
        if compacts or self._was_cleaned:
            self._inside.clear()
        elif compacts is None or self._is_rewritten or self._policies.was_to_compact(self._topic):
            self._remark(findings)
            return
        for name, _, lost in self._inside:
            for each in lost:
                findings.add(Finding(findings.partition, name, _missing(each), *each))
        for finding in self._at_ends:
            findings.add(finding)

    def _remark(self, findings: Findings) -> None:
        for name, count, (first, *_) in self._inside:
            what = f"{_missing(first)}{_more(count - 1)}: {MAY_BE_COMPACTED}"
            findings.remark(what, file=name, byte=first.byte, offset=first.first)
        for finding in self._at_ends:
            what = f"{finding.what}: {MAY_BE_COMPACTED}"
            findings.remark(what, file=finding.file, byte=finding.byte, offset=finding.offset)

    def _is_known(self, gap: Gap) -> bool:
        return after_gaps(list(self._repaired), gap.first) >= gap.next


def _more(count: int) -> str:
    return f", and {count} more gap{'s' * (count > 1)}" if count else ""


def _missing(gap: Gap) -> str:
    last = gap.next - 1
    if last == gap.first:
        return f"offset {last} is missing"
    return f"offsets {gap.first} to {last} are missing"


PRODUCERS_MAX = 50_000
NONE = -1


@dataclass(slots=True)
class ProducerRun:
    """One producer's batches in a segment, or in all segments up to one."""

    first_epoch: int
    first_sequence: int
    """-1 if there are only markers."""
    first_last_sequence: int
    """The last sequence of the first batch."""
    first_offset: int
    first_byte: int | None
    epoch: int
    sequence: int = NONE
    """Of the last record in this epoch; -1 if there is none."""
    last_offset: int = NONE
    """Of the last data batch in this epoch; -1 if there is none."""


@dataclass
class Producers:
    """The producers of a segment, and what its transactions leave open or end."""

    runs: dict[int, ProducerRun] = field(default_factory=dict)
    opened: dict[int, int] = field(default_factory=dict)
    """Producer id -> first offset of the transaction that is open at the end."""
    ended: set[int] = field(default_factory=set)
    """Producers with a marker here whose transaction had no data here before it."""
    aborts: int = 0
    has_aborted_data: bool = False
    are_numbered: bool = True
    """Whether their batches have sequence numbers that mean something."""
    not_followed: int = 0
    """Batches of producers that are too many to be followed."""

    def data(
        self, position: int | None, header: BatchHeader, findings: Findings, missing: Findings
    ) -> None:
        """The next data batch of a producer. Sequences that it leaves out go to `missing`."""
        producer_id, epoch, sequence = header[9], header[10], header[11]
        if header.is_transactional:
            self.opened.setdefault(producer_id, header.base_offset)
        run = self.runs.get(producer_id)
        if run is None:
            if len(self.runs) >= PRODUCERS_MAX:
                self.not_followed += 1
                return
            run = self.runs[producer_id] = ProducerRun(
                *(epoch, sequence, header.last_sequence, header.base_offset, position, epoch)
            )
        elif run.first_sequence == NONE and epoch == run.epoch:
            run.first_epoch, run.first_sequence = epoch, sequence
            run.first_last_sequence = header.last_sequence
            run.first_offset, run.first_byte = header.base_offset, position
        batch = epoch, sequence, header.last_sequence
        where = None, position, header.base_offset
        if self.are_numbered:
            tell_sequence(run, batch, producer_id, where, findings, missing)
        run.epoch = epoch
        run.sequence, run.last_offset = header.last_sequence, header.last_offset

    def marker(self, position: int | None, header: BatchHeader, marker: Marker) -> int | None:
        """A marker; returns where its transaction began if that is in this segment."""
        producer_id, epoch = header.producer_id, header.producer_epoch
        run = self.runs.get(producer_id)
        if run is None:
            if len(self.runs) < PRODUCERS_MAX:
                run = ProducerRun(epoch, NONE, NONE, header.base_offset, position, epoch)
                self.runs[producer_id] = run
        elif epoch > run.epoch:
            run.epoch, run.sequence, run.last_offset = epoch, NONE, NONE
        begun = self.opened.pop(producer_id, None)
        if begun is None:
            self.ended.add(producer_id)
        if not marker.commit:
            self.aborts += 1
            self.has_aborted_data |= begun is not None
        return begun


def tell_sequence(
    run: ProducerRun,
    batch: tuple[int, int, int],
    producer_id: int,
    where: tuple[str | None, int | None, int],
    findings: Findings,
    missing: Findings,
) -> None:
    """Tell if a batch (epoch, first and last sequence) does not continue what was before.

    `where`: file (None: that of the findings), byte and offset. What is missing goes to `missing`.
    """
    (epoch, first, last), (file, byte, offset) = batch, where
    who = f"producer {producer_id}, epoch {epoch}"
    if epoch < run.epoch:
        what = f"{who}: written after a batch or marker of epoch {run.epoch}"
        findings.damage(what, file=file, byte=byte, offset=offset)
        return
    if epoch > run.epoch or NONE in (run.sequence, first):
        return
    ahead = (first - run.sequence - 1) & MAX_SEQUENCE
    if ahead > MAX_SEQUENCE // 2:
        what = f"{who}: sequence {first} to {last} again, {run.sequence} was written before"
        findings.damage(what, file=file, byte=byte, offset=offset)
    elif ahead:
        numbers = f"{(run.sequence + 1) & MAX_SEQUENCE} to {(first - 1) & MAX_SEQUENCE}"
        what = f"{who}: sequence {numbers} is missing before this batch"
        missing.remark(what, file=file, byte=byte, offset=offset)


ENTRY_SIZE = 34

Wrong = Callable[[str, int | None, int | None], None]
"""Called with the problem, at which byte of the index, and at which offset."""


class AbortedCheck:
    """The `.txnindex` of one segment. `carried`: producers and the first offsets of the
    transactions that are open at its base; None if that is not known. `data`: None if there is no
    such file."""

    def __init__(self, data: bytes | None, carried: Mapping[int, int] | None, wrong: Wrong) -> None:
        whole = memoryview(data or b"")
        self._stored = TransactionIndex(whole[: len(whole) // ENTRY_SIZE * ENTRY_SIZE]).entries()
        self._data = data
        self._open: dict[int, int] = dict(carried or {})
        self._knows_all = carried is not None
        self._index = 0
        self._first_wrong: tuple[str, int | None, int | None] | None = None
        self._wrong = wrong

    def data_batch(self, header: BatchHeader) -> None:
        self._open.setdefault(header.producer_id, header.base_offset)

    def marker(self, header: BatchHeader, marker: Marker) -> None:
        first = self._open.pop(header.producer_id, None)
        if marker.commit:
            return
        stored = self._next()
        if first is None:
            if not self._knows_all and stored and stored.last_offset == header.last_offset:
                self._index += 1
            return
        stable = min(self._open.values(), default=header.last_offset + 1)
        expected = AbortedTransaction(header.producer_id, first, header.last_offset, stable)
        if not self._knows_all and stored is not None:
            expected = expected._replace(last_stable_offset=stored.last_stable_offset)
        if stored == expected:
            self._index += 1
            return
        is_missing = stored is None or stored.last_offset > header.last_offset
        what = "has no entry of" if is_missing else "has a wrong entry of"
        self._tell(f"{what} the aborted transaction of producer {header.producer_id}", first)
        self._index += not is_missing

    def end(
        self, end_offset: int, base_offset: int, *, is_compacted: bool
    ) -> tuple[str, int] | None:
        """No more batches come; the segment's offsets end at `end_offset`. What is wrong, and at
        which byte, if that can be because compaction has removed a marker."""
        if self._data and not check_transaction_index(self._data, base_offset, end_offset):
            self._wrong("cannot be read: its size, a version or an offset is wrong", 0, None)
        elif is_compacted and self._data:
            return self._unmatched()
        elif self._first_wrong is not None:
            self._wrong(*self._first_wrong)
        elif (unmatched := self._unmatched()) is not None:
            self._wrong(*unmatched, None)
        return None

    def _unmatched(self) -> tuple[str, int] | None:
        if self._next() is None:
            return None
        byte = self._index * ENTRY_SIZE
        return "has an entry of a transaction that did not abort here", byte

    def _next(self) -> AbortedTransaction | None:
        return self._stored[self._index] if self._index < len(self._stored) else None

    def _tell(self, what: str, offset: int) -> None:
        if self._first_wrong is None:
            byte = self._index * ENTRY_SIZE if self._data is not None else None
            self._first_wrong = what, byte, offset


EPOCHS_MAX = 1_000
COORDINATORS = ("__consumer_offsets", "__transaction_state", "__share_group_state")
"""Topics in which a coordinator writes for producers, each batch with sequence 0."""


@dataclass(frozen=True)
class SegmentTask:
    """The task of checking one segment, with the facts known from outside. Picklable."""

    directory: str
    """The data directory."""
    topic: str
    partition: int
    base_offset: int
    limit: int | None = None
    """The next segment's base; None for the newest one."""
    was_killed: bool = False
    """Whether the broker that wrote the newest segment was not stopped cleanly, or still runs."""
    is_in_use: bool = False
    """Whether a broker has the directory open."""
    is_compacted: bool = False
    log_start: int = 0
    """The partition's, as its checkpoint has it."""
    jump_ms: int = 3_600_000
    """By how much times may go back."""
    size: int = 0
    """Bytes of its log, as it was when the audit was planned."""

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}, segment {self.base_offset}"

    @property
    def is_growing(self) -> bool:
        """Whether a broker may be writing to it at this moment."""
        return self.is_in_use and self.limit is None


@dataclass
class SegmentSummary:
    """The summary of a checked segment. Picklable, and small."""

    task: SegmentTask
    name: str
    findings: Findings
    size: int = 0
    batches: int = 0
    records: int = 0
    first_offset: int = -1
    next_offset: int = 0
    has_gaps: bool = False
    """Whether offsets are missing between its batches, as after compaction."""
    gaps: Gaps | None = None
    """Where; None if that was not looked at."""
    damaged_end: bool = False
    epochs: list[tuple[int, int]] = field(default_factory=list)
    """Each leader epoch and the first offset that has it, where it rises."""
    raised_at: int | None = None
    """The byte of the last batch, if the epoch rises there: it may be wrong."""
    unmatched: Finding | None = None
    """An entry of the transaction index whose marker is not there; compaction removes markers."""
    producers: Producers = field(default_factory=Producers)
    first_time: int = NO_TIMESTAMP
    latest_time: int = NO_TIMESTAMP
    content: RecordsSummary = field(default_factory=RecordsSummary)

    @property
    def is_compacted(self) -> bool:
        """Whether compaction may have removed records from it."""
        return self.task.is_compacted or self.has_gaps


class BatchChecks:
    """Fills a summary from its batches, which are taken in order."""

    def __init__(self, summary: SegmentSummary) -> None:
        self.summary = summary
        self.findings = summary.findings
        self.missing = Findings(summary.findings.partition, summary.name)
        self._epochs = EpochCheck()
        summary.producers.are_numbered = summary.task.topic not in COORDINATORS

    def take(
        self,
        position: int | None,
        header: BatchHeader,
        chunk: Buffer,
        at: int,
        aborted: AbortedCheck | None = None,
    ) -> None:
        """The next valid batch, which begins at `at` in `chunk`; `position`: its byte in a file."""
        self._batch(position, header)
        if header.producer_id >= 0:
            self._producer(position, header, chunk, at, aborted)

    def finish(self) -> None:
        self._epochs.settle()
        self.summary.epochs = self._epochs.starts[:EPOCHS_MAX]
        raised = self._epochs.raised
        self.summary.raised_at = None if raised is None else raised[0][0]
        for (byte, offset), epoch, right in self._epochs.wrong:
            self.findings.damage(wrong_epoch(epoch, right), byte=byte, offset=offset)
        if not self.summary.is_compacted:
            self.findings.join(self.missing)
        if self.summary.producers.not_followed:
            count = self.summary.producers.not_followed
            self.findings.remark(f"too many producers: sequences of {count} batches not compared")

    def _batch(self, position: int | None, header: BatchHeader) -> None:
        summary = self.summary
        if not summary.batches:
            summary.first_offset = header.base_offset
            summary.first_time = header.max_timestamp
        summary.batches += 1
        if not header.attributes & CONTROL:
            summary.records += header.count
            self._time(position, header)  # a marker's time is when its broker wrote it
        offset = header.base_offset
        self._epochs.batch((position, offset), header.leader_epoch, offset)

    def _time(self, position: int | None, header: BatchHeader) -> None:
        time, latest = header.max_timestamp, self.summary.latest_time
        if time < NO_TIMESTAMP:
            what = f"a time before 1970: {time} ms"
            self.findings.remark(what, byte=position, offset=header.base_offset)
        elif NO_TIMESTAMP < time < latest - self.summary.task.jump_ms:
            what = f"times go back by {span(latest - time)}"
            self.findings.remark(what, byte=position, offset=header.base_offset)
        elif latest == NO_TIMESTAMP or time > latest:
            self.summary.latest_time = max(time, latest)

    def _producer(
        self,
        position: int | None,
        header: BatchHeader,
        chunk: Buffer,
        at: int,
        aborted: AbortedCheck | None,
    ) -> None:
        producers = self.summary.producers
        if not header.attributes & CONTROL:
            producers.data(position, header, self.findings, self.missing)
            if header.is_transactional and aborted is not None:
                aborted.data_batch(header)
            return
        marker = find_marker(memoryview(chunk)[at : at + header.size], header)
        if marker is not None:
            producers.marker(position, header, marker)
            if aborted is not None:
                aborted.marker(header, marker)


def span(ms: int) -> str:
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000)):
        if ms >= size:
            return f"{ms / size:.4g} {unit}"
    return f"{ms} ms"
