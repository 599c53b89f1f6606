"""A log directory on a disk in memory, beside plain lists of what was appended to its partitions.

`World` does what a broker does and notes what it may rely on; `Promise` is that note at one moment,
and `Promise.check` opens a disk and holds it to the note. After a kill everything acknowledged is
there. After a power cut everything flushed is, and of the rest any of the batches, in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from odradek.storage import Log, LogConfig, LogDirectory, LogDirectoryError, MemoryDisk
from odradek.storage.producers import AbortedTransaction, ProducerStates
from odradek.wire.batch import BatchHeader, batches, checksum, read_header
from odradek.wire.records import (
    NewRecord,
    build_batch,
    end_transaction_batch,
    read_marker,
    read_records,
)

TOPIC_ID = bytes(range(16))
PARTITIONS = (0, 1)
ASKED = 1 << 40
"""A `flush.messages` that is never reached: flushes happen when the test says so, and count."""


class Batch(NamedTuple):
    base: int
    last: int
    data: bytes


class Promised(NamedTuple):
    """What holds of one partition."""

    acked: tuple[Batch, ...]
    appending: Batch | None
    """May be there or not."""
    truncating: int | None
    """Batches that reach this offset may be there or not."""
    start: int
    start_stored: int
    flushed: int


@dataclass
class Partition:
    """One partition, and what was done to it."""

    log: Log
    acked: list[Batch]
    appending: Batch | None = None
    truncating: int | None = None
    start: int = 0
    start_stored: int = 0
    flushed: int = 0

    def promised(self) -> Promised:
        return Promised(
            tuple(self.acked),
            *(self.appending, self.truncating),
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
        except LogDirectoryError as error:  # as is said of a directory that nobody made durable
            may_be = power and not self.durable and not any(it.flushed for it in self.partitions)
            if not (may_be and "meta.properties" in str(error)):
                raise
        else:
            world.go_on()

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
        return self.directory.open_log("t", index, TOPIC_ID, self.config, self.now_ms)

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
        """One batch; a producer goes on with its sequence."""
        log = self.partitions[index].log
        state = log.producers.states.get(producer)
        data = build_batch(
            [NewRecord(time + at, b"k%d" % at, value) for at, value in enumerate(values)],
            base_offset=log.log_end_offset + gap,
            leader_epoch=max(epoch, log.epochs.latest),
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            base_sequence=-1 if producer < 0 else 0 if state is None else state.last_sequence + 1,
            transactional=transactional,
            codec=codec,
        )
        self._put(index, bytes(data))

    def end_transaction(self, index: int, producer: int, *, commit: bool) -> None:
        """A marker, if the producer has an open transaction."""
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
            leader_epoch=max(0, log.epochs.latest),
        )
        self._put(index, bytes(marker))

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
        partition.acked = [batch for batch in partition.acked if batch.last < offset]
        partition.truncating = None
        end = partition.log.log_end_offset
        partition.start = min(partition.start, end)
        partition.start_stored = min(partition.start_stored, end)
        partition.flushed = min(partition.flushed, end)

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
        assert stored <= start <= max(promised.start, stored)

        lineage = [*promised.acked, *([promised.appending] if promised.appending else [])]
        allowed = [batch for batch in lineage if batch.last >= start]
        assert is_subsequence(served, allowed), (names(served), names(allowed))
        least = promised.start
        limit = promised.flushed if power else 1 << 62
        if promised.truncating is not None:
            limit = min(limit, promised.truncating)
        must = [batch for batch in promised.acked if batch.last >= least and batch.last < limit]
        assert is_subsequence(must, served), (names(must), names(served))
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


def served_batches(log: Log, max_bytes: int = 300) -> list[Batch]:
    """Every batch a consumer gets that reads from the log start on."""
    found: list[Batch] = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        data = log.read(offset, max_bytes)
        whole = [(at, header) for at, header in batches(data)]
        if not whole:
            break
        for at, header in whole:
            assert checksum(data, at, header.size) == header.crc
            batch = bytes(data[at : at + header.size])
            found.append(Batch(header.base_offset, header.last_offset, batch))
        offset = found[-1].last + 1
    return found


def is_subsequence(few: Sequence[Batch], many: Sequence[Batch]) -> bool:
    rest = iter(many)
    return all(any(one == other for other in rest) for one in few)


def names(found: Sequence[Batch]) -> list[str]:
    return [f"{batch.base}..{batch.last}" for batch in found]


def check_producers(log: Log, lineage: Sequence[Batch]) -> None:
    """The producers are those that a replay of every batch gives.

    One of which nothing is left in the segments may be forgotten.
    """
    first = log.segments[0].base_offset
    expected, aborted = replayed(lineage)
    for producer, state in log.producers.states.items():
        other = expected.states[producer]
        assert (state.epoch, state.last_sequence, state.last_offset, state.txn_first_offset) == (
            *(other.epoch, other.last_sequence, other.last_offset, other.txn_first_offset),
        )
    headers = [read_header(batch.data) for batch in lineage if batch.base >= first]
    left = {header.producer_id for header in headers if header.producer_id >= 0}
    assert left <= set(log.producers.states)
    indexed = [one for it in log.segments for one in it.transaction_index.overlapping(0, 1 << 62)]
    assert indexed == [one for one in aborted if one.last_offset >= first]


def replayed(lineage: Sequence[Batch]) -> tuple[ProducerStates, list[AbortedTransaction]]:
    producers = ProducerStates()
    aborted = []
    for batch in lineage:
        header = read_header(batch.data)
        if header.is_control:
            marker = read_marker(batch.data)
            ended = producers.end_transaction(header, commit=marker.commit, coordinator_epoch=0)
            aborted += [ended] if ended is not None else []
        elif header.producer_id >= 0:
            producers.update(header)
    return producers, aborted


def check_epochs(log: Log, served: Sequence[Batch]) -> None:
    for batch in served:
        epoch = read_header(batch.data).leader_epoch
        assert log.epochs.epoch_at(max(batch.base, log.log_start_offset)) == epoch


def check_indexes(log: Log) -> None:
    """Every entry names a batch of the log as it is; so does every place found by offset."""
    for segment in (one for one in log.segments if one.on_disk):
        places: dict[int, BatchHeader] = dict(walked(segment.file.read(0, segment.size)))
        lasts = {header.last_offset - segment.base_offset: at for at, header in places.items()}
        for at in range(segment.offset_index.count):
            relative, position = segment.offset_index._at(at)
            assert lasts[relative] == position
        latest = {}
        for header in places.values():
            latest.setdefault(header.max_timestamp, header.last_offset - segment.base_offset)
        for at in range(segment.time_index.count):
            time, relative = segment.time_index._at(at)
            assert latest[time] == relative
            before = [
                one for one in places.values() if one.last_offset - segment.base_offset < relative
            ]
            assert all(one.max_timestamp < time for one in before)
        for position, header in places.items():
            for offset in {header.base_offset, header.last_offset}:
                assert segment.locate(offset) == (position, header.base_offset, header.size)


def walked(data: bytes | memoryview | bytearray) -> Iterator[tuple[int, BatchHeader]]:
    at = 0
    while at < len(data):
        header = read_header(data, at)
        yield at, header
        at += header.size


def check_times(log: Log, served: Sequence[Batch]) -> None:
    """A time is found at the first record as late as it."""
    records = [
        (record.offset, record.timestamp)
        for batch in served
        for record in read_records(batch.data)
        if record.offset >= log.log_start_offset
    ]
    below = log.segments[0].base_offset < log.log_start_offset
    for time in {time for _, time in records} | {1 << 40}:
        found = log.find_timestamp(time)
        first = next((one for one in records if one[1] >= time), None)
        if found is None:  # Kafka looks in one segment only, its deleted records included
            assert first is None or below
        else:
            assert (found.offset, found.timestamp) == first
