"""What is known of a log, held against the batches that were appended to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from odradek.storage import Log
from odradek.storage.producers import AbortedTransaction, ProducerStates
from odradek.wire.batch import BatchHeader, batches, checksum, read_header
from odradek.wire.records import read_marker, read_records


class Batch(NamedTuple):
    base: int
    last: int
    data: bytes


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


def newest(found: Iterable[Batch]) -> dict[bytes, tuple[int, bytes]]:
    """Offset and value of the last record of each key."""
    return {
        bytes(record.key or b""): (record.offset, bytes(record.value or b""))
        for batch in found
        if not read_header(batch.data).is_control
        for record in read_records(batch.data)
    }


def names(found: Sequence[Batch]) -> list[str]:
    return [f"{batch.base}..{batch.last}" for batch in found]


def check_producers(log: Log, lineage: Sequence[Batch]) -> None:
    """The producers are those that a replay of every batch gives.

    One of which nothing is left in the segments may be forgotten. And where a transaction began
    may be, if that batch is gone and a power cut took the snapshot that told of it: then it begins
    with what is left, which no reader can tell from the truth.
    """
    first = log.segments[0].base_offset
    left = [batch for batch in lineage if batch.base >= first]
    expected, aborted = replayed(lineage)
    at_least, aborted_at_least = replayed(left)
    for producer, state in log.producers.states.items():
        other = expected.states[producer]
        assert (state.epoch, state.last_sequence, state.last_offset) == (
            *(other.epoch, other.last_sequence, other.last_offset),
        )
        began = {
            states.states[producer].txn_first_offset
            for states in (expected, at_least)
            if producer in states.states
        }
        assert state.txn_first_offset in began
    headers = [read_header(batch.data) for batch in left]
    assert {it.producer_id for it in headers if it.producer_id >= 0} <= set(log.producers.states)
    indexed = [one for it in log.segments for one in it.transaction_index.overlapping(0, 1 << 62)]
    markers = [one.last_offset for one in aborted if one.last_offset >= first]
    assert [one.last_offset for one in indexed] == markers
    assert {*indexed} <= {*aborted, *aborted_at_least}


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
    # Kafka looks in one segment only, by the times of its deleted and compacted records too.
    may_miss = log.segments[0].base_offset < log.log_start_offset
    may_miss |= any(read_header(batch.data).count == 0 for batch in served)
    for time in {time for _, time in records} | {1 << 40}:
        found = log.reader.find_timestamp(time)
        first = next((one for one in records if one[1] >= time), None)
        if found is None:
            assert first is None or may_miss
        else:
            assert (found.offset, found.timestamp) == first
