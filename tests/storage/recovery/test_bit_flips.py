"""One bit changed, or a tail lost or made up, anywhere in any file: nothing wrong is ever served.

The log directory has an older segment and a newest one, both with a transaction that was aborted,
and a log start inside the first. It is opened as after a clean stop and as after a kill. What is
served is compared byte by byte with what was appended. Leader epochs and base offsets are not under
a batch's CRC: the epoch that stands there is believed, as Kafka does, and so is the offset of the
very last batch; that of any other would not fit in front of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import NamedTuple

import pytest
from odradek.storage import Log, LogConfig, LogDirectory, LogDirectoryError, MemoryDisk
from odradek.storage.checkpoints import (
    CLEAN_SHUTDOWN,
    LOG_STARTS,
    META_PROPERTIES,
    PARTITION_METADATA,
)
from odradek.wire.batch import batches, checksum, read_header
from odradek.wire.errors import Error, Refused
from odradek.wire.records import build_batch, end_transaction_batch

TOPIC_ID = bytes(range(16))
CONFIG = LogConfig(segment_bytes=430, index_interval_bytes=0)
LOG_START = 1
ANSWERED = {Error.CORRUPT_MESSAGE, Error.KAFKA_STORAGE_ERROR, Error.OFFSET_OUT_OF_RANGE}
BASE_OFFSET, LEADER_EPOCH = range(8), range(12, 16)
NO_MARKER = "after a kill"
MARKER = "after a clean stop"


class Made(NamedTuple):
    """A directory that was closed cleanly."""

    disk: MemoryDisk
    appended: dict[int, bytes]
    """Base offset: batch."""
    producers: dict[int, tuple[int, int]]
    aborted: list[tuple[int, ...]]


@cache
def made() -> Made:
    disk = MemoryDisk()
    directory = LogDirectory.open(disk.directory(), node_id=1, new_id=lambda: TOPIC_ID)
    log = directory.open_log("t", 0, TOPIC_ID, CONFIG, 0)
    appended = {}

    def put(data: bytes) -> None:
        header = read_header(data)
        log.append(data, header, 0)
        appended[header.base_offset] = data

    for number in range(2):
        for at, transactional in enumerate((False, True)):
            state = log.producers.states.get(at)
            batch = build_batch(
                [(10 * number + at, None, b"%d" % number * 9, ())] * 2,
                base_offset=log.log_end_offset,
                leader_epoch=number,
                producer_id=at,
                producer_epoch=0,
                base_sequence=0 if state is None else state.last_sequence + 1,
                transactional=transactional,
                codec=at,
            )
            put(bytes(batch))
        marker = end_transaction_batch(
            False,
            base_offset=log.log_end_offset,
            timestamp=10 * number,
            producer_id=1,
            producer_epoch=0,
            coordinator_epoch=0,
            leader_epoch=number,
        )
        put(bytes(marker))
        plain = [(10 * number + 5, b"k", b"plain", ())]
        put(bytes(build_batch(plain, base_offset=log.log_end_offset, leader_epoch=number)))
    log.delete_records(LOG_START)
    assert len(log.segments) == 2
    producers, aborted = producers_of(log), aborted_of(log)
    directory.close()
    return Made(disk, appended, producers, aborted)


def producers_of(log: Log) -> dict[int, tuple[int, int]]:
    states = log.producers.states.items()
    return {producer: (state.last_sequence, state.txn_first_offset) for producer, state in states}


def aborted_of(log: Log) -> list[tuple[int, ...]]:
    found = [log.reader.aborted_transactions(one.base_offset, one.size) for one in log.segments]
    return sorted({tuple(entry) for entries in found for entry in entries})


def directory_of(way: str) -> MemoryDisk:
    disk = made().disk.kill()
    if way == NO_MARKER:
        disk.directory().remove(CLEAN_SHUTDOWN)
    return disk


def files() -> list[str]:
    return [name for name in made().disk.files() if name not in (CLEAN_SHUTDOWN, ".lock")]


def opened(disk: MemoryDisk) -> Log | None:
    """The log of a directory; None if that is refused for a reason that the directory gives."""
    try:
        directory = LogDirectory.open(disk.directory(), node_id=1)
    except LogDirectoryError as error:
        if META_PROPERTIES in str(error) or "belongs to" in str(error):
            return None
        raise
    return directory.open_log("t", 0, TOPIC_ID, CONFIG, 0)


def served(log: Log) -> dict[int, bytes]:
    """Every batch that a read at any offset gives, by base offset."""
    found: dict[int, bytes] = {}
    end = min(log.log_end_offset, 100)
    for offset in range(log.log_start_offset, end):
        try:
            data = bytes(log.read(offset, 150))
        except Refused as refused:
            if refused.error not in ANSWERED:
                raise
            continue
        for at, header in batches(data):
            batch = data[at : at + header.size]
            assert checksum(batch, 0, header.size) == header.crc
            assert found.setdefault(header.base_offset, batch) == batch
    return found


def check_answered(act: Callable[[], object]) -> None:
    """What a client may ask either works or is refused."""
    try:
        act()
    except Refused as refused:
        if refused.error not in ANSWERED:
            raise


def believed(batch: bytes) -> bytes:
    """A batch without what its CRC does not cover and a reader cannot check."""
    return batch[BASE_OFFSET.stop : LEADER_EPOCH.start] + batch[LEADER_EPOCH.stop :]


def look(disk: MemoryDisk, file: str, must: set[int], moved: int = -1) -> None:
    """Open a damaged directory: it serves what `must` be there, and nothing that never was.

    The batch at `moved` may be found at another offset.
    """
    log = opened(disk)
    if log is None:
        assert file == META_PROPERTIES
        return
    found = served(log)
    for base, batch in found.items():
        appended = made().appended
        assert believed(batch) == believed(appended[base if base in appended else moved])
    assert must <= set(found), f"lost: {must - set(found)}"
    for time in (0, 5, 11, 15):
        check_answered(lambda time=time: log.reader.find_timestamp(time))  # type: ignore[misc]
    check_answered(lambda: aborted_of(log))
    if must == readable():
        assert producers_of(log) == made().producers
        assert aborted_of(log) == made().aborted
    plain = build_batch([(0, None, b"more", ())], base_offset=log.log_end_offset, leader_epoch=9)
    log.append(plain, read_header(plain), 0)
    assert log.read(log.log_end_offset - 1, 1) == plain
    log.close()


def readable(log_start: int = LOG_START) -> set[int]:
    last = {base: read_header(data).last_offset for base, data in made().appended.items()}
    return {base for base in last if last[base] >= log_start}


def in_front(file: str, byte: int) -> set[int]:
    """The batches that end in front of this byte, and those of other segments before it."""
    base = int(file.split("/")[1].split(".")[0])
    at, found = 0, {one for one in readable() if one < base}
    for one in sorted(one for one in made().appended if one >= base):
        at += len(made().appended[one])
        if at <= byte and one in readable():
            found.add(one)
    return found


def must_be_served(file: str, byte: int) -> set[int]:
    if file.endswith(".log"):
        return in_front(file, byte)
    if file == LOG_STARTS or file.endswith(PARTITION_METADATA):
        return set()  # another number; or another topic's id: set aside as -stray
    return readable()


def moved_by(file: str, byte: int) -> int:
    """The very last batch, if this byte belongs to its base offset; else -1."""
    last = max(made().appended)
    start = made().disk.files()[file] - len(made().appended[last])
    is_newest = file == max(name for name in files() if name.endswith(".log"))
    return last if is_newest and byte - start in BASE_OFFSET else -1


def flips(step: int, bits: Callable[[], list[int]]) -> Iterator[tuple[str, int, int]]:
    for file in files():
        first = sum(file.encode()) % step
        for byte in range(first, made().disk.files()[file], step):
            for bit in bits():
                yield file, byte, bit


def flip_all(way: str, found: Iterator[tuple[str, int, int]]) -> None:
    for file, byte, bit in found:
        disk = directory_of(way)
        disk.flip(file, byte, bit)
        try:
            look(disk, file, must_be_served(file, byte), moved_by(file, byte))
        except BaseException as error:
            error.add_note(f"bit {bit} of byte {byte} of {file}, {way}")
            raise


@pytest.mark.parametrize("way", [MARKER, NO_MARKER])
def test_a_flipped_bit_is_never_served(way: str) -> None:
    random = Random(1)
    flip_all(way, flips(17, lambda: [random.randrange(8)]))


@pytest.mark.long
@pytest.mark.parametrize(("way", "bits"), [(MARKER, 8), (NO_MARKER, 4)])
def test_no_flipped_bit_is_ever_served(way: str, bits: int) -> None:
    random = Random(2)
    flip_all(way, flips(1, lambda: random.sample(range(8), bits)))


def spoil_all(way: str, step: int) -> None:
    """Each file without its tail, and with a tail of nonsense, at every length."""
    for file in files():
        data = made().disk.read_bytes(file)
        lost = [
            (f"the first {size} bytes", data[:size], size) for size in range(0, len(data), step)
        ]
        made_up = [
            (f"{size} bytes of {name} behind it", data + tail[:size], len(data))
            for name, tail in nonsense(data).items()
            for size in range(1, min(len(tail), 100), 3 * step)
        ]
        for what, content, kept in (*lost, *made_up):
            disk = directory_of(way)
            disk.write_bytes(file, content)
            try:
                look(disk, file, must_be_served(file, kept))
            except BaseException as error:
                error.add_note(f"{file} with {what}, {way}")
                raise


def nonsense(data: bytes) -> dict[str, bytes]:
    return {
        "zeros": bytes(100),
        "ones": b"\xff" * 100,
        "noise": Random(3).randbytes(100),
        "its own beginning": data[:100],
    }


@pytest.mark.parametrize("way", [MARKER, NO_MARKER])
def test_a_lost_or_made_up_tail_is_never_served(way: str) -> None:
    spoil_all(way, 41)


@pytest.mark.long
@pytest.mark.parametrize("way", [MARKER, NO_MARKER])
def test_no_lost_or_made_up_tail_is_ever_served(way: str) -> None:
    spoil_all(way, 1)
