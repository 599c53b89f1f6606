"""What a segment's records are as Arrow."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from odradek.compat.spark.segments import (
    EVERYTHING,
    SCHEMA,
    Damaged,
    Wanted,
    batch_heads,
    read_bytes,
    read_segment,
)
from odradek.wire.compression import Codec
from odradek.wire.legacy.as_batches import read_logged
from odradek.wire.records import NewRecord, build_batch

from tests.compat.spark.segments.support.placed import (
    T,
    column,
    numbered,
    offsets,
    placed,
    read,
)
from tests.compat.spark.segments.support.transactions import marker, of_producer
from tests.support.old_segments import TOPICS


def test_a_record_has_all_its_columns(tmp_path: Path) -> None:
    records = [
        NewRecord(T, b"k", None, [("h", b"1"), ("h", None), ("é", b"")]),
        NewRecord(T + 5, None, b""),
    ]
    batch = build_batch(
        records, base_offset=3, codec=Codec.LZ4, leader_epoch=4, producer_id=9, producer_epoch=2,
        base_sequence=2**31 - 1,
    )  # fmt: skip
    (segment,) = placed(tmp_path, {0: numbered(0, 3) + bytes(batch)})
    table = read([segment])
    assert table.schema.equals(SCHEMA)
    first, second = table.slice(3).to_pylist()
    assert first.pop("timestamp").timestamp() == T / 1000
    assert first == {
        "key": b"k",
        "value": None,
        "topic": "t",
        "partition": 0,
        "offset": 3,
        "timestampType": 0,
        "headers": [
            {"key": "h", "value": b"1"},
            {"key": "h", "value": None},
            {"key": "é", "value": b""},
        ],
        "segment": segment.path,
        "position": len(numbered(0, 3)),
        "producerId": 9,
        "producerEpoch": 2,
        "sequence": 2**31 - 1,
        "leaderEpoch": 4,
        "codec": "lz4",
        "transactional": False,
        "control": False,
        "outcome": "none",
        "crcOk": True,
    }
    assert (second["key"], second["value"], second["headers"]) == (None, b"", None)
    assert (second["sequence"], second["offset"]) == (0, 4)
    assert column(table, "sequence")[:3] == [-1, -1, -1]


def test_columns_are_given_in_the_order_asked_for(tmp_path: Path) -> None:
    segments = placed(tmp_path, {0: numbered(0, 2)})
    table = read(segments, Wanted(columns=("offset", "key")))
    assert table.to_pydict() == {"offset": [0, 1], "key": [b"0", b"1"]}
    with pytest.raises(ValueError, match="no column 'keys'"):
        read(segments, Wanted(columns=("keys",)))


@pytest.mark.parametrize("codec", Codec)
def test_every_codec_is_read(codec: Codec, tmp_path: Path) -> None:
    segments = placed(tmp_path, {0: numbered(0, 1000, codec=codec)})
    table = read(segments)
    assert column(table, "key") == [b"%d" % n for n in range(1000)]
    assert set(column(table, "codec")) == {codec.name.lower()}


def test_ranges_are_half_open(tmp_path: Path) -> None:
    data = b"".join(numbered(base, 10) for base in range(0, 100, 10))
    segments = placed(tmp_path, {0: data, 100: numbered(100, 5)})
    assert offsets(segments, Wanted(start_offset=15, end_offset=22)) == [*range(15, 22)]
    assert offsets(segments, Wanted(start_offset=99, end_offset=101)) == [99, 100]
    assert offsets(segments, Wanted(start_ms=T + 37, end_ms=T + 41)) == [37, 38, 39, 40]
    assert offsets(segments, Wanted(start_offset=200)) == []


def test_pieces_have_at_most_so_many_rows(tmp_path: Path) -> None:
    (segment,) = placed(tmp_path, {0: numbered(0, 5) + numbered(5, 3) + numbered(8, 25)})
    sizes = [batch.num_rows for batch in read_segment(segment, rows=10)]
    assert sizes == [8, 10, 10, 5]


def test_reading_begins_where_the_index_says(tmp_path: Path) -> None:
    data = b"".join(numbered(base, 10) for base in range(0, 100, 10))
    segments = placed(tmp_path, {0: data})
    at = len(numbered(0, 10)) * 5
    index = tmp_path / "t-0" / "00000000000000000000.index"
    index.write_bytes((59).to_bytes(4, "big") + at.to_bytes(4, "big"))
    assert offsets(segments, Wanted(start_offset=95)) == [*range(95, 100)]
    index.write_bytes(index.read_bytes() + bytes(10_000))
    assert offsets(segments, Wanted(start_offset=95)) == [*range(95, 100)], "of a broker that runs"
    bad = bytearray(data)
    bad[at - 3] ^= 1
    (tmp_path / "t-0" / "00000000000000000000.log").write_bytes(bad)
    assert offsets(segments, Wanted(start_offset=55)) == [*range(55, 100)], (
        "begins after the damage"
    )
    with pytest.raises(Damaged):
        offsets(segments, Wanted(start_offset=49))
    (tmp_path / "t-0" / "00000000000000000000.log").write_bytes(data)
    for relative, position in ((58, at + 1), (58, at), (59, 1 << 30), (59, 0), (59, -5)):
        index.write_bytes(struct.pack(">ii", relative, position) * 2 + b"odd")
        found = offsets(segments, Wanted(start_offset=95))
        assert found == [*range(95, 100)], "a damaged index"


def test_transactions_are_distinguished(tmp_path: Path) -> None:
    data = [
        of_producer(0, 2, 1, transactional=True),
        of_producer(2, 2, 2, transactional=True),
        numbered(4, 1),
        marker(5, 1, commit=False),
        marker(6, 2, commit=True),
        of_producer(7, 1, 2, transactional=True),
    ]
    rest = [numbered(8, 2), of_producer(10, 1, 1, transactional=True), marker(11, 1, commit=True)]
    segments = placed(tmp_path, {0: b"".join(data), 8: b"".join(rest)})
    assert column(read(segments), "outcome") == [
        *["aborted"] * 2,
        *["committed"] * 2,
        "none",
        *["aborted", "committed", "open"],
        *["none"] * 2,
        *["committed"] * 2,
    ]
    assert offsets(segments, Wanted()) == [2, 3, 4], "up to the open transaction"
    uncommitted = Wanted(isolation="read_uncommitted")
    assert offsets(segments, uncommitted) == [0, 1, 2, 3, 4, 7, 8, 9, 10]


def test_deleted_records_are_left_out(tmp_path: Path) -> None:
    placed(tmp_path, {0: numbered(0, 5), 5: numbered(5, 5)})
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n1\nt 0 7\n")
    assert offsets(placed(tmp_path, {})) == [7, 8, 9]


@pytest.mark.parametrize("topic", TOPICS)
def test_messages_of_old_formats_are_read(topic: str, tmp_path: Path) -> None:
    segments = placed(tmp_path, TOPICS[topic])
    table = read(segments)
    expected = []
    for segment in segments:
        data = Path(segment.path).read_bytes()
        for head in batch_heads(segment):
            expected += read_logged(data, int(head["position"]))
    assert column(table, "offset") == [record.offset for record in expected]
    assert column(table, "value") == [record.value for record in expected]
    assert set(column(table, "timestampType")) <= {-1, 0, 1}


def test_records_of_a_fetch_response(tmp_path: Path) -> None:
    data = numbered(0, 3) + numbered(3, 3)
    (batch,) = read_bytes(data + numbered(6, 2)[:-1], "t", 4, Wanted(start_offset=1))
    assert batch.column("offset").to_pylist() == [1, 2, 3, 4, 5]
    assert set(batch.column("partition").to_pylist()) == {4}
    assert list(read_bytes(b"", "t", 0)) == []


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_damage_is_raised_after_what_comes_before_it(tmp_path: Path) -> None:
    data = numbered(0, 3) + flipped(numbered(3, 3), 80) + numbered(6, 3)
    (segment,) = placed(tmp_path, {0: data})
    batches = read_segment(segment, EVERYTHING)
    assert next(batches).column("offset").to_pylist() == [0, 1, 2]
    with pytest.raises(Damaged) as raised:
        next(batches)
    position = len(numbered(0, 3))
    damaged = raised.value
    assert (damaged.path, damaged.position, damaged.offset) == (segment.path, position, 3)
    assert str(damaged) == f"{segment.path}, byte {position}, offset 3: wrong checksum"


def test_what_is_not_wanted_is_not_looked_into(tmp_path: Path) -> None:
    data = numbered(0, 3) + flipped(numbered(3, 3), 80)
    segments = placed(tmp_path, {0: data})
    assert offsets(segments, Wanted(end_offset=3)) == [0, 1, 2]


def test_reading_goes_on_after_damage(tmp_path: Path) -> None:
    good = [numbered(base, 3) for base in range(0, 30, 3)]
    bad = list(good)
    bad[2] = flipped(good[2], len(good[2]) - 3)  # in a value
    bad[4] = flipped(good[4], 10)  # in the length
    bad[7] = flipped(good[7], 6)  # in the offset
    (segment,) = placed(tmp_path, {0: b"".join(bad)})
    damages: list[Damaged] = []
    found = read([segment], Wanted(columns=("offset",)), on_damage=damages.append)
    assert column(found, "offset") == [*range(6), *range(9, 12), *range(15, 21), *range(24, 30)]
    assert [(each.position, each.offset) for each in damages] == [
        (len(b"".join(good[:number])), 3 * number) for number in (2, 4, 7)
    ]
    found = read([segment], Wanted(columns=("offset", "crcOk")), on_damage=damages.append)
    assert [n for n, ok in zip(*found.to_pydict().values(), strict=True) if not ok] == [6, 7, 8]


def test_a_torn_end_is_damage_after_a_clean_stop(tmp_path: Path) -> None:
    (segment,) = placed(tmp_path, {0: numbered(0, 3) + numbered(3, 3)[:-1]})
    assert offsets([segment]) == [0, 1, 2]
    (tmp_path / ".kafka_cleanshutdown").write_text("")
    (segment,) = placed(tmp_path, {})
    with pytest.raises(Damaged, match="cut short"):
        offsets([segment])


def test_zeros_after_the_last_batch_are_a_torn_end(tmp_path: Path) -> None:
    (segment,) = placed(tmp_path, {0: numbered(0, 3) + bytes(500)})
    assert offsets([segment]) == [0, 1, 2]
    damages: list[Damaged] = []
    assert offsets([segment], on_damage=damages.append) == [0, 1, 2]
    assert [each.position for each in damages] == [len(numbered(0, 3))]


def test_a_batch_must_not_decompress_to_more_than_the_limit(tmp_path: Path) -> None:
    bomb = build_batch([NewRecord(T, None, bytes(1 << 20))], base_offset=3, codec=Codec.GZIP)
    segments = placed(tmp_path, {0: numbered(0, 3) + bytes(bomb)})
    assert offsets(segments) == [0, 1, 2, 3]
    with pytest.raises(Damaged, match="more than 65536 bytes"):
        offsets(segments, limit=1 << 16)


def test_heads_of_all_batches(tmp_path: Path) -> None:
    (segment,) = placed(tmp_path, {5: numbered(5, 3, leader_epoch=7) + numbered(8, 20_000)})
    heads = batch_heads(segment)
    assert heads["base_offset"].tolist() == [5, 8]
    assert heads["position"].tolist() == [0, len(numbered(5, 3))]
    assert heads["count"].tolist() == [3, 20_000]
    assert heads["leader_epoch"].tolist() == [7, -1]
    (segment,) = placed(tmp_path, {5: numbered(5, 3) + b"nonsense" * 20})
    with pytest.raises(Damaged, match=r"offset 8: no batch begins here"):
        batch_heads(segment)
