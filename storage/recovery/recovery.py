"""Opening a partition's directory: from files to segments, producers and leader epochs.

Rules:

- What a stop interrupted is finished first (unfinished.py); index files without their `.log` go.
- The newest segment is always walked through, its indexes made anew. Without a clean shutdown
  marker so are all segments from the recovery point on.
- After a kill what was not yet flushed, from the recovery point on, ends behind its last valid
  batch, or message of an old format: whole, its offsets above those before it, its CRC right. What
  follows is cut off, and segments behind the cut are renamed to `.deleted`, so they stay for one
  more start.
- Of the metadata log, which no checkpoint knows, only what no valid batch follows is cut.
- What was flushed is never cut: below the recovery point, or after a clean stop, what is no valid
  batch is damage (damage.py). After a clean stop the log ends where checkpoint and snapshot say,
  also when batches at the end are lost; the log then goes on in a new segment.
- Older segments are trusted if their indexes may be theirs by size and last entry, and their last
  batches reach up to the next segment. The first read checks the rest (first_read.py).
- Producers come from the newest snapshot that can be read, and the batches behind it; aborted
  transactions from the `.txnindex`, or from the batches where those were walked without a marker.
- Leader epochs come from their checkpoint, or from the batches if that is missing or malformed.
- A log start behind the log end is believed if the leader epochs say the same after a kill: then
  what was deleted is lost anyway. Otherwise the checkpoint is wrong, and everything stays.
- A log of which no segment is left goes on where it ended, after a clean stop.

Kafka silently loses a torn last segment after a clean stop, producers whose snapshots are gone, and
epochs; it ends over a malformed checkpoint. This keeps them, and says so: every repair is a
sentence in `notices` that names the file.

Source: the documentation's chapter "Log", "Guarantees"; damaged directories given to Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain

from ...wire.errors import WireError
from ...wire.primitives import Buffer
from ..batch_walk import PEEK, walk
from ..checkpoints import LEADER_EPOCHS, PARTITION_METADATA, CheckpointError
from ..damage import Damage, given_up_to, known_gaps
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
from .damage_search import NOWHERE
from .first_read import EMPTY, LOST_AT_THE_END, Verification
from .producer_replay import readable_headers, restore_producers
from .segment_scan import scan
from .unfinished import finish_interrupted

_INDEXES = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)


@dataclass
class Recovery:
    """The work of opening one directory, done by `run`. Methods raise OSError."""

    home: PartitionDirectory
    clean: bool
    recovery_point: int
    index_interval_bytes: int
    now_ms: int
    notices: list[str]
    is_compacted: bool = False
    producers: ProducerStates = field(default_factory=ProducerStates)
    epochs: LeaderEpochs = field(default_factory=LeaderEpochs)
    log_start_offset: int = 0
    """Found by `run`."""
    _stored_epochs: LeaderEpochs | None = None
    _sizes: dict[str, int] = field(default_factory=dict)
    _epochs_seen: list[tuple[int, int]] = field(default_factory=list)
    _unindexed: list[Segment] = field(default_factory=list)
    """Segments whose aborted transactions have to be found again, oldest first."""
    _without_producers: set[int] = field(default_factory=set)
    _verification: Verification | None = None

    def run(self, topic_id: bytes, log_start_offset: int) -> list[Segment]:
        """Fill the fields above, repair the files and return the segments.

        `log_start_offset` is the checkpoint's. If all that is there lies below it, it is removed.
        """
        self.log_start_offset = log_start_offset
        home = self.home
        if not home.files.exists(PARTITION_METADATA):
            home.write_metadata(topic_id)
            self.notices.append(f"{PARTITION_METADATA}: missing, written anew")
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
        home.tidy_snapshots(segments)
        if segments and segments[-1].next_offset < self.log_start_offset:
            self.notices.append(f"all batches lie below the log start {self.log_start_offset}")
            for segment in reversed(segments):
                segment.remove()
            return []
        return [*segments, *home.continued(segments[-1])] if segments else []

    def _find_start(self, segments: list[Segment]) -> None:
        """Let the log start no earlier than its first segment, and not where nothing can be."""
        first, end = segments[0].base_offset, segments[-1].next_offset
        known = self._known_start
        if self.log_start_offset > end and (self.clean or self.log_start_offset != known):
            self.notices.append(
                f"the log start {self.log_start_offset} lies behind the log end {end}; not believed"
            )
            self.log_start_offset = known if known is not None and known <= end else first
        if self.clean and known is not None and max(known, self.log_start_offset) < first:
            self.notices.append(
                f"{segments[0].name}: segments are missing in front of it; the log began at {known}"
            )
        self.log_start_offset = max(self.log_start_offset, first)

    @property
    def _known_start(self) -> int | None:
        """Where the log starts at the earliest, as the leader epochs have it."""
        entries = self._stored_epochs.entries if self._stored_epochs is not None else []
        return entries[0].start_offset if entries else None

    def _all_gone(self) -> list[int]:
        """No segment is left: say so, and return the base of an empty one that takes the place of
        those that were there, none after a kill."""
        base = max(self.log_start_offset, self._known_start or 0)
        end = max([self.recovery_point, *self.home.find_snapshots()])
        if end <= base:
            return []
        self.notices.append(f"no segment is left of offsets {base} to {end - 1}")
        if not self.clean:
            return []
        segment = self.home.segment(base, now_ms=self.now_ms, index_interval_bytes=0)
        segment.begin()
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
                self.notices.append(f"{name}: removed, there is no log file to it")
        bases = bases or self._all_gone()
        segments = [self._segment(base) for base in bases]
        newest = len(bases) - 1
        first = newest if self.clean else containing(segments, self.recovery_point)
        gaps = known_gaps(self.home.files, list(self._sizes))
        verify = Verification(self.home, segments, self.notices, self.is_compacted, gaps)
        for index, segment in enumerate(segments):
            if index < first:
                self._trust(segment, bases[index + 1], verify)
            elif not self._check(segment, bases[index + 1] if index < newest else NOWHERE):
                self._give_up(segments[index + 1 :])
                return segments[: index + 1]
        if segments:
            self._end(segments[-1], gaps)
        return segments

    def _end(self, newest: Segment, gaps: list[tuple[int, int]]) -> None:
        """Let the log end no earlier than it did when it was closed cleanly."""
        flushed = self._flushed_to() if self.clean or newest.damages else 0
        end = newest.next_offset = given_up_to(gaps, newest.next_offset)
        if newest.damages and newest.damages[-1].next_offset == end < flushed:
            newest.damages[-1] = newest.damages[-1]._replace(next_offset=flushed)
        elif end < flushed < NOWHERE:
            place = (self.home.name, newest.name, newest.size, 0)
            newest.damages.append(Damage(*place, end, flushed, LOST_AT_THE_END))
        elif end < self.recovery_point and not self.clean:
            self._notice(newest)(f"ends at {end}, in front of the recovery point")
            self.home.sync([newest])  # a truncation that was interrupted must not be undone later
        if newest.damages:
            newest.next_offset = max(end, newest.damages[-1].next_offset)
        for damage in newest.damages:
            self._notice(newest)(damage.sentence)

    def _flushed_to(self) -> int:
        """What lies below this offset has reached the disk; NOWHERE: all does."""
        if not self.clean:
            return self.recovery_point
        newest_snapshot = max(self.home.find_snapshots(), default=0)
        return max(self.recovery_point, newest_snapshot) or NOWHERE

    def _segment(self, base: int) -> Segment:
        interval = self.index_interval_bytes
        segment = self.home.segment(base, now_ms=self.now_ms, index_interval_bytes=interval)
        segment.on_disk = True
        segment.modified_ms = self.home.files.modified_ms(segment.name)
        return segment

    def _trust(self, segment: Segment, next_base: int, verify: Verification) -> None:
        """Take over an older segment, looking only at its end and its indexes' ends."""
        size = self._sizes[segment.name]
        self._load_aborted(segment, next_base)
        offsets, times, doubt = self._index_counts(segment, size, next_base)
        segment.adopt(size, next_base, offsets, times)
        if doubt:
            verify.check(segment, doubt)
        else:
            segment.verifier = verify.check
            if not self._reaches(segment, next_base):
                segment.verify()

    def _reaches(self, segment: Segment, next_base: int) -> bool:
        """Whether the last batches are whole, and end where the next segment begins."""
        start = segment.offset_index.floor(RELATIVE_OFFSET_MAX)
        end = segment.base_offset
        try:
            for _, header, _, _ in walk(segment.file, start, segment.size, PEEK):
                end = header.last_offset + 1
        except WireError:
            return False
        finally:
            segment.file.release()
        return end == next_base or (self.is_compacted and end < next_base)

    def _index_counts(
        self, segment: Segment, log_size: int, next_base: int
    ) -> tuple[int, int, str]:
        """The numbers of index entries, and why the files may not be this segment's, or ""."""
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
        # An empty index may be right (large batches, no timestamps) or lost; the walk is the judge.
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
        """Walk through a segment and cut off what need not have been flushed; False if it was."""
        end = self._sizes[segment.name]
        notice = self._notice(segment)
        found = scan(
            *(self.home.name, segment, end),
            limit=limit,
            flushed_to=self._flushed_to(),
            torn_only=self.home.topic == CLUSTER_METADATA,
        )
        self._epochs_seen += found.epochs
        if not found.has_producers:
            self._without_producers.add(segment.base_offset)
        # The batches know better than the index, unless some of them are damaged.
        is_needed = self.clean and bool(segment.damages)
        loaded = is_needed and self._load_aborted(segment, segment.next_offset)
        if not loaded and (found.has_aborts or not self.clean):
            self._unindexed.append(segment)
        if found.problem:
            notice(f"{found.problem}; cut off {end - segment.size} bytes")
            segment.truncate(segment.size)
        elif limit < NOWHERE:
            self._seal(segment)
            for damage in segment.damages:
                notice(damage.sentence)
        return not found.problem

    def _seal(self, segment: Segment) -> None:
        """Write an older segment's indexes and search them in their files from now on."""
        segment.finish()
        segment.settle(segment.offset_index.count, segment.time_index.count)

    def _give_up(self, segments: list[Segment]) -> None:
        """Nothing can follow a cut: take the later segments out of the log."""
        for segment in segments:
            self._notice(segment)("follows a cut; renamed to .deleted")
            segment.retire()
            segment.close()

    def _load_aborted(self, segment: Segment, end_offset: int) -> bool:
        """Read the segment's `.txnindex`; False if there is none, or none that can be used."""
        name = self.home.naming.file(segment.base_offset, TRANSACTION_INDEX)
        if name not in self._sizes:
            return False
        data = self.home.files.read_bytes(name)
        if not check_transaction_index(data, segment.base_offset, end_offset):
            self.notices.append(f"{name}: damaged")
            return False
        segment.transaction_index = TransactionIndex(data)
        return True

    def _compare_aborted(self, segment: Segment) -> None:
        """Say so if the `.txnindex` is not what the batches say."""
        name = self.home.naming.file(segment.base_offset, TRANSACTION_INDEX)
        stored = self.home.files.read_bytes(name) if self.home.files.exists(name) else b""
        if stored != segment.transaction_index.data:
            what = "wrong" if stored else "missing"
            self.notices.append(f"{name}: {what}, made again from the batches")

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
            self.notices.append("the snapshots of producers are missing; the batches say the same")
        for segment in self._unindexed:
            if self.clean:
                self._compare_aborted(segment)
            segment.store_transaction_index()

    def _read_epochs(self) -> None:
        data = self.home.read_epochs()
        if data is None:
            return
        try:
            if not data.endswith(b"\n") or data.count(b"\n") < 2:  # a number may lack digits
                raise CheckpointError(LEADER_EPOCHS, 0, "it is cut short")
            self._stored_epochs = LeaderEpochs.from_checkpoint(data)
        except CheckpointError as error:
            self.notices.append(f"{error}; the leader epochs were taken from the batches")

    def _restore_epochs(self, segments: list[Segment], log_start_offset: int) -> None:
        epochs = self._stored_epochs
        if self.clean and segments and LEADER_EPOCHS not in self._sizes:
            self.notices.append(f"{LEADER_EPOCHS}: missing, taken from the batches")
        seen: Iterable[tuple[int, int]] = self._epochs_seen
        stored = [] if epochs is None else epochs.entries
        # The beginning is missing if a crash came between DeleteRecords and its checkpoint.
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
