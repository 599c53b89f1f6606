"""Opening a partition's directory: from files to segments, producers and leader epochs.

Rules:

- What a stop interrupted is finished first (unfinished.py); index files without a `.log` are
  removed.
- The newest segment is always read whole, and its indexes are rebuilt. Without a clean shutdown
  marker so are all segments from the recovery point on.
- After a kill, what was not flushed (from the recovery point on) is truncated after its last valid
  batch or old message: one that is complete, with higher offsets than those before it and the right
  CRC. Segments after that point are renamed to `.deleted`, so they stay for one more start.
- In the metadata log, which no checkpoint lists, only what no valid batch follows is truncated.
- What was flushed is never truncated: below the recovery point, or after a clean stop, bytes that
  are no valid batch are damage (damage.py). After a clean stop the log ends where checkpoint and
  snapshot say, even if batches at the end are lost; it then goes on in a new segment.
- Older segments are accepted unread if sizes and last entries of their indexes are plausible, and
  their last batches reach up to the next segment. The first read checks the rest (first_read.py).
- Producers come from the newest snapshot that can be read, and the batches after it; aborted
  transactions from the `.txnindex`, or from the batches where those were read without a marker.
- Leader epochs come from their checkpoint, or from the batches if that is missing or malformed.
- A log start above the log end is accepted after a kill if the leader epochs say the same: then
  only deleted records are lost. Otherwise the checkpoint is wrong, and everything stays.
- After a clean stop a log of which no segment is left continues where it ended.

Kafka silently loses a torn last segment after a clean stop, producers whose snapshots are missing,
and epochs; it exits because of a malformed checkpoint. This keeps them: every repair adds a
sentence to `notices` that names the file.

Source: the documentation's chapter "Log", "Guarantees"; damaged directories given to Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain

from ...wire.errors import WireError
from ...wire.primitives import Buffer
from ..batch_walk import SMALL_READ_BYTES, walk_batches
from ..checkpoints import LEADER_EPOCHS, PARTITION_METADATA, CheckpointError
from ..damage import Damage, after_gaps, repaired_gaps
from ..epochs import LeaderEpochs
from ..index import (
    OFFSET_ENTRY_SIZE,
    TIME_ENTRY_SIZE,
    TransactionIndex,
    check_offset_index,
    check_time_index,
    check_transaction_index,
)
from ..naming import CLUSTER_METADATA, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX
from ..partition_directory import PartitionDirectory
from ..producers import ProducerStates
from ..segment import RELATIVE_OFFSET_MAX, Segment, containing
from .damage_search import NO_LIMIT
from .first_read import EMPTY, LOST_AT_THE_END, SegmentVerifier
from .known import recall
from .producer_replay import readable_headers, restore_producers
from .segment_scan import scan_segment
from .unfinished import finish_interrupted

_INDEXES = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)


@dataclass
class Recovery:
    """Opens one directory; call `run`. Methods raise OSError."""

    home: PartitionDirectory
    clean: bool
    recovery_point: int
    index_interval_bytes: int
    now_ms: int
    notices: list[str]
    compacted_to: int = 0
    producers: ProducerStates = field(default_factory=ProducerStates)
    epochs: LeaderEpochs = field(default_factory=LeaderEpochs)
    log_start_offset: int = 0
    """Found by `run`."""
    _stored_epochs: LeaderEpochs | None = None
    _sizes: dict[str, int] = field(default_factory=dict)
    _epochs_seen: list[tuple[int, int]] = field(default_factory=list)
    _unindexed: list[Segment] = field(default_factory=list)
    """Segments whose transaction indexes have to be rebuilt, oldest first."""
    _without_producers: set[int] = field(default_factory=set)
    _verification: SegmentVerifier | None = None

    def run(self, topic_id: bytes | None, log_start_offset: int) -> list[Segment]:
        """Set the fields above, repair the files and return the segments.

        `log_start_offset` is the checkpoint's. If all batches are below it, they are removed.
        """
        self.log_start_offset = log_start_offset
        home = self.home
        if topic_id is not None and not home.files.exists(PARTITION_METADATA):
            home.write_metadata(topic_id)
            self.notices.append(f"{PARTITION_METADATA}: missing, written again")
        self._read_epochs()
        segments = self._open_segments()
        if segments:
            self._restore_producers(segments)
            self._find_start(segments)
        self._restore_epochs(segments, self.log_start_offset)
        home.store_epochs(self.epochs)
        home.find_snapshots()
        if segments and not self.clean:
            home.take_snapshot(segments[-1].next_offset, self.producers)
        home.remove_old_snapshots(segments)
        if segments and segments[-1].next_offset < self.log_start_offset:
            self.notices.append(f"all batches are below the log start {self.log_start_offset}")
            for segment in reversed(segments):
                segment.remove()
            return []
        return [*segments, *home.successor_of(segments[-1])] if segments else []

    def _find_start(self, segments: list[Segment]) -> None:
        """Correct a log start that is below the first segment or, wrongly, above the log end."""
        first, end = segments[0].base_offset, segments[-1].next_offset
        known = self._known_start
        if self.log_start_offset > end and (self.clean or self.log_start_offset != known):
            self.notices.append(
                f"the log start {self.log_start_offset} is above the log end {end}; ignored"
            )
            self.log_start_offset = known if known is not None and known <= end else first
        if self.clean and known is not None and max(known, self.log_start_offset) < first:
            self.notices.append(
                f"{segments[0].name}: segments are missing before it; the log began at {known}"
            )
        self.log_start_offset = max(self.log_start_offset, first)

    @property
    def _known_start(self) -> int | None:
        """The earliest possible log start, according to the leader epochs."""
        entries = self._stored_epochs.entries if self._stored_epochs is not None else []
        return entries[0].start_offset if entries else None

    def _without_segments(self) -> list[int]:
        """No segment is left: say so, and return the base offset of an empty one to replace them;
        none after a kill."""
        base = max(self.log_start_offset, self._known_start or 0)
        end = max([self.recovery_point, *self.home.find_snapshots()])
        if end <= base:
            return []
        self.notices.append(f"no segment is left of offsets {base} to {end - 1}")
        if not self.clean:
            return []
        segment = self.home.segment(base, now_ms=self.now_ms, index_interval_bytes=0)
        segment.create_file()
        segment.close()
        self._sizes[segment.name] = 0
        return [base]

    def _open_segments(self) -> list[Segment]:
        self._sizes = finish_interrupted(self.home.files, self.home.naming, self.notices)
        parsed = {name: self.home.naming.parse_file(name) for name in self._sizes}
        log = self.home.naming.log_suffix
        bases = sorted(found[0] for found in parsed.values() if found and found[1] == log)
        for name, found in parsed.items():
            if found and found[1] in _INDEXES and found[0] not in bases:
                self.home.files.remove(name)
                self.notices.append(f"{name}: removed, its log file is missing")
        bases = bases or self._without_segments()
        segments = [self._segment(base) for base in bases]
        newest = len(bases) - 1
        first = newest if self.clean else containing(segments, self.recovery_point)
        gaps = repaired_gaps(self.home.files, list(self._sizes))
        verify = SegmentVerifier(self.home, segments, self.notices, self.compacted_to, gaps)
        for index, segment in enumerate(segments):
            if index < first:
                self._take_over(segment, bases[index + 1], verify)
            elif not self._check(segment, bases[index + 1] if index < newest else NO_LIMIT):
                self._retire_later(segments[index + 1 :])
                return segments[: index + 1]
        if segments:
            self._find_end(segments[-1], gaps)
        return segments

    def _find_end(self, newest: Segment, gaps: list[tuple[int, int]]) -> None:
        """Make the log end no earlier than when it was closed cleanly."""
        flushed = self._flushed_to() if self.clean or newest.damages else 0
        end = newest.next_offset = after_gaps(gaps, newest.next_offset)
        if newest.damages and newest.damages[-1].next_offset == end < flushed:
            newest.damages[-1] = newest.damages[-1]._replace(next_offset=flushed)
        elif end < flushed < NO_LIMIT:
            place = (self.home.name, newest.name, newest.size, 0)
            newest.damages.append(Damage(*place, end, flushed, LOST_AT_THE_END))
        elif end < self.recovery_point and not self.clean:
            self._notice(newest)(f"ends at {end}, before the recovery point")
            self.home.sync([newest])  # an interrupted truncation must not be undone later
        if newest.damages:
            newest.next_offset = max(end, newest.damages[-1].next_offset)
        for damage in newest.damages:
            self._notice(newest)(damage.sentence)

    def _flushed_to(self) -> int:
        """Everything below this offset is on disk; NO_LIMIT if all batches are."""
        if not self.clean:
            return self.recovery_point
        newest_snapshot = max(self.home.find_snapshots(), default=0)
        return max(self.recovery_point, newest_snapshot) or NO_LIMIT

    def _segment(self, base: int) -> Segment:
        interval = self.index_interval_bytes
        segment = self.home.segment(base, now_ms=self.now_ms, index_interval_bytes=interval)
        segment.on_disk = True
        segment.modified_ms = self.home.files.modified_ms(segment.name)
        return segment

    def _take_over(self, segment: Segment, next_base: int, verify: SegmentVerifier) -> None:
        """Take over an older segment, reading only its end and the ends of its indexes."""
        size = self._sizes[segment.name]
        self._load_transaction_index(segment, next_base)
        offsets, times, suspicion = self._index_counts(segment, size, next_base)
        segment.take_over_files(size, next_base, offsets, times)
        if suspicion:
            verify.check(segment, suspicion)
        else:
            segment.verifier = verify.check
            if not self._reaches_next(segment, next_base):
                segment.verify()

    def _reaches_next(self, segment: Segment, next_base: int) -> bool:
        """Whether the last batches are complete, and end where the next segment begins."""
        start = segment.offset_index.floor(RELATIVE_OFFSET_MAX)
        end = segment.base_offset
        try:
            for _, header, _, _ in walk_batches(
                segment.file, start, segment.size, SMALL_READ_BYTES
            ):
                end = header.last_offset + 1
        except WireError:
            return False
        finally:
            segment.file.release()
        return end == next_base or (segment.base_offset < self.compacted_to and end < next_base)

    def _index_counts(
        self, segment: Segment, log_size: int, next_base: int
    ) -> tuple[int, int, str]:
        """The numbers of index entries, and what may be wrong with the index files, or ""."""
        base = segment.base_offset
        sizes = [self._sizes.get(self.home.naming.file(base, suffix)) for suffix in _INDEXES[:2]]
        if sizes[0] is None or sizes[1] is None:
            return 0, 0, "missing"
        offsets, odd_offset = divmod(sizes[0], OFFSET_ENTRY_SIZE)
        times, odd_time = divmod(sizes[1], TIME_ENTRY_SIZE)
        good = not odd_offset and not odd_time
        if good and offsets:
            ends = self._end_entries(base, OFFSET_INDEX, OFFSET_ENTRY_SIZE, offsets)
            good = check_offset_index(*ends, next_base - base, log_size)
        if good and times:
            ends = self._end_entries(base, TIME_INDEX, TIME_ENTRY_SIZE, times)
            good = check_time_index(*ends, next_base - base)
        if not good:
            return 0, 0, "damaged"
        # An empty index may be right (large batches, no timestamps) or lost; a read will tell.
        missing = log_size and (not times or (not offsets and log_size > self.index_interval_bytes))
        return offsets, times, EMPTY if missing else ""

    def _end_entries(
        self, base: int, suffix: str, entry_size: int, count: int
    ) -> tuple[Buffer, Buffer]:
        file = self.home.files.file(self.home.naming.file(base, suffix))
        try:
            return file.read(0, entry_size), file.read((count - 1) * entry_size, entry_size)
        finally:
            file.close()

    def _check(self, segment: Segment, limit: int) -> bool:
        """Read a whole segment and truncate damage that was not flushed; False if there was any."""
        if self.clean and limit == NO_LIMIT and recall(segment):
            return True
        end = self._sizes[segment.name]
        notice = self._notice(segment)
        found = scan_segment(
            *(self.home.name, segment, end),
            limit=limit,
            flushed_to=self._flushed_to(),
            torn_only=self.home.topic == CLUSTER_METADATA,
        )
        self._epochs_seen += found.epochs
        if not found.has_producers:
            self._without_producers.add(segment.base_offset)
        # The batches are more reliable than the index, unless some of them are damaged.
        is_needed = self.clean and bool(segment.damages)
        loaded = is_needed and self._load_transaction_index(segment, segment.next_offset)
        if not loaded and (found.has_aborts or not self.clean):
            self._unindexed.append(segment)
        if found.problem:
            notice(f"{found.problem}; truncated {end - segment.size} bytes")
            segment.truncate(segment.size)
        elif limit < NO_LIMIT:
            self._seal_segment(segment)
            for damage in segment.damages:
                notice(damage.sentence)
        return not found.problem

    def _seal_segment(self, segment: Segment) -> None:
        """Write an older segment's indexes and search them in their files from now on."""
        segment.finish()
        segment.seal(segment.offset_index.count, segment.time_index.count)

    def _retire_later(self, segments: list[Segment]) -> None:
        """Nothing may follow a truncated segment: remove the later ones from the log."""
        for segment in segments:
            self._notice(segment)("follows a truncated segment; renamed to .deleted")
            segment.retire()
            segment.close()

    def _load_transaction_index(self, segment: Segment, end_offset: int) -> bool:
        """Read the segment's `.txnindex`; False if it is missing or damaged."""
        name = self.home.naming.file(segment.base_offset, TRANSACTION_INDEX)
        if name not in self._sizes:
            return False
        data = self.home.files.read_bytes(name)
        if not check_transaction_index(data, segment.base_offset, end_offset):
            self.notices.append(f"{name}: damaged")
            return False
        segment.transaction_index = TransactionIndex(data)
        return True

    def _compare_transaction_index(self, segment: Segment) -> None:
        """Add a notice if the stored `.txnindex` differs from the rebuilt one."""
        name = self.home.naming.file(segment.base_offset, TRANSACTION_INDEX)
        stored = self.home.files.read_bytes(name) if self.home.files.exists(name) else b""
        if stored != segment.transaction_index.data:
            what = "wrong" if stored else "missing"
            self.notices.append(f"{name}: {what}, rebuilt from the batches")

    def _notice(self, segment: Segment) -> Callable[[str], None]:
        return lambda what: self.notices.append(f"{segment.name}: {what}")

    def _restore_producers(self, segments: list[Segment]) -> None:
        had_snapshots = bool(self.home.find_snapshots())
        restore_producers(
            *(self.home, segments, self.producers, self.notices),
            unindexed=self._unindexed,
            without_producers=self._without_producers,
        )
        if self.clean and self.producers.states and not had_snapshots:
            self.notices.append("the snapshots of producers are missing; read from the batches")
        for segment in self._unindexed:
            if self.clean:
                self._compare_transaction_index(segment)
            segment.store_transaction_index()

    def _read_epochs(self) -> None:
        data = self.home.read_epochs()
        if not data:  # brokers of 0.11 and later leave it empty beside old messages
            return
        try:
            if not data.endswith(b"\n") or data.count(b"\n") < 2:  # a number may lack digits
                raise CheckpointError(LEADER_EPOCHS, 0, "it is cut short")
            self._stored_epochs = LeaderEpochs.from_checkpoint(data)
        except CheckpointError as error:
            self.notices.append(f"{error}; the leader epochs were read from the batches")

    def _restore_epochs(self, segments: list[Segment], log_start_offset: int) -> None:
        epochs = self._stored_epochs
        has_epochs = any(epoch >= 0 for epoch, _ in self._epochs_seen)  # old messages have none
        if self.clean and has_epochs and not self._sizes.get(LEADER_EPOCHS):
            self.notices.append(f"{LEADER_EPOCHS}: missing, read from the batches")
        seen: Iterable[tuple[int, int]] = self._epochs_seen
        stored = [] if epochs is None else epochs.entries
        # The first entries are missing after a crash between DeleteRecords and its checkpoint.
        if epochs is None or (stored and segments and stored[0].start_offset > log_start_offset):
            epochs = LeaderEpochs()
            walks = (readable_headers(segment, self.notices) for segment in segments)
            headers = (header for _, header in chain(*walks))
            seen = chain(((it.leader_epoch, it.base_offset) for it in headers), stored)
        for epoch, start_offset in seen:
            if epoch > epochs.latest:
                epochs.assign(epoch, start_offset)
        if segments:
            epochs.truncate(log_start_offset, segments[-1].next_offset)
        epochs.truncate_from_start(log_start_offset)
        self.epochs = epochs
