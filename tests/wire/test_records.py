"""Record batches: read as real clients wrote them, built so that real clients can read them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import aiokafka.record.default_records
import kafka.record.default_records
import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire import Buffer, WireError
from odradek.wire.compression import Codec
from odradek.wire.records import (
    CONTROL,
    DELETE_HORIZON,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
    Marker,
    NewRecord,
    Record,
    assign,
    batches,
    build_batch,
    checksum,
    end_transaction_batch,
    find_records,
    read_header,
    read_marker,
    read_records,
    restamp,
)

from tests.support.drawn import examples

# From the log of an Apache Kafka 4.3.1: three records, k0 to k2 at 1000, 1001, 1002 ms, each with
# the value "value" four times; librdkafka's have the headers h=x and n=null.
JAVA = {
    Codec.NONE: (
        "0000000000000000000000880000000002edf985ee00000000000200000000000003e800000000000003"
        "ea000000000000000000000000000000000003"
        "38000000046b302876616c756576616c756576616c756576616c75650038000202046b312876616c7565"
        "76616c756576616c756576616c75650038000404046b322876616c756576616c756576616c756576616c"
        "756500"
    ),
    Codec.GZIP: (
        "0000000000000000000000650000000002bef68c9100010000000200000000000003e800000000000003"
        "ea000000000000000100000000000000000003"
        "1f8b08000000000000ffb360606060c936d0284bcc294d4523182c18989858b20d7149b2b0b0641b6197"
        "0400dd8dc66657000000"
    ),
    Codec.SNAPPY: (
        "00000000000000000000006c0000000002fa5cf9b900020000000200000000000003e800000000000003"
        "ea000000000000000200000000000000000003"
        "82534e4150505900000000010000000100000027573038000000046b302876616c75653a05001c003800"
        "0202046b315e1d00100404046b32561d00"
    ),
    Codec.LZ4: (
        "00000000000000000000006a0000000002b657d55700030000000200000000000003e800000000000003"
        "ea000000000000000300000000000000000003"
        "04224d186040822a000000db38000000046b302876616c756505008f0038000202046b311d00055d0404"
        "046b321d0050616c75650000000000"
    ),
    Codec.ZSTD: (
        "000000000000000000000062000000000276cfe53000040000000200000000000003e800000000000003"
        "ea000000000000000400000000000000000003"
        "28b52ffd00582c0100d038000000046b302876616c75650038000202046b310404046b32030040d14081"
        "1cbaf205010000"
    ),
}
LIBRDKAFKA = {
    Codec.NONE: (
        "00000000000000000000009d00000000023b7e335100000000000200000000000003e800000000000003"
        "eaffffffffffffffffffffffffffff00000003"
        "46000000046b302876616c756576616c756576616c756576616c75650402680278026e0146000202046b"
        "312876616c756576616c756576616c756576616c75650402680278026e0146000404046b322876616c75"
        "6576616c756576616c756576616c75650402680278026e01"
    ),
    Codec.GZIP: (
        "00000000000000000000006c0000000002fe294e0c00010000000200000000000003e800000000000003"
        "eaffffffffffffffffffffffffffff00000003"
        "1f8b08000000000000037363606060c936d0284bcc294d4523589832982a98f218dd18989858b20d09a8"
        "616161c936c2ab060043b995076c000000"
    ),
    Codec.SNAPPY: (
        "00000000000000000000005f000000000212d898e500020000000200000000000003e800000000000003"
        "eaffffffffffffffffffffffffffff00000003"
        "6c3046000000046b302876616c75653a0500380402680278026e0146000202046b317a2400100404046b"
        "32722400"
    ),
}
RECORDED = [(who, codec) for who in (JAVA, LIBRDKAFKA) for codec in who]

NAMES = [f"{'java' if who is JAVA else 'librdkafka'} {codec.name}" for who, codec in RECORDED]


@pytest.mark.parametrize(("who", "codec"), RECORDED, ids=NAMES)
def test_a_clients_batch_is_read(who: dict[Codec, str], codec: Codec) -> None:
    batch = bytes.fromhex(who[codec])
    headers = (("h", b"x"), ("n", None)) if who is LIBRDKAFKA else ()
    header = read_header(batch)

    assert (header.size, header.codec, header.count) == (len(batch), codec, 3)
    assert checksum(batch, 0, len(batch)) == header.crc
    assert read_records(batch) == [
        Record(n, 1000 + n, b"k%d" % n, b"value" * 4, headers) for n in range(3)
    ]


def test_an_uncompressed_batch_is_built_as_the_clients_build_it() -> None:
    three = [(1000 + n, b"k%d" % n, b"value" * 4, ()) for n in range(3)]
    java = build_batch(three, producer_id=0, producer_epoch=0, base_sequence=0, leader_epoch=0)
    assert java.hex() == JAVA[Codec.NONE]

    with_headers = [(*record[:3], (("h", b"x"), ("n", None))) for record in three]
    assert build_batch(with_headers, leader_epoch=0).hex() == LIBRDKAFKA[Codec.NONE]


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("client", [aiokafka, kafka], ids=["aiokafka", "kafka-python"])
def test_python_clients_and_we_read_each_other(client: Any, codec: Codec) -> None:
    ours = [
        NewRecord(1000 + n, b"k%d" % n, bytes([n % 7]) * 40, [("h", b"x"), ("n", None)])
        for n in range(500)
    ]
    builder = client.record.default_records.DefaultRecordBatchBuilder(
        magic=2,
        compression_type=codec,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1 << 20,
    )
    for offset, (timestamp, key, value, headers) in enumerate(ours):
        builder.append(offset, timestamp=timestamp, key=key, value=value, headers=headers)
    theirs = read_records(bytes(builder.build()))
    assert [(r.timestamp, r.key, r.value, list(r.headers)) for r in theirs] == ours

    batch = client.record.default_records.DefaultRecordBatch(bytes(build_batch(ours, codec=codec)))
    assert batch.validate_crc()
    assert [(r.timestamp, r.key, r.value, list(r.headers)) for r in batch] == ours


nullable = st.none() | st.binary(max_size=80)
int64 = st.integers(-(2**63), 2**63 - 1)
new_records = st.builds(
    NewRecord,
    st.integers(-1, 2**42) | int64,
    nullable,
    nullable,
    st.lists(st.tuples(st.text(max_size=8), nullable), max_size=3).map(tuple),
)


@given(st.lists(new_records, max_size=8), st.sampled_from(Codec), st.integers(0, 2**62))
@examples(150)
def test_every_batch_built_is_read_back(
    records: list[NewRecord], codec: Codec, base_offset: int
) -> None:
    batch = build_batch(records, codec=codec, base_offset=base_offset)
    header = read_header(batch)

    assert header.crc == checksum(batch, 0, len(batch))
    assert header.size == len(batch)
    assert header.max_timestamp == max((r.timestamp for r in records), default=-1)
    assert [r[1:] for r in read_records(batch)] == [tuple(r) for r in records]
    assert [r.offset for r in read_records(batch)] == [base_offset + n for n in range(len(records))]


@given(
    st.lists(new_records, max_size=8),
    st.sampled_from(Codec),
    st.lists(st.integers(1, 3), min_size=8, max_size=8),
    st.binary(min_size=1, max_size=2),
)
@examples(150)
def test_some_records_of_a_batch_are_read_and_others_passed_over(
    records: list[NewRecord], codec: Codec, steps: list[int], text: bytes
) -> None:
    offsets = [sum(steps[: at + 1]) - steps[0] for at in range(len(records))]
    last = offsets[-1] if offsets else 0
    for given_offsets in (None, offsets):
        batch = build_batch(records, codec=codec, base_offset=7, offsets=given_offsets)
        whole_batch = read_records(batch)
        for since in (0, 7, 9, 7 + last, 8 + last):
            some = [each for each in whole_batch if each.offset >= since]
            assert read_records(batch, since=since) == some
        found = find_records(batch, 0, text)
        assert [each for each in whole_batch if each in found] == found
        for each in whole_batch:
            parts = (each.key, each.value, *(part for _, part in each.headers))
            if any(text in part for part in parts if part):
                assert each in found


@given(
    st.lists(new_records, max_size=3),
    st.sampled_from(Codec),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=4),
    st.binary(max_size=90),
)
@examples(250)
def test_any_bytes_are_read_or_raise_wire_error(
    records: list[NewRecord], codec: Codec, changes: list[tuple[int, int]], noise: bytes
) -> None:
    batch = build_batch(records, codec=codec)
    for at, byte in changes:
        batch[at % len(batch)] = byte
    for reader in (read_records, read_marker, read_header, lambda b: list(batches(b))):
        for damaged in (batch, noise, batch[: len(noise)], batch + noise):
            try:
                reader(damaged)
            except WireError:
                continue


def test_a_header_is_all_of_its_fields() -> None:
    batch = build_batch(
        [(50, None, b"a", ()), (49, None, b"b", ())],
        base_offset=7,
        leader_epoch=3,
        producer_id=9,
        producer_epoch=2,
        base_sequence=11,
        transactional=True,
    )
    header = read_header(b"before" + batch, 6)
    assert header == BatchHeader(
        base_offset=7,
        batch_length=len(batch) - 12,
        leader_epoch=3,
        magic=2,
        crc=checksum(batch, 0, len(batch)),
        attributes=TRANSACTIONAL,
        last_offset_delta=1,
        base_timestamp=50,
        max_timestamp=50,
        producer_id=9,
        producer_epoch=2,
        base_sequence=11,
        count=2,
    )
    assert (header.size, header.last_offset, header.last_sequence) == (len(batch), 8, 12)
    assert header.is_transactional
    assert not header.is_control
    assert not header.is_log_append_time
    assert not header.has_delete_horizon


@pytest.mark.parametrize(
    ("base_sequence", "last_offset_delta", "last_sequence"),
    [
        (-1, 5, -1),
        (0, 0, 0),
        (5, 4, 9),
        (2147483647, 0, 2147483647),
        (2147483646, 2, 0),
        (2147483647, 2147483647, 2147483646),
    ],
)
def test_sequences_go_on_at_0_after_2147483647(
    base_sequence: int, last_offset_delta: int, last_sequence: int
) -> None:
    header = read_header(build_batch([(0, None, None, ())]))
    header = header._replace(base_sequence=base_sequence, last_offset_delta=last_offset_delta)
    assert header.last_sequence == last_sequence


def test_a_codec_that_does_not_exist_is_a_wire_error_when_asked_for() -> None:
    header = read_header(build_batch([(0, None, None, ())]))._replace(attributes=5)
    with pytest.raises(WireError, match="no compression codec 5"):
        _ = header.codec


class TestBatches:
    one = bytes(build_batch([(1, b"k", b"v", ())]))
    two = bytes(build_batch([(2, b"k", b"w", ())] * 3, base_offset=1))

    def positions(self, buf: Buffer, *between: int) -> list[int]:
        return [pos for pos, _ in batches(buf, *between)]

    def test_each_whole_batch_is_named_with_its_place(self) -> None:
        found = list(batches(self.one + self.two))
        assert [(pos, header.count) for pos, header in found] == [(0, 1), (len(self.one), 3)]

    def test_a_cut_tail_ends_it(self) -> None:
        both = self.one + self.two
        for end in range(len(self.one), len(both)):
            assert self.positions(both[:end]) == [0]
            assert self.positions(both, 0, end) == [0]

    def test_it_may_start_and_end_anywhere(self) -> None:
        both = self.one + self.two
        assert self.positions(both, len(self.one)) == [len(self.one)]
        assert self.positions(memoryview(both)[len(self.one) :]) == [0]

    @pytest.mark.parametrize("size", [-(2**31), -1, 0, 14, 48])
    def test_a_size_without_room_for_a_header_is_damage(self, size: int) -> None:
        damaged = self.one[:8] + struct.pack(">i", size) + self.one[12:]
        found = batches(self.one + damaged)
        assert next(found)[0] == 0
        with pytest.raises(WireError, match=f"byte {len(self.one)} says"):
            next(found)

    @pytest.mark.parametrize("magic", [0, 1, 3, 255])
    def test_another_magic_is_damage(self, magic: int) -> None:
        damaged = self.one[:16] + bytes([magic]) + self.one[17:]
        with pytest.raises(WireError, match="magic"):
            list(batches(damaged))


def test_a_header_needs_61_bytes() -> None:
    batch = build_batch([])
    assert len(batch) == HEADER_SIZE == 61
    read_header(batch)
    with pytest.raises(WireError):
        read_header(batch[:60])
    with pytest.raises(WireError):
        read_header(batch, 1)


def test_offset_and_epoch_are_assigned_outside_the_checksum() -> None:
    batch = build_batch([(1, b"k", b"v", ())])
    buf = bytearray(b"before") + batch
    assign(buf, 6, 2**40, 12)

    header = read_header(buf, 6)
    assert (header.base_offset, header.leader_epoch) == (2**40, 12)
    assert header.crc == checksum(buf, 6, header.size) == read_header(batch).crc
    assert buf[:6] == b"before"


@pytest.mark.parametrize("codec", Codec)
def test_restamping_sets_time_bit_and_checksum_and_nothing_else(codec: Codec) -> None:
    batch = build_batch([(1, b"k", b"v", ()), (2, b"k", b"w", ())], codec=codec)
    buf = bytearray(b"before") + batch
    restamp(memoryview(buf), 6, 99, True)

    header = read_header(buf, 6)
    assert header.is_log_append_time
    assert header.codec is codec
    assert header.crc == checksum(buf, 6, header.size)
    assert (header.base_timestamp, header.max_timestamp) == (1, 99)
    assert [record.timestamp for record in read_records(buf, 6)] == [99, 99]

    restamp(buf, 6, 2, False)
    assert buf == b"before" + batch


def test_log_append_time_is_every_records_time() -> None:
    batch = build_batch([(5, None, b"a", ()), (9, None, b"b", ())], log_append_time=7)
    header = read_header(batch)
    assert header.attributes == LOG_APPEND_TIME
    assert (header.base_timestamp, header.max_timestamp) == (5, 7)
    assert [record.timestamp for record in read_records(batch)] == [7, 7]


def test_compaction_keeps_offsets_and_the_delete_horizon() -> None:
    batch = build_batch(
        [(5, b"k", None, ()), (9, b"l", None, ())],
        base_offset=100,
        offsets=[3, 8],
        last_offset_delta=10,
        delete_horizon=10**12,
    )
    header = read_header(batch)
    assert header.attributes == DELETE_HORIZON
    assert header.has_delete_horizon
    assert (header.base_timestamp, header.max_timestamp) == (10**12, 9)
    assert header.last_offset == 110
    assert [record[:2] for record in read_records(batch)] == [(103, 5), (108, 9)]


@pytest.mark.parametrize("codec", Codec)
def test_an_emptied_batch_is_a_header(codec: Codec) -> None:
    batch = build_batch([], base_offset=4, last_offset_delta=6, base_sequence=1, codec=codec)
    header = read_header(batch)
    assert len(batch) == HEADER_SIZE
    assert (header.count, header.base_timestamp, header.codec) == (0, -1, Codec.NONE)
    assert (header.last_offset, header.last_sequence) == (10, 7)
    assert read_records(batch) == []


def test_header_keys_survive_even_if_they_are_not_utf_8() -> None:
    batch = build_batch([(1, None, None, [("caf\u00e9", b"1"), ("\udcff", None)])])
    (record,) = read_records(batch)
    assert record.headers == (("caf\u00e9", b"1"), ("\udcff", None))
    assert b"\x02\xff" in batch
    assert build_batch([record[1:]]) == batch


def test_times_wrap_at_64_bits_as_javas_do() -> None:
    latest, earliest = 2**63 - 1, -(2**63)
    batch = build_batch([(latest, None, None, ()), (earliest, None, None, ())])
    assert [record.timestamp for record in read_records(batch)] == [latest, earliest]
    assert len(batch) == HEADER_SIZE + 2 * 7


NOTHING = (None, None, ())

TOO_LARGE = {
    "time": lambda: build_batch([(2**63, None, None, ())]),
    "time of a later record": lambda: build_batch([(0, None, None, ()), (-(2**63) - 1, *NOTHING)]),
    "offset": lambda: build_batch([], base_offset=2**63),
    "offset delta": lambda: build_batch([(0, *NOTHING)] * 2, offsets=[2**31, 3]),
    "producer epoch": lambda: build_batch([], producer_epoch=2**15),
    "coordinator epoch": lambda: marker(coordinator_epoch=2**31),
    "header key": lambda: build_batch([(0, None, None, [("\ud800", None)])]),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_does_not_fit_is_a_wire_error(name: str) -> None:
    with pytest.raises(WireError):
        TOO_LARGE[name]()


def whole(payload: bytes, count: int) -> bytes:
    """A batch with these bytes for its records."""
    batch = bytearray(build_batch([]))
    batch[8:12] = struct.pack(">i", 49 + len(payload))
    batch[57:61] = struct.pack(">i", count)
    return bytes(batch + payload)


RECORD = bytes.fromhex("10 00 00 00 02 6b 02 76 00")


@pytest.mark.parametrize(
    ("payload", "count", "message"),
    [
        (RECORD, 2, "cut short|varint"),
        (RECORD, 0, "9 bytes after the last record"),
        (RECORD + b"\0", 1, "1 bytes after the last record"),
        (RECORD, -1, "counts -1 records"),
        (b"", 2**31 - 1, "varint"),
        (b"\x0e" + RECORD[1:], 1, "its length says"),
        (b"\x7f" + RECORD[1:], 1, "its length says"),
        (b"\x80\x01" + RECORD[1:], 1, "64 bytes where 8 are left"),
        (bytes.fromhex("10 00 00 00 7e 6b 02 76 00"), 1, "63 bytes of key or value"),
        (bytes.fromhex("10 00 00 00 02 6b 02 76 01"), 1, "-1 record headers"),
        (bytes.fromhex("10 00 00 00 02 6b 02 76 02"), 1, "1 record headers"),
        (bytes.fromhex("14 00 00 00 02 6b 02 76 02 01 00"), 1, "without a key"),
    ],
)
def test_damaged_records_are_named(payload: bytes, count: int, message: str) -> None:
    with pytest.raises(WireError, match=message):
        read_records(whole(payload, count))


@pytest.mark.parametrize("length", [b"\x40", b"\x01", b"\x80"])
def test_damaged_records_are_not_passed_over(length: bytes) -> None:
    batch = whole(length + RECORD[1:], 1)
    with pytest.raises(WireError):
        read_records(batch, since=2**40)
    with pytest.raises(WireError):
        find_records(batch, 0, b"k")


@pytest.mark.parametrize(
    "damage",
    [
        lambda batch: batch[:-1],
        lambda batch: batch[:60],
        lambda batch: batch[:16] + b"\x01" + batch[17:],
        lambda batch: batch[:8] + struct.pack(">i", 48) + batch[12:],
        lambda batch: batch[:8] + struct.pack(">i", -1) + batch[12:],
        lambda batch: batch[:22] + b"\x05" + batch[23:],
    ],
    ids=["cut", "cut header", "magic 1", "size 48", "size -1", "codec 5"],
)
def test_records_of_what_is_no_whole_batch_are_a_wire_error(
    damage: Callable[[bytes], bytes],
) -> None:
    with pytest.raises(WireError):
        read_records(damage(whole(RECORD, 1)))


def test_a_compressed_batch_may_hold_only_so_much() -> None:
    batch = build_batch([(0, None, bytes(10_000), ())], codec=Codec.GZIP)
    assert len(read_records(batch, limit=11_000)) == 1
    with pytest.raises(WireError, match="more than 10000 bytes"):
        read_records(batch, limit=10_000)


def marker(commit: bool = True, **changes: int) -> bytearray:
    fields = {
        "base_offset": 5,
        "timestamp": 1000,
        "producer_id": 4,
        "producer_epoch": 2,
        "coordinator_epoch": 3,
        "leader_epoch": 1,
    }
    return end_transaction_batch(commit, **{**fields, **changes})


@pytest.mark.parametrize("commit", [True, False], ids=["commit", "abort"])
def test_a_marker_is_78_bytes_and_says_how_a_transaction_ended(commit: bool) -> None:
    batch = marker(commit)
    header = read_header(batch)
    (record,) = read_records(batch)

    assert len(batch) == 78
    assert header.attributes == TRANSACTIONAL | CONTROL
    assert (header.base_sequence, header.last_offset_delta, header.count) == (-1, 0, 1)
    assert (header.producer_id, header.producer_epoch, header.leader_epoch) == (4, 2, 1)
    assert record.key == bytes([0, 0, 0, int(commit)])
    assert record.value == bytes([0, 0, 0, 0, 0, 3])
    assert (record.offset, record.timestamp, record.headers) == (5, 1000, ())
    assert read_marker(b"before" + batch, 6) == Marker(commit, 3)


def test_a_marker_of_a_newer_version_is_read() -> None:
    batch = build_batch([(0, bytes.fromhex("00010001ff"), bytes.fromhex("000200000007ff"), ())])
    restamp(batch, 0, 0, False)
    batch[22] |= CONTROL
    assert read_marker(batch) == Marker(True, 7)


@pytest.mark.parametrize(
    ("key", "value", "control"),
    [
        (b"\0\0\0\1", b"\0\0\0\0\0\3", False),
        (b"\0\0\0\2", b"\0\0\0\0\0\3", True),
        (b"\0\0\0", b"\0\0\0\0\0\3", True),
        (b"\0\0\0\1", b"\0\0\0\0\0", True),
        (None, None, True),
    ],
    ids=["data", "leader change", "short key", "short value", "nulls"],
)
def test_what_ends_no_transaction_is_no_marker(
    key: bytes | None, value: bytes | None, control: bool
) -> None:
    with pytest.raises(WireError):
        read_marker(build_batch([(0, key, value, ())], control=control))


def test_an_empty_control_batch_is_no_marker() -> None:
    with pytest.raises(WireError):
        read_marker(build_batch([], control=True))
