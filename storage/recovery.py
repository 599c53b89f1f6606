"""Opening a partition's directory: from files to segments, producers and leader epochs.

Rules:

- What a stop interrupted is finished first: `.deleted` and `.cleaned` files go, `.swap` files take
  the place of the segments they cover, index files without their `.log` go.
- The newest segment is always walked through, its indexes made anew. Without a clean shutdown
  marker so are all segments from the recovery point on.
- A log ends behind its last valid batch: whole, of magic 2, its offsets above those before it, its
  CRC right. What follows is cut off, and segments behind the cut are renamed to `.deleted`, so they
  stay for one more start. After a clean stop nothing was torn, so a wrong CRC alone does not cut:
  the batch stays, as with Kafka, whose consumers then report it.
- Older segments are trusted if their indexes may be theirs by size and last entry; otherwise the
  indexes are made again.
- Producers come from the newest snapshot that can be read, and the batches behind it; aborted
  transactions from the `.txnindex`, or from the batches where those were walked without a marker.
- Leader epochs come from their checkpoint, or from the batches if that is missing or malformed.

Kafka silently loses a torn last segment after a clean stop, producers whose snapshots are gone, and
epochs; it ends over a malformed checkpoint. This keeps them, and says so: every repair is a
sentence in `notices` that names the file.

Left out: damage inside older segments (noticed by whoever reads it), and a `.txnindex` lost from an
older segment after a clean stop, which nothing gives away.
Source: the documentation's chapter "Log", "Guarantees"; damaged directories given to Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from ..wire.batch import BatchHeader, checksum
from ..wire.errors import WireError
from ..wire.primitives import Buffer
from .checkpoints import LEADER_EPOCHS, PARTITION_METADATA, CheckpointError
from .directory import Directory, File
from .epochs import LeaderEpochs
from .index import (
    OFFSET_ENTRY_SIZE,
    TIME_ENTRY_SIZE,
    TransactionIndex,
    check_offset_index,
    check_time_index,
    check_transaction_index,
)
from .naming import (
    CLEANED,
    DELETED,
    OFFSET_INDEX,
    SWAP,
    TIME_INDEX,
    TRANSACTION_INDEX,
    Naming,
)
from .partition_directory import PartitionDirectory
from .producers import ProducerStates
from .replay import find_marker, readable_headers, restore_producers
from .segment import RELATIVE_OFFSET_MAX, Segment, containing, walk

_CHUNK = 1 << 20
_INDEXES = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)


class Scan(NamedTuple):
    """What a walk through a whole segment found besides its indexes."""

    problem: str | None
    """What is wrong behind the last valid batch, or None."""
    epochs: list[tuple[int, int]]
    """Each rise of the leader epoch, and the offset it came with."""
    has_producers: bool
    has_aborts: bool


def scan(segment: Segment, end: int, *, strict: bool, notice: Callable[[str], None]) -> Scan:
    """Note every valid batch of the first `end` bytes; `segment.size` is then where they end.

    `strict`: a wrong CRC ends the walk too; otherwise it is noticed. Raises OSError.
    """
    segment.reset()
    epochs: list[tuple[int, int]] = []
    has_producers = has_aborts = False
    least = segment.base_offset
    doubtful: tuple[BatchHeader, int] | None = None
    problem = None
    try:
        for position, header, chunk, at in walk(segment.file, 0, end, _CHUNK, whole=True):
            base = header.base_offset
            if base < least or not 0 <= header.last_offset - base <= RELATIVE_OFFSET_MAX:
                raise WireError(f"the batch at byte {position} has offsets out of order")
            if header.last_offset - segment.base_offset > RELATIVE_OFFSET_MAX:
                raise WireError(f"the batch at byte {position} has offsets too high to be here")
            if doubtful is not None:
                segment.note(_believed(doubtful[0], base), doubtful[1])
                doubtful = None
            if checksum(chunk, at, header.size) != header.crc:
                if strict:
                    raise WireError(f"the batch at byte {position} has a wrong checksum")
                notice(f"the batch at byte {position} has a wrong checksum; it was kept")
                doubtful = header, position
                least = base + 1
                continue
            segment.note(header, position)
            least = header.last_offset + 1
            if header.producer_id >= 0:
                has_producers = True
                if header.is_control and not has_aborts:
                    marker = find_marker(memoryview(chunk)[at:], header)
                    has_aborts = marker is not None and not marker.commit
            if header.leader_epoch > (epochs[-1][0] if epochs else -1):
                epochs.append((header.leader_epoch, base))
    except WireError as error:
        problem = str(error)
    if doubtful is not None:
        segment.note(_believed(doubtful[0], doubtful[0].last_offset + 1), doubtful[1])
    return Scan(problem, epochs, has_producers, has_aborts)


def _believed(header: BatchHeader, next_base: int) -> BatchHeader:
    """What to index of a batch whose CRC is wrong: no time, and no offset that another has."""
    delta = min(header.last_offset_delta, next_base - header.base_offset - 1)
    return header._replace(max_timestamp=-1, last_offset_delta=delta)


@dataclass
class Recovery:
    """The work of opening one directory, done by `run`. Methods raise OSError."""

    home: PartitionDirectory
    clean: bool
    recovery_point: int
    index_interval_bytes: int
    now_ms: int
    notices: list[str]
    producers: ProducerStates = field(default_factory=ProducerStates)
    epochs: LeaderEpochs = field(default_factory=LeaderEpochs)
    _sizes: dict[str, int] = field(default_factory=dict)
    _epochs_seen: list[tuple[int, int]] = field(default_factory=list)
    _unindexed: list[Segment] = field(default_factory=list)
    """Segments whose aborted transactions have to be found again, oldest first."""
    _without_producers: set[int] = field(default_factory=set)

    def run(self, topic_id: bytes, log_start_offset: int) -> list[Segment]:
        """Fill `producers`, `epochs` and `notices`, repair the files and return the segments.

        If all that is there lies below the log start, it is removed.
        """
        home = self.home
        if not home.files.exists(PARTITION_METADATA):
            home.write_metadata(topic_id)
            self.notices.append(f"{PARTITION_METADATA}: missing, written anew")
        segments = self._open_segments()
        if segments:
            self._restore_producers(segments)
            log_start_offset = max(log_start_offset, segments[0].base_offset)
        self._restore_epochs(segments, log_start_offset)
        home.store_epochs(self.epochs)
        home.find_snapshots()
        if segments and not self.clean:
            home.take_snapshot(segments[-1].next_offset, self.producers)
        home.tidy_snapshots(segments)
        if segments and segments[-1].next_offset < log_start_offset:
            self.notices.append(f"all batches lie below the log start {log_start_offset}")
            for segment in reversed(segments):
                segment.remove()
            return []
        return segments

    def _open_segments(self) -> list[Segment]:
        self._sizes = finish_interrupted(self.home.files, self.home.naming, self.notices)
        parsed = {name: self.home.naming.parse_file(name) for name in self._sizes}
        log = self.home.naming.log_suffix
        bases = sorted(found[0] for found in parsed.values() if found and found[1] == log)
        for name, found in parsed.items():
            if found and found[1] in _INDEXES and found[0] not in bases:
                self.home.files.remove(name)
                self.notices.append(f"{name}: removed, there is no log file to it")
        segments = [self._segment(base) for base in bases]
        newest = len(bases) - 1
        first = newest if self.clean else containing(segments, self.recovery_point)
        for index, segment in enumerate(segments):
            if index < first:
                self._trust(segment, bases[index + 1])
            elif not self._check(segment, newest=index == newest):
                self._give_up(segments[index + 1 :])
                return segments[: index + 1]
        return segments

    def _segment(self, base: int) -> Segment:
        interval = self.index_interval_bytes
        segment = self.home.segment(base, now_ms=self.now_ms, index_interval_bytes=interval)
        segment.on_disk = True
        segment.modified_ms = self.home.files.modified_ms(segment.name)
        return segment

    def _trust(self, segment: Segment, next_base: int) -> None:
        """Take over an older segment, making its indexes again if they cannot be its own."""
        size = self._sizes[segment.name]
        self._load_aborted(segment, next_base)
        counts = self._index_counts(segment, size, next_base)
        if counts is not None:
            segment.adopt(size, next_base, *counts)
        else:
            notice = self._notice(segment)
            found = scan(segment, size, strict=False, notice=notice)
            if found.problem:
                notice(f"{found.problem}; what lies from there to the segment's end is not served")
            self._seal(segment)
            segment.next_offset = next_base

    def _index_counts(
        self, segment: Segment, log_size: int, next_base: int
    ) -> tuple[int, int] | None:
        """The numbers of index entries, or None if the files cannot be this segment's."""
        base = segment.base_offset
        notice = self._notice(segment)
        sizes = [self._sizes.get(self.home.naming.file(base, suffix)) for suffix in _INDEXES[:2]]
        if sizes[0] is None or sizes[1] is None:
            notice("an index was missing and was made again")
            return None
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
            notice("an index was damaged and was made again")
            return None
        # An empty index may be right (large batches, no timestamps) or lost; the walk is the judge.
        missing = log_size and (not times or (not offsets and log_size > self.index_interval_bytes))
        return None if missing else (offsets, times)

    def _end_entries(
        self, base: int, suffix: str, entry_size: int, count: int
    ) -> tuple[Buffer, Buffer]:
        file = self.home.files.file(self.home.naming.file(base, suffix))
        try:
            return file.read(0, entry_size), file.read((count - 1) * entry_size, entry_size)
        finally:
            file.close()

    def _check(self, segment: Segment, *, newest: bool) -> bool:
        """Walk through a segment and cut off what is not valid; False if anything was."""
        end = self._sizes[segment.name]
        notice = self._notice(segment)
        found = scan(segment, end, strict=not self.clean, notice=notice)
        self._epochs_seen += found.epochs
        if not found.has_producers:
            self._without_producers.add(segment.base_offset)
        loaded = self.clean and self._load_aborted(segment, segment.next_offset)
        if not loaded and (found.has_aborts or not self.clean):
            self._unindexed.append(segment)
        if found.problem:
            notice(f"{found.problem}; cut off {end - segment.size} bytes")
            segment.truncate(segment.size)
        elif not newest:
            self._seal(segment)
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

    def _notice(self, segment: Segment) -> Callable[[str], None]:
        return lambda what: self.notices.append(f"{segment.name}: {what}")

    def _restore_producers(self, segments: list[Segment]) -> None:
        restore_producers(
            *(self.home, segments, self.producers, self.notices),
            unindexed=self._unindexed,
            without_producers=self._without_producers,
        )
        for segment in self._unindexed:
            segment.store_transaction_index()

    def _restore_epochs(self, segments: list[Segment], log_start_offset: int) -> None:
        epochs = None
        if self.home.files.exists(LEADER_EPOCHS):
            try:
                epochs = LeaderEpochs.from_checkpoint(self.home.files.read_bytes(LEADER_EPOCHS))
            except CheckpointError as error:
                self.notices.append(f"{error}; the leader epochs were taken from the batches")
        seen: Iterable[tuple[int, int]] = self._epochs_seen
        if epochs is None:
            epochs = LeaderEpochs()
            walks = (readable_headers(segment, self.notices) for segment in segments)
            seen = ((header.leader_epoch, header.base_offset) for _, header in chain(*walks))
        for epoch, start_offset in seen:
            if epoch > epochs.latest:
                epochs.assign(epoch, start_offset)
        if segments:
            epochs.truncate_from_end(segments[-1].next_offset)
        epochs.truncate_from_start(log_start_offset)
        self.epochs = epochs


def finish_interrupted(directory: Directory, naming: Naming, notices: list[str]) -> dict[str, int]:
    """Remove and rename what a stop left behind; return the files and sizes that are left.

    A `.log.swap` replaces all segments whose base lies in its range. Raises OSError.
    """
    files = directory.files()
    for name in list(files):
        if name.endswith((DELETED, CLEANED)):
            directory.remove(name)
            del files[name]
    swaps = [name for name in files if name.endswith(SWAP)]
    for swap in swaps:
        parsed = naming.parse_file(swap)
        if parsed is None or parsed[1] != naming.log_suffix + SWAP:
            continue
        base = parsed[0]
        end = _end_offset(directory.file(swap), files[swap], base)
        for name in list(files):
            other = naming.parse_file(name)
            if other and other[1] in (naming.log_suffix, *_INDEXES) and base <= other[0] < end:
                directory.remove(name)
                del files[name]
        notices.append(f"{swap}: put into its place")
    for swap in swaps:
        name = swap.removesuffix(SWAP)
        directory.rename(swap, name)
        files[name] = files.pop(swap)
    return files


def _end_offset(file: File, size: int, base: int) -> int:
    """The offset behind the last batch of a file; at least the one behind `base`."""
    end = base + 1
    try:
        for _, header, _, _ in walk(file, 0, size):
            end = max(end, header.last_offset + 1)
    except WireError:
        return end
    finally:
        file.close()
    return end
