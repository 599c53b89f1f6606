"""A full check of one partition's directory, which changes nothing: for `odradek repair`.

Every batch is read, and everything else is compared with the batches: the indexes, the transaction
index, the snapshots (complete, and present if there are producers), the leader epochs,
`partition.metadata`.
"""

from __future__ import annotations

from typing import NamedTuple

from ...wire.batch import CONTROL, TRANSACTIONAL
from ..checkpoints import (
    LEADER_EPOCHS,
    PARTITION_METADATA,
    CheckpointError,
    read_partition_metadata,
)
from ..damage import Damage, after_gaps
from ..epochs import LeaderEpochs
from ..index import OFFSET_ENTRY_SIZE, TIME_ENTRY_SIZE, TransactionIndex
from ..naming import DELETED, OFFSET_INDEX, SNAPSHOT, TIME_INDEX, TRANSACTION_INDEX
from ..partition_directory import PartitionDirectory
from ..producers import ProducerStates, SnapshotError
from ..recovery.damage_search import NO_LIMIT, DamageSearch
from ..recovery.first_read import LOST_AT_THE_END, IndexCheck, SegmentVerifier, TransactionCheck
from ..recovery.producer_replay import find_aborted
from ..segment import Segment


class Finding(NamedTuple):
    """One thing that is or was wrong."""

    partition: str
    """The partition's directory; "" for a file of the log directory."""
    file: str
    problem: str
    position: int | None = None
    """The first byte, in a `.log`."""
    offsets: str = ""
    """The offsets that are lost, in words."""
    action: str = ""
    """What was done about it, or would be done in a dry run: "rebuilt"."""
    is_left: bool = False
    """Whether something is left to be done by hand."""


class PartitionCheck:
    """Checks one partition: `run` fills `damages` and `findings`.

    `flushed_to`: everything below this offset had reached the disk; with `clean` the log must reach
    it. `cleaned_to`: where the last compaction ended, 0 if there was none. Methods raise OSError.
    """

    def __init__(
        self,
        home: PartitionDirectory,
        flushed_to: int,
        gaps: list[tuple[int, int]],
        *,
        clean: bool = True,
        cleaned_to: int = 0,
    ) -> None:
        self.home = home
        self.damages: list[tuple[Segment, Damage]] = []
        self.findings: list[Finding] = []
        self.bad_snapshots: list[str] = []
        self.batches = 0
        self._flushed_to = flushed_to
        self._clean = clean
        self._cleaned_to = cleaned_to
        self._gaps = gaps
        self._has_producers = self._has_epochs = False
        self._sizes = home.files.files()

    def run(self) -> None:
        """Check everything."""
        parsed = [self.home.naming.parse_file(name) for name in self._sizes]
        suffix = self.home.naming.log_suffix
        bases = sorted(found[0] for found in parsed if found and found[1] == suffix)
        segments = [self._segment(base) for base in bases]
        for segment, limit in zip(segments, [*bases[1:], NO_LIMIT], strict=False):
            segment.next_offset = limit
        if not bases and self._flushed_to and self._clean:
            lost = f"offsets 0 to {self._flushed_to - 1}"
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
        segment.size = self._sizes[segment.name]
        return segment

    def _check_segment(self, segment: Segment, segments: list[Segment]) -> None:
        limit = segment.next_offset
        search = DamageSearch(self.home.name, segment, segment.size, limit=limit)
        stored = self._read(segment, OFFSET_INDEX), self._read(segment, TIME_INDEX)
        indexes = IndexCheck(segment.base_offset, stored[0] or b"", stored[1] or b"")
        transactions = TransactionCheck()
        for position, header, chunk, at in search.batches():
            self.batches += 1
            indexes.batch(position, header)
            self._has_epochs |= header.leader_epoch >= 0
            if header.producer_id >= 0:
                self._has_producers = True
                if header.attributes & (TRANSACTIONAL | CONTROL):
                    transactions.batch(header, chunk, at)
        segment.damages = search.damages
        self._report_damages(segment, search, is_newest=limit == NO_LIMIT)
        if None in stored:
            self._find(segment.name, "an index is missing", "rebuilt")
        elif len(stored[0] or b"") % OFFSET_ENTRY_SIZE or len(stored[1] or b"") % TIME_ENTRY_SIZE:
            self._find(segment.name, "an index has an odd size", "rebuilt")
        elif not indexes.are_right(is_final=limit < NO_LIMIT) and not search.damages:
            self._find(segment.name, "an index is wrong", "rebuilt")
        if transactions.aborts:
            name = self.home.naming.file(segment.base_offset, TRANSACTION_INDEX)
            found = find_aborted(self.home, segments, segment, [])
            if TransactionIndex(self._read(segment, TRANSACTION_INDEX) or b"").data != found.data:
                self._find(name, "differs from the batches", "rebuilt")

    def _report_damages(self, segment: Segment, search: DamageSearch, *, is_newest: bool) -> None:
        damages = list(search.damages)
        end = after_gaps(self._gaps, search.next_offset)
        if is_newest:
            place = self.home.name, segment.name, segment.size, 0
            if damages and damages[-1].next_offset == search.next_offset < self._flushed_to:
                damages[-1] = damages[-1]._replace(next_offset=self._flushed_to)
            elif self._clean and end < self._flushed_to:
                damages.append(Damage(*place, end, self._flushed_to, LOST_AT_THE_END))
        elif segment.size:
            known = SegmentVerifier(self.home, [], [], self._compacted_to(segment), self._gaps)
            damages += known.missing_end(segment, search)
        for damage in damages:
            action = "set aside" if damage.size else "recorded as lost"
            self.damages.append((segment, damage))
            finding = Finding(self.home.name, damage.file, damage.problem, damage.position)
            self.findings.append(finding._replace(offsets=damage.offsets, action=action))

    def _compacted_to(self, segment: Segment) -> int:
        """Segments before this offset may be compacted. One whose old files are still there was
        replaced just before a kill; the checkpoint does not have it."""
        is_replaced = segment.name + DELETED in self._sizes
        return NO_LIMIT if is_replaced else self._cleaned_to

    def _check_snapshots(self) -> None:
        offsets = []
        for name in sorted(self._sizes):
            parsed = self.home.naming.parse_file(name)
            if parsed is None or parsed[1] != SNAPSHOT:
                continue
            offsets.append(parsed[0])
            try:
                ProducerStates().load(self.home.files.read_bytes(name))
            except SnapshotError as error:
                self.bad_snapshots.append(name)
                self._find(name, str(error), "rebuilt")
        if self._has_producers and not offsets:
            self._find("", "the snapshots of producers are missing", "rebuilt")

    def _check_epochs(self) -> None:
        if LEADER_EPOCHS not in self._sizes:
            if self._has_epochs:
                self._find(LEADER_EPOCHS, "missing", "rebuilt")
            return
        try:
            LeaderEpochs.from_checkpoint(self.home.files.read_bytes(LEADER_EPOCHS))
        except CheckpointError as error:
            self._find(LEADER_EPOCHS, error.problem, "rebuilt")

    def _check_metadata(self) -> None:
        if PARTITION_METADATA not in self._sizes:
            self._find(PARTITION_METADATA, "missing", "the next start writes it")
            return
        try:
            read_partition_metadata(self.home.files.read_bytes(PARTITION_METADATA))
        except CheckpointError as error:
            self._find(PARTITION_METADATA, error.problem, "the next start writes it again")

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
