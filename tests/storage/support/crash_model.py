"""A log directory on a disk in memory, beside plain lists of what was appended to its partitions.

`World` does what a broker does and notes what it may rely on; `Promise` is that note at one moment,
and `Promise.check` opens a disk and holds it to the note. After a kill everything acknowledged is
there. After a power cut everything flushed is, and of the rest any of the batches, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from odradek.storage import Log, LogConfig, LogDirectory, LogDirectoryError, MemoryDisk
from odradek.wire.batch import read_header
from odradek.wire.records import (
    NewRecord,
    build_batch,
    end_transaction_batch,
)

from tests.storage.support.crash_checks import (
    Batch,
    check_epochs,
    check_indexes,
    check_producers,
    check_times,
    names,
    newest,
    served_batches,
)

TOPIC_ID = bytes(range(16))
PARTITIONS = (0, 1, 2)
COMPACTED = 2
"""This partition has `cleanup.policy=compact`."""
ASKED = 1 << 40
"""A `flush.messages` that is never reached: flushes happen when the test says so, and count."""


class Promised(NamedTuple):
    """What holds of one partition."""

    acked: tuple[Batch, ...]
    appending: Batch | None
    """May be there or not."""
    truncating: int | None
    """Batches that reach this offset may be there or not."""
    compacted: tuple[Batch, ...] | None
    """What a compaction makes of them; each may be there as it was or as it becomes."""
    start: int
    start_stored: int
    flushed: int


@dataclass
class Partition:
    log: Log
    acked: list[Batch]
    appending: Batch | None = None
    truncating: int | None = None
    compacted: tuple[Batch, ...] | None = None
    start: int = 0
    start_stored: int = 0
    flushed: int = 0

    def promised(self) -> Promised:
        return Promised(
            tuple(self.acked),
            *(self.appending, self.truncating, self.compacted),
            *(self.start, self.start_stored, self.flushed),
        )


class Promise(NamedTuple):
    """What a disk must hold, whatever happened to it."""

    partitions: tuple[Promised, ...]
    durable: bool
    config: LogConfig

    def check(self, disk: MemoryDisk, *, power: bool) -> None:
        """Open the disk, look, write on, stop cleanly and look again."""
        try:
            world = self.kept_by(disk, power=power)
        except LogDirectoryError as error:
            if not (self.may_be_unusable(power=power) and "meta.properties" in str(error)):
                raise
        else:
            world.go_on()

    def may_be_unusable(self, *, power: bool) -> bool:
        """Nobody made the directory durable, and no flush has done it yet."""
        return power and not self.durable and not any(it.flushed for it in self.partitions)

    def kept_by(self, disk: MemoryDisk, *, power: bool) -> World:
        """Open the disk, and look."""
        world = World(self.config, durable=self.durable, disk=disk)
        for index, promised in enumerate(self.partitions):
            world.check(index, promised, power=power)
        return world


class World:
    """A broker's log directory."""

    def __init__(self, config: LogConfig, *, durable: bool, disk: MemoryDisk | None = None) -> None:
        self.disk = MemoryDisk() if disk is None else disk
        self.durable = durable
        self.config = config
        self.now_ms = 0
        self.directory = LogDirectory.open(self.disk.directory(durable=durable), node_id=1)
        self.partitions = [Partition(self._open_log(index), []) for index in PARTITIONS]

    def promise(self) -> Promise:
        promised = tuple(partition.promised() for partition in self.partitions)
        return Promise(promised, self.durable, self.config)

    def _open_log(self, index: int) -> Log:
        config = self.config
        if index == COMPACTED:
            config = replace(config, cleanup_policy=frozenset({"compact"}))
        return self.directory.open_log("t", index, TOPIC_ID, config, self.now_ms)

    # What a broker does.

    def append(
        self,
        index: int,
        *,
        values: Sequence[bytes] = (b"x",),
        time: int = 0,
        gap: int = 0,
        epoch: int = 0,
        codec: int = 0,
        producer: int = -1,
        transactional: bool = False,
    ) -> None:
        log = self.partitions[index].log
        state = log.producers.states.get(producer)
        data = build_batch(
            [NewRecord(time + at, b"k%d" % at, value) for at, value in enumerate(values)],
            base_offset=log.log_end_offset + gap,
            leader_epoch=max(epoch, self._epoch(index)),
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            base_sequence=-1 if producer < 0 else 0 if state is None else state.last_sequence + 1,
            transactional=transactional,
            codec=codec,
        )
        self._put(index, bytes(data))

    def end_transaction(self, index: int, producer: int, *, commit: bool) -> None:
        log = self.partitions[index].log
        state = log.producers.states.get(producer)
        if state is None or state.txn_first_offset < 0:
            return
        marker = end_transaction_batch(
            commit,
            base_offset=log.log_end_offset,
            timestamp=0,
            producer_id=producer,
            producer_epoch=0,
            coordinator_epoch=0,
            leader_epoch=self._epoch(index),
        )
        self._put(index, bytes(marker))

    def _epoch(self, index: int) -> int:
        """Of the last batch or leader: epochs never fall."""
        partition = self.partitions[index]
        last = (read_header(batch.data).leader_epoch for batch in partition.acked[-1:])
        return max(0, partition.log.epochs.latest, *last)

    def _put(self, index: int, data: bytes) -> None:
        partition = self.partitions[index]
        header = read_header(data)
        batch = Batch(header.base_offset, header.last_offset, data)
        partition.appending = batch
        partition.log.append(data, header, self.now_ms)
        partition.acked.append(batch)
        partition.appending = None

    def flush(self, index: int) -> None:
        partition = self.partitions[index]
        partition.log.flush()
        partition.flushed = partition.log.log_end_offset

    def checkpoint(self) -> None:
        self.directory.checkpoint()
        for partition in self.partitions:
            partition.start_stored = partition.start

    def delete_records(self, index: int, before: int) -> None:
        partition = self.partitions[index]
        partition.start = max(partition.start, before)  # asked for; a crash may have done it
        partition.log.delete_records(before)

    def drop_oldest(self, index: int, count: int) -> None:
        partition = self.partitions[index]
        segments = partition.log.segments
        going = segments[: count + 1]
        if count:
            bases = [*(one.base_offset for one in going[1:]), partition.log.log_end_offset]
            partition.start = max(partition.start, bases[min(count, len(segments)) - 1])
        partition.log.delete_old_segments(self.now_ms, policy=lambda *_: count)
        partition.log.unlink_deleted(self.now_ms + self.config.file_delete_delay_ms - 1)

    def unlink_deleted(self, index: int) -> None:
        delay = self.config.file_delete_delay_ms
        self.partitions[index].log.unlink_deleted(self.now_ms + delay)

    def truncate(self, index: int, offset: int) -> None:
        partition = self.partitions[index]
        partition.truncating = offset
        partition.flushed = min(partition.flushed, offset)
        partition.log.truncate(offset)
        self.directory.checkpoint()
        partition.acked = [batch for batch in partition.acked if batch.last < offset]
        partition.truncating = None
        end = partition.log.log_end_offset
        partition.start = min(partition.start, end)
        partition.start_stored = min(partition.start_stored, end)
        partition.flushed = min(partition.flushed, end)

    def compact(self) -> None:
        """What it makes of the log is what it makes of a copy; that it keeps what it must is
        checked elsewhere, so here only that no key loses its newest record."""
        partition = self.partitions[COMPACTED]
        copy = World(self.config, durable=self.durable, disk=self.disk.kill())
        other = copy.partitions[COMPACTED].log
        if len(other.segments) < len(partition.log.segments):
            return  # an empty one, which a full disk left: the copy says nothing of the log
        other.compactor.cleaned_offset = partition.log.compactor.cleaned_offset
        other.compactor.compact(self.now_ms)
        partition.compacted = tuple(served_batches(other))
        partition.log.compactor.compact(self.now_ms)
        assert newest(partition.acked) == newest(partition.compacted)
        partition.acked, partition.compacted = list(partition.compacted), None

    def stop(self) -> None:
        self.directory.close()
        for partition in self.partitions:
            partition.start_stored = partition.start

    # What must hold.

    def check(self, index: int, promised: Promised, *, power: bool) -> None:
        """Hold a partition to what was promised; it has what is there from now on."""
        partition = self.partitions[index]
        log = partition.log
        served = served_batches(log)
        start = log.log_start_offset
        stored = promised.start_stored if self.durable or not power else 0
        if promised.truncating is not None:  # within a batch: it goes, and the end is before it
            ends = [batch.base for batch in promised.acked if batch.last >= promised.truncating]
            stored = min([stored, *ends])
        assert stored <= start <= max(promised.start, stored)

        lineage = [*promised.acked, *([promised.appending] if promised.appending else [])]
        assert all(one.last < other.base for one, other in pairwise(served)), names(served)
        assert {*served} <= {*lineage, *(promised.compacted or ())}, names(served)
        limit = promised.flushed if power else 1 << 62
        if promised.truncating is not None:
            limit = min(limit, promised.truncating)
        kept = promised.acked if promised.compacted is None else promised.compacted
        must = {batch.base for batch in kept if batch.last >= promised.start and batch.last < limit}
        assert must <= {batch.base for batch in served}, (must, names(served))
        if served:
            assert log.log_end_offset >= served[-1].last + 1

        gone = [batch for batch in lineage if batch.last < start]
        partition.acked = [*gone, *served]
        partition.start = start
        partition.start_stored = min(stored, start)
        partition.flushed = min(promised.flushed, log.log_end_offset)
        if promised.truncating is not None:
            partition.flushed = min(partition.flushed, promised.truncating)
        self.check_state(index)

    def check_state(self, index: int) -> None:
        """What is known of producers, epochs, times and places agrees with the batches."""
        partition = self.partitions[index]
        served = served_batches(partition.log)
        start = partition.log.log_start_offset
        assert served == [batch for batch in partition.acked if batch.last >= start]
        check_producers(partition.log, partition.acked)
        check_epochs(partition.log, served)
        check_indexes(partition.log)
        check_times(partition.log, served)

    def go_on(self) -> None:
        """The logs take batches, and a clean stop keeps them."""
        for index in PARTITIONS:
            self.append(index, values=(b"more", b"yet"), producer=7)
            self.check_state(index)
        self.stop()
        again = self.promise().kept_by(self.disk, power=False)
        assert again.directory.clean
        again.directory.close()
