"""A segment: the batches from one base offset on, in one `.log` file, and its indexes.

The `.log` holds batches and nothing else. Entries are added to the indexes by Kafka's rules, as
seen in its files. For each batch:

1. a batch with a later timestamp than all before it becomes the latest: (its max timestamp, its
   last offset);
2. if more than `index.interval.bytes` lie between the start of the last indexed batch and the start
   of this one, this one is added to the offset index, and the latest to the time index if it is
   later than the last entry;
3. at a roll and at a clean stop the latest is added to the time index, by the same condition.

So the first batch never has an entry. Step 2 does not count the bytes of the batch itself.

Because consumers mostly read what was just written, the exact positions of the last few hundred
batches are kept in memory; before those the offset index says where to begin reading headers.

A write that fails leaves the segment as it was: what may have reached the file is beyond `size` and
is truncated, at once or before the next write. Nothing beyond `size` is ever read.

Source: KIP-33; files of Kafka 4.3.1. Left out: when to roll and what may be deleted (log.py).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress

from ..wire.batch import OVERHEAD, BatchHeader
from ..wire.primitives import Buffer
from .batch_walk import SMALL_READ_BYTES, walk_batches
from .damage import Damage, valid_run_at, valid_runs
from .disk.directory import Directory
from .disk.in_flight import StoredBytes
from .index import NO_TIMESTAMP, OffsetIndex, TimeIndex, TransactionIndex
from .naming import DELETED, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX, Naming

RELATIVE_OFFSET_MAX = (1 << 31) - 1
"""An index entry counts offsets from the segment's base in 31 bits."""
_NOBODY: frozenset[int] = frozenset()  # each call makes another one
_RECENT = 256  # batches whose positions are in memory: between this many and twice as many


class Segment:
    """One segment. `next_offset` follows its last batch; of an older segment that was not read yet
    it is the base offset of the next one. `verify` sets `damages` (in order), `open_producers`
    (those whose transactions it leaves open) and `ended_producers` (those with a marker here)."""

    __slots__ = (
        "_bases",
        "_bytes_since_entry",
        "_directory",
        "_has_excess",
        "_is_shared",
        "_lasts",
        "_must_sync",
        "_naming",
        "_positions",
        "_stored",
        "base_offset",
        "created_ms",
        "damages",
        "ended_producers",
        "file",
        "first_timestamp",
        "index_interval_bytes",
        "is_retired",
        "max_timestamp",
        "max_timestamp_offset",
        "modified_ms",
        "name",
        "next_offset",
        "offset_index",
        "on_disk",
        "open_producers",
        "size",
        "time_index",
        "transaction_index",
        "verifier",
    )

    def __init__(
        self,
        directory: Directory,
        naming: Naming,
        base_offset: int,
        *,
        now_ms: int,
        index_interval_bytes: int,
    ) -> None:
        self._directory = directory
        self._naming = naming
        self.on_disk = False
        self.is_retired = False
        self.verifier: Callable[[Segment], None] | None = None
        self.damages: list[Damage] = []
        self.open_producers: frozenset[int] = _NOBODY
        self.ended_producers: frozenset[int] = _NOBODY
        self.base_offset = base_offset
        self.created_ms = now_ms
        self.modified_ms = now_ms
        self.index_interval_bytes = index_interval_bytes
        self.name = naming.log(base_offset)
        self.file = directory.file(self.name)
        self.transaction_index = TransactionIndex()
        self.reset()

    def reset(self) -> None:
        """Forget all batches, before `add_batch` is called for each of them."""
        self.size = 0
        self.next_offset = self.base_offset
        self.first_timestamp = NO_TIMESTAMP
        self.max_timestamp = NO_TIMESTAMP
        self.max_timestamp_offset = self.base_offset
        self.offset_index = OffsetIndex()
        self.time_index = TimeIndex()
        self._bytes_since_entry = 0
        self._bases = array("q")
        self._lasts = array("q")
        self._positions = array("q")
        self._stored: tuple[int, int, int] | None = None
        self._has_excess = False
        self._is_shared = self._must_sync = False

    # Writing.

    def append(self, batch: Buffer, header: BatchHeader, now_ms: int) -> None:
        """Write one batch after the last one. An OSError leaves everything as it was."""
        is_new = not self.on_disk
        try:
            if is_new:
                self._create()
            elif self._has_excess or self._is_shared:
                self._truncate_excess()
            self.file.write(batch, self.size)
        except OSError:
            self._has_excess = self.on_disk
            with suppress(OSError):  # if this fails, the next write tries it again first
                self._truncate_excess()
                if is_new:
                    self._uncreate()
            raise
        self.add_batch(header, self.size)
        self.modified_ms = now_ms

    def create_file(self) -> None:
        """Create the file, empty, so that a start sees where the log ends. Raises OSError."""
        if not self.on_disk:
            self._create()

    def _create(self) -> None:
        self.file.create()
        self.on_disk = True
        if self._directory.durable:
            self._directory.sync()

    def _uncreate(self) -> None:
        self.on_disk = False
        self.file.release()
        self._directory.remove(self.name)

    def add_batch(self, header: BatchHeader, position: int) -> None:
        """Record in memory the batch at `position`, the end of those recorded so far."""
        base = header[0]  # base_offset; by index, for this runs for every batch
        size = header[1] + OVERHEAD
        last = base + header[6]
        if header[8] > self.max_timestamp:
            self.max_timestamp = header[8]
            self.max_timestamp_offset = last
        if self._bytes_since_entry > self.index_interval_bytes:
            self.offset_index.append(last - self.base_offset, position)
            self._index_latest()
            self._bytes_since_entry = 0
        self._bytes_since_entry += size
        if not position:
            self.first_timestamp = header[8]
        lasts = self._lasts
        self._bases.append(base)
        lasts.append(last)
        self._positions.append(position)
        if len(lasts) == 2 * _RECENT:
            del self._bases[:_RECENT], lasts[:_RECENT], self._positions[:_RECENT]
        self.size = position + size
        self.next_offset = last + 1

    def _index_latest(self) -> None:
        self.time_index.append(self.max_timestamp, self.max_timestamp_offset - self.base_offset)

    def store_indexes(self) -> None:
        """Write the index files if they have grown. An OSError leaves everything valid.

        Without entries there is nothing to write yet.
        """
        if self.on_disk and (self.offset_index.count or self.transaction_index):
            self._write_indexes()

    def _write_indexes(self, names: Collection[str] | None = None) -> None:
        if self._has_excess:
            self._truncate_excess()
        counts = self.offset_index.count, self.time_index.count, len(self.transaction_index)
        if counts != self._stored:
            self._write_index(self._name(OFFSET_INDEX), self.offset_index.data, names)
            self._write_index(self._name(TIME_INDEX), self.time_index.data, names)
            if self.transaction_index or names is None or self._name(TRANSACTION_INDEX) in names:
                self.store_transaction_index()
            self._stored = counts

    def _write_index(self, name: str, data: bytearray, names: Collection[str] | None) -> None:
        if names is None or name in names:
            self._directory.write_if_changed(name, data)
        else:
            self._directory.write_atomic(name, data)

    def store_transaction_index(self) -> None:
        """Write the transaction index's file, or remove it if there are no aborted transactions."""
        if self.transaction_index:
            name = self._name(TRANSACTION_INDEX)
            self._directory.write_atomic(name, self.transaction_index.data)
        else:
            self._directory.remove(self._name(TRANSACTION_INDEX))

    def finish(self, names: Collection[str] | None = None) -> None:
        """Complete the files, as at a stop or when a newer segment begins. Raises OSError.

        More batches may follow. The file's date is that of the last append, which retention uses
        where records have no timestamps. `names`: of all files of the directory, if they were
        listed; then no other file is looked for.
        """
        self._index_latest()
        if self.on_disk:
            self._write_indexes(names)
            self._directory.set_modified_ms(self.name, self.modified_ms)
            if self._directory.durable:
                self.file.sync()

    def seal(self, offset_entries: int, time_entries: int) -> None:
        """Take no more batches, and search the indexes in their files from now on."""
        self.offset_index.seal(self._directory.file(self._name(OFFSET_INDEX)), offset_entries)
        self.time_index.seal(self._directory.file(self._name(TIME_INDEX)), time_entries)
        self._bases, self._lasts, self._positions = array("q"), array("q"), array("q")

    def take_over_files(
        self, size: int, next_offset: int, offset_entries: int, time_entries: int
    ) -> None:
        """Take over the files of an older segment without reading its batches. Raises OSError."""
        self.size = size
        self.next_offset = next_offset
        self.seal(offset_entries, time_entries)
        self.max_timestamp, relative = self.time_index.last()
        self.max_timestamp_offset = self.base_offset + relative

    def replace_indexes(self, twin: Segment) -> None:
        """Replace the indexes by those of a segment object to which the same batches were added."""
        self.offset_index, self.time_index = twin.offset_index, twin.time_index
        self.max_timestamp = twin.max_timestamp
        self.max_timestamp_offset = twin.max_timestamp_offset
        self._index_latest()

    def rewrite_indexes(self) -> None:
        """Write the offset and time index, and search them in their files from now on."""
        counts = self.offset_index.count, self.time_index.count
        self._directory.write_atomic(self._name(OFFSET_INDEX), self.offset_index.data)
        self._directory.write_atomic(self._name(TIME_INDEX), self.time_index.data)
        self.seal(*counts)

    def _truncate_excess(self) -> None:
        if self._has_excess or self._is_shared:
            self.file.truncate(self.size)
            if self._must_sync:
                self.file.sync()
                self._directory.sync()
            self._has_excess = self._is_shared = self._must_sync = False

    # Sharing.

    def identity(self) -> tuple[int, int, int, int] | None:
        """Which file it has, and in which state (Directory.identity). Raises OSError."""
        return self._directory.identity(self.name)

    def numbers(self) -> tuple[int, ...]:
        """The state in memory besides its indexes, for `set_numbers`."""
        return (
            *(self.base_offset, self.index_interval_bytes, self.size, self.next_offset),
            *(self.first_timestamp, self.max_timestamp, self.max_timestamp_offset),
            self._bytes_since_entry,
        )

    def set_numbers(self, numbers: tuple[int, ...]) -> None:
        """Be as the segment that had these. Where its batches are, only the index says."""
        _, _, self.size, self.next_offset, *rest = numbers
        self.first_timestamp, self.max_timestamp, self.max_timestamp_offset, since = rest
        self._bytes_since_entry = since

    def share(self, *, synced: bool) -> None:
        """Its file belongs to an image as well from now on, so the next write goes to a copy of its
        own; `synced`: what is in it has to survive a power cut. Raises OSError."""
        if self._has_excess:
            self._truncate_excess()
        if self._directory.shares_files:
            self._is_shared = True
            self._must_sync = synced or self._directory.durable

    def image(self) -> dict[str, bytes | None]:
        """Its files after a clean stop: the bytes of each, None for what the file has already.
        Raises OSError."""
        if not self.on_disk:
            return {}
        log, offsets, times, transactions = self._names()
        files: dict[str, bytes | None] = {log: None}
        if self.offset_index.is_sealed:
            return dict.fromkeys(self.files())
        self._directory.set_modified_ms(log, self.modified_ms)
        latest = self.max_timestamp, self.max_timestamp_offset - self.base_offset
        files |= {offsets: bytes(self.offset_index.data), times: self.time_index.with_last(*latest)}
        if self.transaction_index:
            files[transactions] = bytes(self.transaction_index.data)
        return files

    # Reading.

    def verify(self) -> None:
        """Check every batch, once after the directory was opened. Raises OSError."""
        verifier, self.verifier = self.verifier, None
        if verifier is not None:
            try:
                verifier(self)
            except OSError:
                self.verifier = verifier
                raise

    def read(
        self,
        offset: int,
        max_bytes: int,
        upto: int,
        whole_first: bool,
        keeps_cut: bool = True,
        later: bool = False,
    ) -> Buffer | StoredBytes | None:
        """Batches from the one that contains `offset` on; None if all end before it. With `later`
        many bytes are read only when they are asked for.

        The rules are those of LogReader.read. Raises WireError, OSError.
        """
        found = self.locate(offset)
        if found is None:
            return None
        position, base_offset, size = found
        if base_offset >= upto:
            return b""
        end = valid_run_at(self.damages, offset, self.size).end if self.damages else self.size
        if upto < self.next_offset:
            end = self.position_of(upto, position, end)
        if max_bytes < end - position:
            end = position + max_bytes
        if end < position + size:
            if whole_first:
                end = position + size
            elif not keeps_cut:
                return b""
        if end <= position:
            return b""
        size = end - position
        return self.file.read_later(position, size) if later else self.file.read(position, size)

    def locate(self, offset: int) -> tuple[int, int, int] | None:
        """Position, base offset and size of the first batch that ends at or after `offset`."""
        lasts = self._lasts
        start, limit = (
            valid_run_at(self.damages, offset, self.size) if self.damages else (0, self.size)
        )
        if lasts and not self.damages and (offset >= self._bases[0] or not self._positions[0]):
            index = bisect_left(lasts, offset)
            if index == len(lasts):
                return None
            position = self._positions[index]
            following = index + 1
            end = self._positions[following] if following < len(lasts) else self.size
            return position, self._bases[index], end - position
        start = max(start, self.offset_index.floor(offset - self.base_offset))
        for position, header, _, _ in walk_batches(self.file, start, limit, SMALL_READ_BYTES):
            if header.base_offset + header.last_offset_delta >= offset:
                return position, header.base_offset, header.batch_length + OVERHEAD
        return None

    def position_of(self, upto: int, start: int = 0, end: int | None = None) -> int:
        """The position of the first batch in [start, end) whose base offset is `upto` or more, or
        `end`. There must be no damage in between."""
        end = self.size if end is None else end
        bases = self._bases
        if bases and upto >= bases[0] and not self.damages:
            index = bisect_left(bases, upto)
            return self._positions[index] if index < len(bases) else self.size
        start = max(start, self.offset_index.floor(upto - 1 - self.base_offset))
        for position, header, _, _ in walk_batches(self.file, start, end, SMALL_READ_BYTES):
            if header.base_offset >= upto:
                return position
        return end

    def offset_from(self, position: int) -> int:
        """An offset not below any batch before `position`, as close as the index gives it."""
        relative = self.offset_index.offset_from(position)
        return self.next_offset if relative is None else self.base_offset + relative

    def headers(self, offset: int = 0) -> Iterator[tuple[int, BatchHeader]]:
        """Position and header of each batch from the one that contains `offset` on, without known
        damage. Raises WireError, OSError."""
        start = 0
        if offset > self.base_offset and not self.damages:
            found = self.locate(offset)
            start = self.size if found is None else found[0]
        for run in valid_runs(self.damages, self.size):
            for position, header, _, _ in walk_batches(self.file, max(start, run.start), run.end):
                if header.last_offset >= offset:
                    yield position, header

    @property
    def largest_timestamp(self) -> int:
        """Of all records; if they have none, when the file was last written to."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.modified_ms

    # Removing.

    def truncate(self, size: int) -> None:
        """Truncate the file. Its batches have to be added again afterwards. Raises OSError."""
        self.file.truncate(size)

    def sync_names(self) -> None:
        """Sync the directory, so that created and removed files are durable. Raises OSError."""
        self._directory.sync()

    def files(self) -> list[str]:
        return [name for name in self._names() if self._directory.exists(name)]

    def close(self) -> None:
        self.file.close()
        self.offset_index.close()
        self.time_index.close()

    def retire(self) -> None:
        """Rename the files to end in `.deleted`. Readers that still have the segment can read on.

        Once the first file, the `.log`, is renamed, `is_retired` is set. Raises OSError.
        """
        log, *indexes = self._names()
        if self.on_disk:
            self._directory.rename(log, log + DELETED)
        self.is_retired = True
        self.name += DELETED
        self.file.path += DELETED
        for name in indexes:
            if self.on_disk and self._directory.exists(name):
                self._directory.rename(name, name + DELETED)
        self.offset_index.renamed(DELETED)
        self.time_index.renamed(DELETED)

    def remove(self) -> None:
        """Unlink the files. Raises OSError."""
        self.close()
        if self.on_disk:
            for name in self._names():
                self._directory.remove(name)

    def _names(self) -> list[str]:
        return [self.name, *map(self._name, (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX))]

    def _name(self, suffix: str) -> str:
        return self._naming.file(self.base_offset, suffix) + (DELETED if self.is_retired else "")


def containing(segments: list[Segment], offset: int) -> int:
    """The index of the segment whose range contains `offset`; 0 if it is before all of them."""
    return max(0, bisect_right(segments, offset, key=_base_offset) - 1)


def _base_offset(segment: Segment) -> int:
    return segment.base_offset
