"""One compaction of one log: reading and writing, in any thread, while the log goes on.

Rules:

- It reads the segments there were when it began; these never change. It writes files that end in
  `.cleaned`, one segment a group, with their indexes; compactor.py puts them into the log or throws
  them away.
- First the keys of the dirty section are collected, until the map is full; then all segments before
  that offset are filtered, the clean ones too.
- Files are opened through a directory object of its own and never mapped, since the log's own file
  objects belong to the log's thread.
- A damaged batch ends it, so damage is neither copied nor given a new CRC: the log stays as it is.
- `cancel` returns when no file will be opened any more: after it the partition's directory may be
  renamed, removed, and created again under its name.

Source: KIP-58; Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

from ...wire.batch import MAGIC, OVERHEAD, BatchHeader, checksum
from ...wire.errors import WireError
from ...wire.legacy.as_batches import is_intact
from ...wire.primitives import Buffer
from ..batch_walk import walk_batches
from ..config import LogConfig
from ..disk.directory import MAPPED_FROM, Directory, File
from ..flush import is_flush_configured
from ..index import TransactionIndex
from ..naming import CLEANED, Naming
from ..producers import AbortedTransaction
from ..segment import Segment
from .filter import BatchFilter, LastBatches, RetainedBatch, Transactions, payload_of
from .offset_map import offset_map
from .plan import Plan, grouped

_READ_BYTES = 1 << 20
_WRITE_BYTES = 1 << 20


class Cancelled(Exception):
    """The compaction was cancelled."""


class CleanedNaming(Naming):
    """The names of segments that are not in the log yet."""

    def file(self, offset: int, suffix: str) -> str:
        """The name of a segment's file."""
        return super().file(offset, suffix) + CLEANED


class SourceSegment(NamedTuple):
    """A segment as it was when the compaction began."""

    segment: Segment
    name: str
    size: int
    start: int
    """Where in the file the dirty section begins."""
    next_base: int


class CleanedSegment(NamedTuple):
    """A segment that was written, and those that it replaces."""

    sources: list[Segment]
    segment: Segment


@dataclass(frozen=True)
class CompactionTask:
    """The task of a compaction, with the facts of the log for it."""

    plan: Plan
    sources: list[SourceSegment]
    aborted: list[AbortedTransaction]
    last_batches: LastBatches
    config: LogConfig
    now_ms: int
    buffer_bytes: int
    load_factor: float


class Compaction:
    """One compaction. Read `cleaned`, `end_offset` and the counts when `run` has returned.

    `error` is why it failed, or None: OSError, WireError (a damaged batch), Cancelled.
    """

    def __init__(self, files: Directory, naming: Naming, task: CompactionTask) -> None:
        self.task = task
        self.cleaned: list[CleanedSegment] = []
        self.end_offset = task.plan.first_dirty
        """The first dirty offset after this compaction."""
        self.records_read = 0
        self.records_kept = 0
        self.error: Exception | None = None
        self._naming = CleanedNaming(naming.separator, naming.digits, naming.log_suffix)
        self._files = files
        self._guard = Lock()
        self._cancelled = False
        self._offsets = offset_map(task.buffer_bytes, task.load_factor)

    def cancel(self) -> None:
        """Make `run` end soon, without opening another file."""
        with self._guard:
            self._cancelled = True

    def run(self) -> None:
        """Read and write. Call once, in any thread."""
        try:
            self._collect_keys()
            last = self._offsets.latest_offset
            sources = self.task.sources
            self._filter_all([one for one in sources if one.segment.base_offset <= last])
            self.end_offset = max(self.end_offset, last + 1)
        except (OSError, WireError, Cancelled) as error:
            self.error = error

    def _collect_keys(self) -> None:
        start = self.task.plan.first_dirty
        self._covers(start - 1)  # the clean section holds no key twice
        # Markers before `start` are not read.
        aborted = (entry for entry in self.task.aborted if entry.last_offset >= start)
        transactions = Transactions(aborted)
        for source in self.task.sources:
            if source.next_base <= start:
                continue
            for header, batch in self._batches(source, source.start):
                if header.is_control:
                    transactions.end(header, batch)
                elif not transactions.is_aborted(header) and header.count:
                    payload = payload_of(header, batch)
                    if self._offsets.add(payload, header.count, header.base_offset, start):
                        return
                if header.last_offset >= start:
                    self._covers(header.last_offset)
            self._covers(source.next_base - 1)

    @property
    def _old_tombstones_until_ms(self) -> int:
        """Tombstones of magic 0 and 1 are removed from segments last written to by this time."""
        task = self.task
        clean = (one.segment for one in task.sources)
        times = [one.modified_ms for one in clean if one.base_offset < task.plan.first_dirty]
        return times[-1] - task.config.delete_retention_ms if times else 0

    def _covers(self, offset: int) -> None:
        self._offsets.latest_offset = max(self._offsets.latest_offset, offset)

    def _filter_all(self, sources: list[SourceSegment]) -> None:
        task = self.task
        batch_filter = BatchFilter(
            self._offsets,
            Transactions(task.aborted),
            task.last_batches,
            end=task.plan.end,
            now_ms=task.now_ms,
            delete_retention_ms=task.config.delete_retention_ms,
            keeps_old_formats=task.config.keeps_old_formats,
        )
        of = {source.segment: source for source in sources}
        for group in grouped([*of], task.config, task.plan.end):
            self._filter([of[segment] for segment in group], batch_filter)

    def _filter(self, group: list[SourceSegment], batch_filter: BatchFilter) -> None:
        first, last = group[0].segment, group[-1].segment
        batch_filter.aborted_kept.clear()
        with self._opening():
            segment = Segment(
                *(self._files, self._naming, first.base_offset),
                now_ms=last.created_ms,
                index_interval_bytes=self.task.config.index_interval_bytes,
            )
            segment.create_file()
        self.cleaned.append(CleanedSegment([source.segment for source in group], segment))
        writer = _Writer(segment)
        try:
            for source in group:
                modified_ms = source.segment.modified_ms
                batch_filter.keeps_old_tombstones = modified_ms > self._old_tombstones_until_ms
                for header, batch in self._batches(source, 0):
                    if checksum(batch, 0, len(batch)) != header.crc and (
                        header.magic == MAGIC or not is_intact(batch, 0, header)  # its own CRC
                    ):
                        raise WireError(f"the batch at offset {header.base_offset} is damaged")
                    self.records_read += header.count
                    kept = batch_filter.keep(header, batch)
                    if kept is not None:
                        self.records_kept += kept.records
                        writer.write(kept)
            writer.flush()
            segment.transaction_index = TransactionIndex()
            for entry in batch_filter.aborted_kept:
                segment.transaction_index.append(entry)
            segment.modified_ms = last.modified_ms
            segment.next_offset = group[-1].next_base
            with self._opening():
                segment.finish()
                if is_flush_configured(self.task.config):  # the replaced segments were flushed
                    segment.file.sync()
        finally:
            segment.close()

    def _batches(
        self, source: SourceSegment, start: int
    ) -> Iterator[tuple[BatchHeader, memoryview]]:
        """Each complete batch from byte `start` on. Raises WireError, OSError, Cancelled."""
        file = self._files.file(source.name)
        try:
            with self._opening():
                file.size()  # opens it
            copies = _CopyingFile(file, self._check)
            read, view = None, memoryview(b"")
            for _, header, chunk, at in walk_batches(
                copies, start, source.size, _READ_BYTES, whole=True
            ):
                if chunk is not read:
                    read, view = chunk, memoryview(chunk)
                yield header, view[at : at + header.batch_length + OVERHEAD]
        except WireError as error:
            raise WireError(f"{source.name}: {error}") from None
        finally:
            file.close()

    def _check(self) -> None:
        if self._cancelled:
            raise Cancelled

    @contextmanager
    def _opening(self) -> Iterator[None]:
        """Inside, files may be opened: `cancel` waits."""
        with self._guard:
            self._check()
            yield


class _Writer:
    """Writes consecutive batches, many with one write."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._waiting: list[Buffer] = []
        self._bytes = 0
        self._position = 0

    def write(self, kept: RetainedBatch) -> None:
        self._segment.add_batch(kept.header, self._segment.size)
        # A view would keep the whole buffer that was read in memory.
        self._waiting.append(bytes(kept.data))
        self._bytes += len(kept.data)
        if self._bytes >= _WRITE_BYTES:
            self.flush()

    def flush(self) -> None:
        if self._waiting:
            self._segment.file.write(b"".join(self._waiting), self._position)
            self._position += self._bytes
            self._waiting, self._bytes = [], 0


class _CopyingFile:
    """A file, read as copies, until the compaction is cancelled."""

    def __init__(self, file: File, check: Callable[[], None]) -> None:
        self._file = file
        self._check = check

    def read(self, position: int, size: int) -> Buffer:
        """A copy of some bytes. Raises OSError, Cancelled."""
        self._check()
        return _copied(self._file, position, size)


def _copied(file: File, position: int, size: int) -> Buffer:
    """Bytes of a file, never as a view into a mapping."""
    if size <= MAPPED_FROM:
        return file.read(position, size)
    whole = bytearray(size)
    for at in range(0, size, MAPPED_FROM):
        piece = min(MAPPED_FROM, size - at)
        whole[at : at + piece] = file.read(position + at, piece)
    return whole
