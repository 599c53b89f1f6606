"""SegmentWriter: records of Arrow, or batches as they are, into a partition's directory.

    make_data_directory("/data", {"orders": 2})
    with SegmentWriter("/data", "orders", 0, codec="zstd") as writer:
        for batch in batches:
            writer.write(batch)

Rules:

- The files are those of a broker's log, written by storage: segments with their indexes, leader
  epochs, a snapshot of producers, `partition.metadata`. The marker of a clean stop is removed from
  the data directory, so that a broker looks at what is new.
- Nothing stands under a final name before `finish`. What was written is in a directory whose name
  is that of one being deleted: a broker that finds it after a crash removes it.
- A partition without segments gets all of them at once. One that has some gets the new ones after
  them, segment by segment, from the oldest on.
- Tasks that do not know their offsets yet write to `stage` and let one place `publish` all of it:
  there, base offsets are set in the headers, which no checksum covers.
- While a broker has the directory open, nothing is published: PlaceError.

Left out: syncs to disk (a broker does not either), and the topic in the metadata log
(data_directory.py): a real Kafka sets segments of a topic that it does not know aside.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from errno import EIO
from struct import Struct
from types import TracebackType

import numpy as np
import pyarrow as pa

from ....storage.checkpoints import (
    CLEAN_SHUTDOWN,
    LEADER_EPOCHS,
    LOCK,
    PARTITION_METADATA,
    format_epochs,
    read_partition_metadata,
)
from ....storage.config import NEVER, LogConfig
from ....storage.disk.directory import Directory, Locked
from ....storage.log import Log
from ....storage.naming import DELETE, SNAPSHOT, TRANSACTION_INDEX, naming_of, renamed_suffix
from ....storage.stored_epochs import latest_stored_epoch
from ....wire.batch import BatchHeader, assign, batches, read_header
from ....wire.errors import Refused
from ....wire.primitives import Buffer, random_id
from .decoder import batch_heads
from .encoder import BATCH_BYTES, RECORDS_IN_BATCH, encode
from .listing import PlaceError, Segment, list_segments
from .runs import last_offsets

SEGMENT_BYTES = 1 << 30
_LOCK_WAIT_S = 10.0
_OFFSET = Struct(">q")
_EPOCH = Struct(">i")
_EPOCH_AT = 12


@dataclass(frozen=True)
class Staged:
    """Segments that a writer has written and not published. Can be sent to another process."""

    directory: str
    """The data directory."""
    topic: str
    partition: int
    path: str
    """Where the files are."""
    base_offset: int
    next_offset: int
    records: int
    size: int
    """Bytes of all batches."""
    keeps_offsets: bool
    naming: str = "kafka"

    @property
    def inner(self) -> str:
        """The partition's directory as it is to be."""
        return os.path.join(self.path, self._name)

    @property
    def final(self) -> str:
        """The partition's directory."""
        return os.path.join(self.directory, self._name)

    @property
    def _name(self) -> str:
        return naming_of(self.naming).directory(self.topic, self.partition)

    def discard(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


class SegmentWriter:
    """Writes one partition. A context manager: `finish` at its end, `abort` after an exception."""

    def __init__(
        self,
        directory: str | os.PathLike[str],
        topic: str,
        partition: int,
        *,
        codec: str = "none",
        level: int | None = None,
        records_in_batch: int = RECORDS_IN_BATCH,
        batch_bytes: int = BATCH_BYTES,
        segment_bytes: int = SEGMENT_BYTES,
        base_offset: int | None = None,
        keep_offsets: bool = False,
        topic_id: bytes | None = None,
        naming: str = "kafka",
        now_ms: int | None = None,
        job: bytes = b"",
    ) -> None:
        """`job`: up to 8 bytes, by which `discard_staged` finds what was not published.
        `base_offset`: of the first record, and the log start of a new partition; None goes on
        where the partition ends when it is published. `keep_offsets`: each record keeps the one in
        the column `offset`. `topic_id`: None takes that in the partition's directory, or a random
        one. The other options are those of `encode`, and the topic config `segment.bytes`.
        """
        self._home = os.fspath(directory)
        self._topic, self._partition, self._naming = topic, partition, naming
        self._keeps_offsets = keep_offsets or base_offset is not None
        self._now_ms = int(time.time() * 1000) if now_ms is None else now_ms
        self._keep_offsets = keep_offsets
        self._codec, self._level = codec, level
        self._records_in_batch, self._batch_bytes = records_in_batch, batch_bytes
        self.records = self.size = 0
        self._base_offset = base_offset or 0
        names = naming_of(naming)
        unique = job + os.urandom(16 - len(job))
        self._path = os.path.join(
            self._home, names.renamed_directory(topic, partition, unique, DELETE)
        )
        final = os.path.join(self._home, names.directory(topic, partition))
        self._log = Log.open(
            *(Directory(self._path), topic, partition),
            topic_id=topic_id or _topic_id(final) or random_id(),
            config=LogConfig(segment_bytes=segment_bytes, segment_ms=NEVER),
            now_ms=self._now_ms,
            clean=True,
            log_start_offset=self._base_offset,
            naming=names,
        )
        self._is_open = True

    @property
    def next_offset(self) -> int:
        """The offset of the next record; counted from 0 if it is only known when published."""
        return self._log.log_end_offset

    def write(self, records: pa.RecordBatch | pa.Table) -> None:
        """Write records, as `encode` takes them. Raises ValueError, OSError."""
        for batch in encode(
            records,
            base_offset=self._log.log_end_offset,
            keep_offsets=self._keep_offsets,
            codec=self._codec,
            level=self._level,
            records_in_batch=self._records_in_batch,
            batch_bytes=self._batch_bytes,
            now_ms=self._now_ms,
        ):
            self._append(batch, read_header(batch))

    def write_batches(self, buffer: Buffer) -> None:
        """Write whole batches of magic 2 as they are, with their offsets, as a Fetch response holds
        them; an incomplete last one is left out. Their leader epoch becomes 0.

        Raises ValueError for offsets that do not ascend, WireError for other bytes, OSError.
        """
        self._keeps_offsets = True
        with memoryview(buffer) as view:
            for position, header in batches(view):
                batch = bytearray(view[position : position + header.size])
                assign(batch, 0, header.base_offset, 0)
                self._append(batch, header._replace(leader_epoch=0))

    def _append(self, batch: Buffer, header: BatchHeader) -> None:
        try:
            self._log.append(batch, header, self._now_ms)
        except Refused as error:
            raise OSError(EIO, str(error), self._path) from error
        self.records += header.count
        self.size += header.size

    def stage(self) -> Staged:
        """Complete the files and leave them unpublished. Raises OSError."""
        self._is_open = False
        end = self._log.log_end_offset
        try:
            self._log.close()
        except Refused as error:
            raise OSError(EIO, str(error), self._path) from error
        return Staged(
            *(self._home, self._topic, self._partition, self._path, self._base_offset, end),
            *(self.records, self.size, self._keeps_offsets, self._naming),
        )

    def finish(self) -> list[Segment]:
        """Complete the files and publish them; return the partition's segments that are new.

        Raises PlaceError if the partition has these offsets already or a broker has the directory
        open, OSError; nothing has been published then.
        """
        staged = self.stage()
        try:
            return publish([staged])
        except BaseException:
            staged.discard()
            raise

    def abort(self) -> None:
        """Remove what was written; does nothing after `stage` or `finish`."""
        if self._is_open:
            self._is_open = False
            self._log.close(clean=False)
            shutil.rmtree(self._path, ignore_errors=True)

    def __enter__(self) -> SegmentWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.abort()
        elif self._is_open:
            self.finish()


def publish(staged: Sequence[Staged]) -> list[Segment]:
    """Put what writers have staged for one partition into its directory, in this order; return the
    new segments.

    Raises PlaceError if the offsets that are to be kept are not after those before them, if it is
    of several partitions, or if a broker has the directory open; Damaged if the partition ends in
    an incomplete batch; OSError. Then everything is as it
    was, but where the disk failed while segments were added to others: those added stay.
    """
    full = [each for each in staged if each.records or each.next_offset > each.base_offset]
    if len({(each.directory, each.topic, each.partition) for each in staged}) > 1:
        raise PlaceError("segments of several partitions cannot be published as one")
    if not full:
        for each in staged:
            each.discard()
        return []
    first, final = full[0], full[0].final
    with _locked(first.directory):
        before = list_segments(final) if os.path.isdir(final) else []
        end = _log_end(before)
        epoch = max(0, latest_stored_epoch(Directory(final)))
        plans = []
        for each in full:
            if each.keeps_offsets and each.base_offset < end:
                raise PlaceError(
                    f"{final}: offset {each.base_offset} is to be written where {end} is the next"
                )
            shift = 0 if each.keeps_offsets else end - each.base_offset
            plans.append((each, shift))
            end = each.next_offset + shift
        _gather(plans, epoch)
        Directory(first.directory).remove(CLEAN_SHUTDOWN)
        if any(segment.size for segment in before):
            _add(first.inner, final)
        else:
            _replace(first.inner, final, first.path)
    for each in staged:
        each.discard()
    old = {segment.base_offset for segment in before if segment.size}
    return [each for each in list_segments(final) if each.base_offset not in old]


def publish_rest(staged: Staged, last_crc: int) -> bool:
    """Go on with `publish` of one set that keeps its offsets, after a crash in the middle of it.

    `last_crc`: of its last batch. False if nothing of it is published and its files are gone: it is
    to be written again. Raises PlaceError if something else was written to the partition
    meanwhile, and as `publish` does.
    """
    with _locked(staged.directory):
        before = list_segments(staged.final) if os.path.isdir(staged.final) else []
        end, is_there = _log_end(before), os.path.isdir(staged.inner)
        if _crc_before(before, staged.next_offset) == last_crc:
            staged.discard()
            return True
        following = [each.base_offset for each in list_segments(staged.inner)] if is_there else []
        if end > staged.base_offset and following[:1] == [end]:
            _add(staged.inner, staged.final)
            staged.discard()
            return True
    if end > staged.base_offset:
        raise PlaceError(
            f"{staged.final} was written to from offset {staged.base_offset} on while new segments "
            "were put into it"
        )
    if is_there:
        publish([staged])
    return is_there


def last_crc(staged: Staged) -> int:
    """The checksum of its last batch; it is the same wherever the batch is."""
    segments = [each for each in list_segments(staged.inner) if each.size]
    return int(batch_heads(segments[-1])["crc"][-1]) if segments else 0


def log_end(partition: str) -> int:
    """The offset after the last batch in a partition's directory; 0 if there is none. Raises
    Damaged if that batch is incomplete."""
    return _log_end(list_segments(partition) if os.path.isdir(partition) else [])


def discard_staged(directory: str, job: bytes, kept: Collection[str] = ()) -> None:
    """Remove what writers of a job have left in a data directory, but for these paths."""
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        is_ours = f".{job.hex()}" in name and renamed_suffix(name) == DELETE
        if is_ours and path not in kept:
            shutil.rmtree(path, ignore_errors=True)


def _crc_before(segments: Sequence[Segment], offset: int) -> int | None:
    """The checksum of the batch that ends before this offset."""
    for segment in segments:
        if segment.base_offset < offset and (segment.next_base or offset) >= offset:
            heads = batch_heads(replace(segment, may_be_torn=False))
            found = np.flatnonzero(last_offsets(heads) == offset - 1)
            return int(heads["crc"][found[0]]) if len(found) else None
    return None


def _log_end(segments: Sequence[Segment]) -> int:
    """The offset after the last batch of a partition. Raises Damaged if that is incomplete."""
    end = 0
    for segment in segments[-1:]:
        lasts = last_offsets(batch_heads(replace(segment, may_be_torn=False)))
        end = int(lasts[-1]) + 1 if len(lasts) else segment.base_offset
    return end


def _gather(plans: Sequence[tuple[Staged, int]], epoch: int) -> None:
    """Bring all files into the first one's directory, with the offsets that they will have."""
    home, _ = plans[0]
    if len(plans) == 1 and not plans[0][1] and not epoch:
        return
    for staged, shift in plans:
        for segment in list_segments(staged.inner):
            _rebase(segment, shift, epoch)
            stem = os.path.splitext(segment.path)[0]
            name = naming_of(staged.naming).file(segment.base_offset + shift, "")
            for path in _files_of(stem):
                os.replace(path, os.path.join(home.inner, f"{name}.new{path[len(stem) :]}"))
    start = plans[0][0].base_offset + plans[0][1]
    for name in os.listdir(home.inner):
        path = os.path.join(home.inner, name)
        if ".new." in name:
            os.replace(path, os.path.join(home.inner, name.replace(".new.", ".")))
        elif name.endswith(SNAPSHOT):
            os.unlink(path)
    Directory(home.inner).write_atomic(LEADER_EPOCHS, format_epochs([(epoch, start)]))


def _files_of(stem: str) -> list[str]:
    directory, name = os.path.split(stem)
    return [
        os.path.join(directory, each)
        for each in os.listdir(directory)
        if os.path.splitext(each)[0] == name and not each.endswith(SNAPSHOT)
    ]


def _rebase(segment: Segment, shift: int, epoch: int) -> None:
    """Move the offsets of all batches in a segment, and set their leader epoch."""
    stem = os.path.splitext(segment.path)[0]
    if shift and os.path.exists(stem + TRANSACTION_INDEX):
        raise PlaceError(f"{segment.path}: aborted transactions keep their offsets")
    heads = batch_heads(segment)
    descriptor = os.open(segment.path, os.O_RDWR)
    try:
        for position, base in zip(
            heads["position"].tolist(), heads["base_offset"].tolist(), strict=True
        ):
            if shift:
                os.pwrite(descriptor, _OFFSET.pack(base + shift), position)
            os.pwrite(descriptor, _EPOCH.pack(epoch), position + _EPOCH_AT)
    finally:
        os.close(descriptor)


def _replace(inner: str, final: str, staging: str) -> None:
    """Put a whole partition in the place of one without records."""
    if os.path.isdir(final):
        os.rename(final, os.path.join(staging, "replaced"))
    os.rename(inner, final)


def _add(inner: str, final: str) -> None:
    """Put segments after those of a partition, each with its `.log` last."""
    # The snapshot in a new directory knows nothing of the producers before.
    numbered = (name for name in os.listdir(inner) if name[0].isdigit())
    names = [name for name in numbered if not name.endswith(SNAPSHOT)]
    for stem in sorted({os.path.splitext(name)[0] for name in names}):
        of_segment = [name for name in names if os.path.splitext(name)[0] == stem]
        for name in sorted(of_segment, key=lambda each: each.endswith((".log", ".kafka"))):
            os.replace(os.path.join(inner, name), os.path.join(final, name))


def _topic_id(final: str) -> bytes | None:
    path = os.path.join(final, PARTITION_METADATA)
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        try:
            return read_partition_metadata(file.read(), path)
        except ValueError as error:
            raise PlaceError(str(error)) from error


@contextmanager
def _locked(home: str) -> Iterator[None]:
    """Hold a data directory's lock; other writers hold it for moments, a broker all the time."""
    deadline = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            lock = Directory(home).lock(LOCK)
            break
        except Locked:
            if time.monotonic() > deadline:
                raise PlaceError(f"{home} is in use by a broker") from None
            time.sleep(0.05)
    try:
        yield
    finally:
        lock.release()
