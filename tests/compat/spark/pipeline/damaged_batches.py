"""Damage of batches and records, in a directory that has more than audited.py's, and what a reader
gets of it.

Topic `m`: segments 0, 12 and 24 up to offset 35, three batches of four records each, of an
idempotent producer; the batch of offset 16 is gzip. `__consumer_offsets`: two commits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from random import Random

from odradek.compat.spark.segments import read_segment
from odradek.compat.spark.segments.listing import list_segments
from odradek.wire.batch import HEADER_SIZE, BatchHeader, batches, read_header, seal
from odradek.wire.compression import Codec
from odradek.wire.records import build_batch

from tests.compat.spark.pipeline.audited import build
from tests.compat.spark.pipeline.damages import TX, Damage, Expected, T, in_log, log, remove
from tests.storage.support.logs import put

M, OFFSETS = "m-0", "__consumer_offsets-0"
END = 36
EACH = 4
PRODUCER = 9
SIZE = 333


def value(offset: int) -> bytes:
    """Of 60 bytes, which no codec makes smaller."""
    return Random(offset).randbytes(60)


def batch(base: int, *, first: int | None = None) -> bytearray:
    """The batch at this offset, with the records of the one at `first`."""
    first = base if first is None else first
    return build_batch(
        [(1_000 + offset, None, value(offset), ()) for offset in range(first, first + EACH)],
        base_offset=base,
        leader_epoch=base // 16,
        producer_id=PRODUCER,
        producer_epoch=0,
        base_sequence=first,
        codec=Codec.GZIP if first == 16 else Codec.NONE,
    )


def build_more(path: Path) -> Path:
    """A data directory with all these topics, of a broker that was stopped cleanly."""
    return build(path, {"m": lambda log: [put(log, batch(at)) for at in range(0, END, EACH)]})


def content(path: Path, partition: str) -> dict[int, bytes | None]:
    """What a read_committed consumer gets of a partition: values by offset."""
    found = {}
    for segment in list_segments(path / partition):
        for records in read_segment(segment):
            columns = (records.column(each).to_pylist() for each in ("offset", "value"))
            found.update(zip(*columns, strict=True))
    return found


# Changes of files.


def edit(file: Path, change: Callable[[list[bytearray]], object]) -> None:
    data = file.read_bytes()
    found = [bytearray(data[at : at + header.size]) for at, header in batches(data)]
    change(found)
    file.write_bytes(b"".join(found))


def patch(each: bytearray, at: int, form: str, *values: int, sealed: bool = True) -> None:
    """Change a field of a batch; `sealed`: and make its CRC right again."""
    struct.pack_into(form, each, at, *values)
    if sealed:
        seal(each, 0, len(each))


def set_field(path: Path, base: int, number: int, at: int, form: str, value: int) -> None:
    """Change a field of one batch of `m`."""
    edit(log(path, base, partition=M), lambda found: patch(found[number], at, form, value))


COUNT_AT, DELTA_AT, EPOCH_AT, ATTRIBUTES_AT = 57, 23, 12, 21


def swap(one: Path, other: Path) -> None:
    """Give each the other's name."""
    beside = one.with_name("beside")
    one.rename(beside)
    other.rename(one)
    beside.rename(other)


def rename_segment(path: Path, base: int, to: int) -> None:
    """Give a segment of `m` another base offset, with all that belongs to it."""
    for each in (path / M).glob(f"{base:020d}.*"):
        if each.suffix != ".snapshot":
            each.rename(each.with_name(f"{to:020d}{each.suffix}"))


def exchange(found: list[bytearray], one: int, other: int) -> None:
    found[one], found[other] = found[other], found[one]


def move(path: Path) -> None:
    """The last batch of the first segment stands at the end of the last one."""
    data = log(path, 0, partition=M)
    edit(data, lambda found: edit(log(path, 24, partition=M), lambda to: to.append(found.pop())))


def damage_gzip(path: Path) -> None:
    edit(log(path, 12, partition=M), lambda found: patch(found[1], HEADER_SIZE + 30, ">i", 7))


def repeat(path: Path) -> None:
    """The batch of offset 28 once more, as one of the end."""
    file = log(path, 24, partition=M)
    edit(file, lambda found: found.append(batch(END, first=28)))


def garbage(path: Path, key: bytes) -> None:
    """A record of a group's coordinator with this key, in the place of the last one."""

    def change(found: list[bytearray]) -> None:
        header: BatchHeader = read_header(found[-1])
        found[-1] = build_batch(
            [(header.max_timestamp, key, b"\0\x03", ())],
            base_offset=header.base_offset,
            leader_epoch=0,
            base_sequence=0,
        )

    edit(log(path, 0, partition=OFFSETS), change)


def wrong_offset(path: Path) -> None:
    """The first entry of an offset index names a later offset than that of its batch."""
    file = log(path, 0, ".index", M)
    data = bytearray(file.read_bytes())
    struct.pack_into(">i", data, 0, struct.unpack_from(">i", data)[0] + 2)
    file.write_bytes(data)


def log_start(path: Path, offset: int) -> None:
    (path / "log-start-offset-checkpoint").write_text(f"0\n1\nm 0 {offset}\n")


def another_cluster(path: Path) -> None:
    file = path / "meta.properties"
    lines = [
        "cluster.id=not-the-one" if line.startswith("cluster.id=") else line
        for line in file.read_text().splitlines()
    ]
    file.write_text("\n".join(lines) + "\n")


ABORT = 10
"""The offset of an abort marker in the first segment of `tx`, of the records at 5 and 6."""


def marker(found: list[bytearray]) -> bytearray:
    return next(each for each in found if read_header(each).base_offset == ABORT)


def change_marker(path: Path, change: Callable[[list[bytearray]], object]) -> None:
    edit(log(path, 0, partition=TX), change)


def in_m(
    base: int,
    what: str,
    byte: int | None = None,
    offset: int | None = None,
    next_offset: int | None = None,
) -> Expected:
    return in_log(base, what, byte, offset, next_offset, M)


def at_index(base: int, suffix: str, what: str, partition: str = M) -> Expected:
    return Expected(partition, f"{base:020d}{suffix}", what)


UNREADABLE = "its records cannot be read: "
# What is done for one, and what is found; offsets that are lost stand there, and only these.
DAMAGED_BATCHES: list[Damage] = [
    (
        "record count 0",
        lambda p: set_field(p, 12, 0, COUNT_AT, ">i", 0),
        [in_m(12, UNREADABLE, 0, 12)],
    ),
    (
        "record count one less",
        lambda p: set_field(p, 12, 0, COUNT_AT, ">i", EACH - 1),
        [in_m(12, UNREADABLE, 0, 12)],
    ),
    (
        "record count 0, gzip",
        lambda p: set_field(p, 12, 1, COUNT_AT, ">i", 0),
        [in_m(12, UNREADABLE, SIZE, 16)],
    ),
    (
        "record count one more",
        lambda p: set_field(p, 12, 0, COUNT_AT, ">i", EACH + 1),
        [in_m(12, UNREADABLE, 0, 12)],
    ),
    (
        "lastOffsetDelta one too large",
        lambda p: set_field(p, 12, 0, DELTA_AT, ">i", EACH),
        [in_m(12, "the batch at byte 333 has offsets out of order", SIZE)],
    ),
    (
        "record length",
        lambda p: set_field(p, 0, 1, HEADER_SIZE, ">B", 2),
        [in_m(0, UNREADABLE, SIZE, 4, 8)],
    ),
    ("gzip payload", damage_gzip, [in_m(12, UNREADABLE, SIZE, 16, 20)]),
    (
        "an idempotent batch twice, at other offsets",
        repeat,
        [in_m(24, "producer 9, epoch 0: sequence 28 to 31 again, 35 was written before", 999, 36)],
    ),
    (
        "a batch twice, at the same offsets",
        lambda p: edit(log(p, 24, partition=M), lambda found: found.insert(1, found[0])),
        [in_m(24, "the batch at byte 333 has offsets out of order", 333)],
    ),
    (
        "leader epoch too high",
        lambda p: edit(
            log(p, 12, partition=M), lambda found: patch(found[0], EPOCH_AT, ">i", 65_281)
        ),
        [in_m(12, "leader epoch 65281 is out of order", 0, 12)],
    ),
    (
        "leader epoch too low",
        lambda p: edit(log(p, 24, partition=M), lambda found: patch(found[1], EPOCH_AT, ">i", 0)),
        [in_m(24, "leader epoch 0 is out of order: 1 is expected", SIZE, 28)],
    ),
    (
        "leader epoch of the last batch too high",
        lambda p: edit(log(p, 24, partition=M), lambda found: patch(found[2], EPOCH_AT, ">i", 99)),
        [in_m(24, "leader epoch 99 is out of order: 2 is expected", 2 * SIZE, 32)],
    ),
    (
        "base offset too high",
        lambda p: edit(log(p, 12, partition=M), lambda found: patch(found[0], 0, ">q", 5_000)),
        [in_m(12, "the batch at byte 0 has offsets ", 0, 12)],
    ),
    (
        "base offset too low",
        lambda p: edit(log(p, 12, partition=M), lambda found: patch(found[1], 0, ">q", 3)),
        [in_m(12, "the batch at byte 333 has offsets out of order", SIZE, 16)],
    ),
    (
        "log start past the end",
        lambda p: log_start(p, 50),
        [
            Expected(
                *(M, "log-start-offset-checkpoint"),
                "log start 50 is past the log's end 36: a real Kafka deletes the log",
            )
        ],
    ),
    (
        "empty segment",
        lambda p: log(p, 12, partition=M).write_bytes(b""),
        [in_m(12, "offsets are missing before the next segment", 0, 12, 24)],
    ),
    (
        "batch cut out",
        lambda p: edit(log(p, 12, partition=M), lambda found: found.pop(1)),
        [in_m(12, "offsets 16 to 19 are missing", SIZE, 16, 20)],
    ),
    (
        "junk between two batches",
        lambda p: edit(log(p, 12, partition=M), lambda found: found.insert(1, bytearray(99))),
        [in_m(12, "no batch at byte 333 (99 bytes)", SIZE)],
    ),
    (
        "files swapped",
        lambda p: swap(log(p, 0, partition=M), log(p, 12, partition=M)),
        [in_m(0, "the batch at byte 0 has offsets too high to be here", 0)],
    ),
    (
        "a segment renamed, too low",
        lambda p: rename_segment(p, 12, 10),
        [in_m(0, "the batch at byte 666 has offsets too high to be here", 2 * SIZE)],
    ),
    (
        "a segment renamed, too high",
        lambda p: rename_segment(p, 12, 14),
        [in_m(14, "the batch at byte 0 has offsets out of order", 0)],
    ),
    (
        "batches exchanged",
        lambda p: edit(log(p, 12, partition=M), lambda found: exchange(found, 0, 1)),
        [in_m(12, "the batch at byte 0 has offsets out of order", 0)],
    ),
    (
        "batch in another segment",
        move,
        [in_m(24, "the batch at byte 999 has offsets out of order", 999)],
    ),
    (
        "oldest segment missing",
        lambda p: remove(*(p / M).glob(f"{0:020d}.*")),
        [Expected(M, "", "segments are missing at the beginning: the log began at 0", None, 0, 12)],
    ),
    (
        "wrong offset in .index",
        wrong_offset,
        [at_index(0, ".index", "a wrong entry: 9 is no batch's last offset")],
    ),
    (
        "last snapshot missing",
        lambda p: remove(log(p, END, ".snapshot", M)),
        [at_index(END, ".snapshot", "missing")],
    ),
    (
        "another cluster id",
        another_cluster,
        [Expected("", "meta.properties", "cluster id ", is_damage=False)],
    ),
    (
        "a key that no coordinator reads",
        lambda p: garbage(p, b"\0\1\xff"),
        [in_log(0, "a record that no coordinator reads", partition=OFFSETS, offset=1)],
    ),
    (
        "a key of an unknown type",
        lambda p: garbage(p, b"garbage"),
        [
            in_log(0, "a record of an unknown type", partition=OFFSETS, offset=1)._replace(
                is_damage=False
            )
        ],
    ),
    (
        "abort marker cut out",
        lambda p: change_marker(p, lambda found: found.remove(marker(found))),
        [at_index(0, ".txnindex", "has an entry of a transaction that did not abort here", TX)],
    ),
    (
        "abort marker, a bit",
        lambda p: change_marker(p, lambda found: patch(marker(found), 70, ">B", 9, sealed=False)),
        [in_log(0, "the batch at byte 704 has a wrong checksum", 704, 10, 11, partition=TX)],
    ),
    (
        "abort marker that says commit",
        lambda p: change_marker(p, lambda found: patch(marker(found), 69, ">B", 1)),
        [at_index(0, ".txnindex", "has an entry of a transaction that did not abort here", TX)],
    ),
    (
        "high watermarks missing",
        lambda p: remove(p / "replication-offset-checkpoint"),
        [Expected("", "replication-offset-checkpoint", "missing", is_damage=False)],
    ),
]

PARTITIONS = (M, T, TX)
EXTRA = {
    ("an idempotent batch twice, at other offsets", M): {36, 37, 38, 39},
}
"""Offsets that a reader gets after a repair and did not get before, by damage and partition."""


def lost_in(partition: str, expected: list[Expected]) -> set[int]:
    """The offsets of a partition's records that are damaged, as an audit names them. Those below a
    log start that is found again were deleted."""
    if partition == T and any("the log start" in each.what for each in expected):
        return set(range(7))
    lost: set[int] = set()
    for each in expected:
        of_it = each.partition == partition or (each.partition, each.file) == ("", partition)
        if of_it and each.is_damage and each.offset is not None and each.next_offset is not None:
            lost |= set(range(each.offset, each.next_offset))
    return lost
