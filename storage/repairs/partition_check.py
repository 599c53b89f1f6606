"""A full check of one partition's directory, which changes nothing: for `odradek repair`.

Every batch and record is read, and everything else is compared with the batches: the indexes, the
transaction index, the snapshots (complete, and present if there are producers), the leader epochs,
`partition.metadata`. The segments may be planned ones (arranging.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

from ...wire.batch import CONTROL, TRANSACTIONAL, BatchHeader
from ...wire.primitives import Buffer
from ...wire.records import end_transaction_batch
from ..checkpoints import (
    LEADER_EPOCHS,
    PARTITION_METADATA,
    CheckpointError,
    read_partition_metadata,
)
from ..damage import Damage, after_gaps
from ..disk.directory import File
from ..epochs import LeaderEpochs
from ..index import OFFSET_ENTRY_SIZE, TIME_ENTRY_SIZE, TransactionIndex
from ..naming import DELETED, OFFSET_INDEX, SNAPSHOT, TIME_INDEX, TRANSACTION_INDEX
from ..partition_directory import PartitionDirectory
from ..producers import MAX_SEQUENCE, AbortedTransaction, ProducerStates, SnapshotError
from ..recovery.damage_search import NO_LIMIT, DamageSearch
from ..recovery.first_read import LOST_AT_THE_END, IndexCheck, SegmentVerifier, TransactionCheck
from ..recovery.producer_replay import find_aborted
from ..segment import Segment
from .arranging import Planned
from .faults import EpochCheck, Fault, fault_of

MISSING = "offsets are missing"
WRITTEN_AGAIN = "written again"


ENTRY_SIZE = 34
"""Of a transaction index."""


class Facts(NamedTuple):
    """The facts known of a partition besides its own files."""

    flushed_to: int
    """Everything below this offset had reached the disk; after a clean stop the log reaches it."""
    clean: bool = True
    cleaned_to: int = 0
    """Where the last compaction ended, 0 if there was none."""
    log_start: int = 0
    is_numbered: bool = True
    """Whether sequences of producers mean something: those of coordinators do not."""
    never_compacted: Callable[[], bool] = lambda: False
    """Whether it is sure that no offset is missing because of compaction."""
    knows_id: bool = False
    """Whether `partition.metadata` can be written again."""


class Finding(NamedTuple):
    partition: str
    """The partition's directory; "" for a file of the log directory."""
    file: str
    problem: str
    position: int | None = None
    """The first byte, in a `.log`."""
    offsets: str = ""
    """The offsets that are lost, in words."""
    action: str = ""
    """The action, done or to be done by a dry run: "rebuilt"."""
    is_left: bool = False
    """Whether something is left to be done by hand."""


class PartitionCheck:
    """Checks one partition: `run` fills `damages`, `faults` and `findings`. Methods raise OSError.

    `planned`: what segments are to hold that are not as they are, by base offset; `bases` are then
    those of all segments.
    """

    def __init__(
        self,
        home: PartitionDirectory,
        gaps: list[tuple[int, int]],
        facts: Facts,
        planned: dict[int, Planned] | None = None,
        bases: list[int] | None = None,
    ) -> None:
        self.home = home
        self.damages: list[tuple[Segment, Damage]] = []
        self.findings: list[Finding] = []
        self.faults: list[tuple[Segment, int, BatchHeader, Fault]] = []
        """Batches that can be mended: segment and position."""
        self.epochs = EpochCheck()
        self.bad_files: list[str] = []
        """Those that are to be rebuilt from the batches."""
        self.lost_markers: list[bytes] = []
        """Markers of aborted transactions that a `.txnindex` names, and that are not there."""
        self.batches = 0
        self.end = 0
        self.first = -1
        self.log_start = 0
        """As the leader epochs have it."""
        self._facts = facts
        self._gaps = gaps
        self.planned = planned or {}
        self._sizes = home.files.files()
        parsed = [home.naming.parse_file(name) for name in self._sizes]
        suffix = home.naming.log_suffix
        self.bases = bases or sorted(found[0] for found in parsed if found and found[1] == suffix)
        self._sequences: dict[int, tuple[int, int, int]] = {}
        """The epoch, sequence and offset of each producer's last batch."""
        self._has_producers = self._has_epochs = self._is_rewritten = False

    @property
    def is_disordered(self) -> bool:
        """Whether batches are not where their offsets belong."""
        return any("has offsets" in damage.problem for _, damage in self.damages)

    def run(self) -> None:
        bases, facts = self.bases, self._facts
        segments = [self._segment(base) for base in bases]
        for segment, limit in zip(segments, [*bases[1:], NO_LIMIT], strict=False):
            segment.next_offset = limit
        if not bases and facts.flushed_to and facts.clean:
            lost = f"offsets 0 to {facts.flushed_to - 1}"
            action = "the next start continues after them"
            self._find("", "no segment is left", action, offsets=lost, is_left=True)
        for segment in segments:
            self._check_segment(segment, segments)
        for segment in segments:
            segment.close()
        self._check_snapshots()
        self._check_epochs()
        self._check_metadata()

    def _segment(self, base: int) -> Segment:
        segment = self.home.segment(base, now_ms=0, index_interval_bytes=4096)
        planned = self.planned.get(base)
        if planned is None:
            segment.size = self._sizes[segment.name]
        else:
            segment.size, segment.file = planned.size, cast(File, planned)
        return segment

    def _check_segment(self, segment: Segment, segments: list[Segment]) -> None:
        limit = segment.next_offset
        search = DamageSearch(self.home.name, segment, segment.size, limit=limit)
        stored = self._read(segment, OFFSET_INDEX), self._read(segment, TIME_INDEX)
        indexes = IndexCheck(segment.base_offset, stored[0] or b"", stored[1] or b"")
        transactions = TransactionCheck()
        damages: list[Damage] = []
        self._compare_snapshot(segment.base_offset)
        end, expected = 0, segment.base_offset
        for position, header, chunk, at in search.batches():
            if position == end and header.base_offset > expected:
                damages += self._gap(segment, position, expected, header.base_offset)
            end, expected = position + header.size, header.last_offset + 1
            self.batches += 1
            indexes.batch(position, header)
            damages += self._check_batch(segment, position, header, chunk, at)
            if header.producer_id >= 0:
                self._has_producers = True
                if header.attributes & (TRANSACTIONAL | CONTROL):
                    transactions.batch(header, chunk, at)
        self.end = max(self.end, expected)
        damages = sorted([*search.damages, *damages], key=lambda each: each.position)
        segment.damages = [each for each in damages if each.size]
        self._report_damages(segment, search, damages, is_newest=limit == NO_LIMIT)
        if segment.base_offset not in self.planned and not damages:
            is_final = limit < NO_LIMIT or self._facts.clean
            self._check_indexes(segment, stored, indexes, is_final=is_final)
        self._check_aborted(segment, segments, transactions)

    def _check_batch(
        self, segment: Segment, position: int, header: BatchHeader, chunk: Buffer, at: int
    ) -> list[Damage]:
        """Look into a batch; what cannot be read of it is damage."""
        if self.first < 0:
            self.first = header.base_offset
        self._has_epochs |= header.leader_epoch >= 0
        self._is_rewritten |= header.count <= header.last_offset_delta or header.has_delete_horizon
        self.epochs.batch((segment, position, header), header.leader_epoch, header.base_offset)
        batch = memoryview(chunk)[at : at + header.size]
        fault = fault_of(batch, header, self.home.topic)
        if fault is not None and fault.mended is None:
            place = self.home.name, segment.name, position, header.size
            return [Damage(*place, header.base_offset, header.last_offset + 1, fault.problem)]
        if fault is not None:
            self.faults.append((segment, position, header, fault))
        elif header.producer_id >= 0 and not header.is_control and self._facts.is_numbered:
            self._check_sequence(segment, position, header)
        return []

    def _check_sequence(self, segment: Segment, position: int, header: BatchHeader) -> None:
        epoch, last, _ = self._sequences.get(header.producer_id, (-1, -1, -1))
        first = header.base_sequence
        now = header.producer_epoch, header.last_sequence, header.last_offset
        self._sequences[header.producer_id] = now
        if header.producer_epoch != epoch or -1 in (first, last):
            return
        if (first - last - 1) & MAX_SEQUENCE > MAX_SEQUENCE // 2:
            problem = (
                f"sequence {first} to {header.last_sequence} of producer {header.producer_id} again"
            )
            finding = Finding(self.home.name, segment.name, problem, position)
            offsets = f"offsets {header.base_offset} to {header.last_offset}"
            action = "left alone: both are served"
            self.findings.append(finding._replace(offsets=offsets, action=action, is_left=True))

    def _gap(self, segment: Segment, position: int, first: int, after: int) -> list[Damage]:
        """Offsets that no batch has, although no compaction can have removed them."""
        first = max(after_gaps(self._gaps, first), self._facts.log_start)
        if first >= after or not self._keeps_offsets(segment):
            return []
        return [Damage(self.home.name, segment.name, position, 0, first, after, MISSING)]

    def _keeps_offsets(self, segment: Segment) -> bool:
        is_compacted = self._is_rewritten or segment.base_offset < self._compacted_to(segment)
        return not is_compacted and self._facts.never_compacted()

    def _check_indexes(
        self,
        segment: Segment,
        stored: tuple[bytes | None, bytes | None],
        indexes: IndexCheck,
        *,
        is_final: bool,
    ) -> None:
        if None in stored:
            self._find(segment.name, "an index is missing", "rebuilt")
        elif len(stored[0] or b"") % OFFSET_ENTRY_SIZE or len(stored[1] or b"") % TIME_ENTRY_SIZE:
            self._find(segment.name, "an index has an odd size", "rebuilt")
        elif not indexes.are_right(is_final=is_final) or (
            not stored[0] and len(stored[1] or b"") > TIME_ENTRY_SIZE
        ):
            self._find(segment.name, "an index is wrong", "rebuilt")

    def _check_aborted(
        self, segment: Segment, segments: list[Segment], transactions: TransactionCheck
    ) -> None:
        """Compare the transaction index; what it names and the log has not is written again."""
        name = self.home.naming.file(segment.base_offset, TRANSACTION_INDEX)
        data = self._read(segment, TRANSACTION_INDEX) or b""
        if not (transactions.aborts or data) or segment.base_offset < self._facts.cleaned_to:
            return
        found = find_aborted(self.home, segments, segment, [])
        if found.data == data:
            return
        markers = {(each.producer_id, each.last_offset) for each in found.entries()}
        whole = TransactionIndex(data[: len(data) // ENTRY_SIZE * ENTRY_SIZE])
        lost = [
            each for each in whole.entries() if (each.producer_id, each.last_offset) not in markers
        ]
        for each in lost:
            self._find_marker(segment, name, each)
        if not lost:
            self._find(name, "differs from the batches", "rebuilt")
        self.bad_files += [name] if data else []

    def _find_marker(self, segment: Segment, name: str, aborted: AbortedTransaction) -> None:
        """A transaction that the index says was aborted, and the log does not."""
        last = begun = None
        for _, header in segment.headers():
            if header.base_offset <= aborted.last_offset <= header.last_offset:
                problem = f"says that the transaction of offset {aborted.first_offset} was aborted"
                action = "left to be decided: the marker in the log says that it was committed"
                self._find(name, problem, action, is_left=True)
                return
            if header.base_offset < aborted.last_offset:
                last = header
                begun = header if header.producer_id == aborted.producer_id else begun
        if last is None or begun is None:
            self._find(name, "names a transaction that is not in its segment", "rebuilt")
            return
        marker = end_transaction_batch(
            False,
            base_offset=aborted.last_offset,
            timestamp=last.max_timestamp,
            producer_id=aborted.producer_id,
            producer_epoch=begun.producer_epoch,
            coordinator_epoch=0,
            leader_epoch=last.leader_epoch,
        )
        self.lost_markers.append(bytes(marker))
        what = f"the abort marker of offset {aborted.last_offset} is lost, {name} names it"
        self._find(segment.name, what, WRITTEN_AGAIN)

    def _report_damages(
        self, segment: Segment, search: DamageSearch, damages: list[Damage], *, is_newest: bool
    ) -> None:
        end = after_gaps(self._gaps, search.next_offset)
        flushed = self._facts.flushed_to
        if is_newest:
            place = self.home.name, segment.name, segment.size, 0
            last = damages[-1] if damages else None
            if last and last.size and last.next_offset == search.next_offset < flushed:
                damages[-1] = last._replace(next_offset=flushed)
            elif end < flushed:
                damages.append(Damage(*place, end, flushed, LOST_AT_THE_END))
        else:
            known = SegmentVerifier(self.home, [], [], self._compacted_to(segment), self._gaps)
            if segment.size and not (search.has_gaps and self._keeps_offsets(segment)):
                damages += known.missing_end(segment, search)
            else:
                damages += self._gap(segment, segment.size, end, segment.next_offset)
        for damage in damages:
            action = "set aside" if damage.size else "recorded as lost"
            self.damages.append((segment, damage))
            finding = Finding(self.home.name, damage.file, damage.problem, damage.position)
            self.findings.append(finding._replace(offsets=damage.offsets, action=action))

    def _compacted_to(self, segment: Segment) -> int:
        """Segments before this offset may be compacted. One whose old files are still there was
        replaced just before a kill; the checkpoint does not have it."""
        is_replaced = segment.name + DELETED in self._sizes
        return NO_LIMIT if is_replaced else self._facts.cleaned_to

    def _compare_snapshot(self, offset: int) -> None:
        """Whether the snapshot at this offset, if there is one, has the producers of the batches
        before it."""
        name = self.home.naming.file(offset, SNAPSHOT)
        if name not in self._sizes or self.damages or self._gaps or not self._facts.is_numbered:
            return
        producers = ProducerStates()
        try:
            producers.load(self.home.files.read_bytes(name))
        except SnapshotError:
            return  # a finding of _check_snapshots
        for producer_id, state in producers.states.items():
            epoch, *last = self._sequences.get(producer_id, (-1, -1, -1))
            if epoch == state.epoch and last != [state.last_sequence, state.last_offset]:
                self.bad_files.append(name)
                self._find(name, f"producer {producer_id} is not as in the batches", "rebuilt")
                return

    def _check_snapshots(self) -> None:
        self._compare_snapshot(self.end)
        offsets = []
        for name in sorted(self._sizes):
            parsed = self.home.naming.parse_file(name)
            if parsed is None or parsed[1] != SNAPSHOT:
                continue
            offsets.append(parsed[0])
            try:
                ProducerStates().load(self.home.files.read_bytes(name))
            except SnapshotError as error:
                self.bad_files.append(name)
                self._find(name, str(error), "rebuilt")
        if self._has_producers and not offsets:
            self._find("", "the snapshots of producers are missing", "rebuilt")
        elif self._has_producers and self._facts.clean and max(offsets) < self.end:
            name = self.home.naming.file(self.end, SNAPSHOT)
            self._find(name, "missing", "rebuilt")

    def _check_epochs(self) -> None:
        if LEADER_EPOCHS not in self._sizes:
            self.epochs.end({})
            if self._has_epochs:
                self._find(LEADER_EPOCHS, "missing", "rebuilt")
            return
        try:
            stored = LeaderEpochs.from_checkpoint(self.home.files.read_bytes(LEADER_EPOCHS))
        except CheckpointError as error:
            self._find(LEADER_EPOCHS, error.problem, "rebuilt")
            return
        known = dict(stored.entries)
        self.epochs.end(known)
        start = max(self.first, self._facts.log_start)
        both = [each for each in self.epochs.starts if each[0] in known][:1]
        for epoch, first in both:
            if known[epoch] > max(first, start):
                start = self.log_start = known[epoch]
        began = max(min(known.values(), default=0), self._facts.log_start)
        if self._facts.clean and self.bases and known and began < self.bases[0]:
            problem = f"segments are missing at the beginning: the log began at {began}"
            lost = f"offsets {began} to {self.bases[0] - 1}"
            self._find("", problem, "nothing has their records", offsets=lost, is_left=True)
        ends = [*(first for _, first in self.epochs.starts[1:]), NO_LIMIT]
        for (epoch, _), after in zip(self.epochs.starts, ends, strict=False):
            if epoch not in known and after > start:
                self._find(LEADER_EPOCHS, f"leader epoch {epoch} is not in it", "rebuilt")
                self.bad_files.append(LEADER_EPOCHS)
                return

    def _check_metadata(self) -> None:
        if PARTITION_METADATA not in self._sizes:
            self._find(PARTITION_METADATA, "missing", self._id_action)
            return
        try:
            read_partition_metadata(self.home.files.read_bytes(PARTITION_METADATA))
        except CheckpointError as error:
            self._find(PARTITION_METADATA, error.problem, self._id_action)

    @property
    def _id_action(self) -> str:
        return "written again" if self._facts.knows_id else "the next start writes it"

    def _find(
        self, file: str, problem: str, action: str, *, offsets: str = "", is_left: bool = False
    ) -> None:
        found = Finding(
            self.home.name, file, problem, offsets=offsets, action=action, is_left=is_left
        )
        self.findings.append(found)

    def _read(self, segment: Segment, suffix: str) -> bytes | None:
        name = self.home.naming.file(segment.base_offset, suffix)
        return self.home.files.read_bytes(name) if name in self._sizes else None
