"""The slow walker and the compiled codec read the same message from the same bytes, or neither."""

from __future__ import annotations

from random import Random

import pytest
from odradek.wire.codec.messages import read_message as read_compiled
from odradek.wire.compression import Codec
from odradek.wire.errors import WireError
from odradek.wire.explain.frames import explain_request, explain_response
from odradek.wire.explain.records import read_records
from odradek.wire.explain.walk import Misfit, Reading, read_message
from odradek.wire.headers import (
    RequestHeader,
    read_request_header,
    write_request_header,
    write_response_header,
)
from odradek.wire.legacy.message_sets import Message as OldMessage
from odradek.wire.legacy.message_sets import build_set
from odradek.wire.records import NewRecord, build_batch
from odradek.wire.schema import Message, Request, Response

from tests.support.drawn import sized
from tests.support.looped import for_each
from tests.wire.support.messages import MESSAGES, REQUESTS, RESPONSES, full, versions

each_message = for_each("cls", MESSAGES)
RECORDS = [NewRecord(1000 + n, b"key %d" % n, b"value", [("h", b"x")]) for n in range(3)]


def walked(cls: type[Message], version: int, encoded: bytes) -> tuple[Message, Reading]:
    """What the walker makes of these bytes; records in them are not looked into."""
    reading = Reading(encoded)
    return read_message(reading, cls, version, lambda records: records.rest("records", "")), reading


def outcome(cls: type[Message], version: int, encoded: bytes) -> tuple[str, str]:
    """What compiled codec and walker make of these bytes, as text, in which NaN equals NaN."""
    try:
        compiled = repr(read_compiled(cls, encoded, version))
    except WireError:
        compiled = "refused"
    try:
        message, reading = walked(cls, version, encoded)
        slow = repr((message, reading.pos))
    except Misfit:
        slow = "refused"
    return compiled, slow


@each_message
def test_the_walker_reads_what_the_compiled_codec_reads(cls: type[Message]) -> None:
    for version in versions(cls):
        for message in (cls(), full(cls, version)):
            encoded = message.encode(version)
            read, reading = walked(cls, version, encoded)
            assert read == cls.decode(encoded, version)
            assert reading.pos == len(encoded)


@each_message
def test_the_rows_one_behind_the_other_are_the_bytes(cls: type[Message]) -> None:
    for version in versions(cls):
        encoded = full(cls, version).encode(version)
        _, reading = walked(cls, version, encoded)
        assert b"".join(row.raw for row in reading.rows) == encoded
        for row in reading.rows:
            assert encoded.startswith(row.raw, row.pos)


@each_message
def test_a_message_that_is_cut_does_not_fit_at_a_byte_that_is_named(cls: type[Message]) -> None:
    encoded = full(cls, cls.last_version).encode(cls.last_version)
    for size in range(0, len(encoded), len(encoded) // sized(40) + 1):
        with pytest.raises(Misfit) as caught:
            walked(cls, cls.last_version, encoded[:size])
        assert 0 <= caught.value.pos <= size


@each_message
def test_both_read_the_same_from_damaged_bytes_or_both_refuse(cls: type[Message]) -> None:
    random = Random(cls.__name__)
    for version in {cls.first_version, cls.last_version}:
        encoded = full(cls, version).encode(version)
        for _ in range(sized(20) if encoded else 0):
            damaged = bytearray(encoded)
            for _ in range(random.randint(1, 3)):
                damaged[random.randrange(len(damaged))] = random.choice([0, 1, 127, 128, 255])
            compiled, slow = outcome(cls, version, bytes(damaged))
            assert compiled == slow


@for_each("cls", REQUESTS)
def test_a_request_is_read_with_its_size_and_without(cls: type[Request]) -> None:
    for version in versions(cls):
        header = RequestHeader(cls.api_key, version, 7, "me")
        frame = write_request_header(header) + cls().encode(version)
        assert read_request_header(frame)[0] == header
        for given in (frame, len(frame).to_bytes(4, "big") + frame):
            explained = explain_request(given)
            assert explained.message == cls.decode(cls().encode(version), version)
            assert explained.misfits == []
            assert b"".join(row.raw for row in explained.rows) == given


@for_each("cls", RESPONSES)
def test_a_response_is_read_with_its_size_and_without(cls: type[Response]) -> None:
    for version in versions(cls):
        frame = write_response_header(7, cls.api_key, version) + cls().encode(version)
        for given in (frame, len(frame).to_bytes(4, "big") + frame):
            explained = explain_response(given, cls.api_key, version)
            assert explained.message == cls.decode(cls().encode(version), version)
            assert explained.misfits == []


class TestRecords:
    @pytest.mark.parametrize("codec", list(Codec), ids=lambda codec: codec.name)
    def test_each_record_of_a_batch_is_a_row(self, codec: Codec) -> None:
        reading = Reading(bytes(build_batch(RECORDS, codec=codec, base_offset=40)))
        read_records(reading)
        said = [row.value for row in reading.rows if row.name.startswith("record ")]
        assert said == [
            f"offset {40 + n}, time {1000 + n}, key b'key {n}', value b'value', header 'h': b'x'"
            for n in range(3)
        ]
        assert reading.misfits == []

    @pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
    @pytest.mark.parametrize("magic", [0, 1])
    def test_each_message_of_a_set_is_a_row(self, magic: int, codec: Codec) -> None:
        messages = [OldMessage(n, 1000 if magic else -1, b"k%d" % n, b"v") for n in range(3)]
        reading = Reading(bytes(build_set(messages, magic=magic, codec=codec)))
        read_records(reading)
        rows = [row for row in reading.rows if "key b'k" in row.value]
        assert [row.value[row.value.index("key") :] for row in rows] == [
            f"key b'k{n}', value b'v'" for n in range(3)
        ]
        assert reading.misfits == []

    def test_a_wrong_checksum_is_reported_and_the_records_are_shown_all_the_same(self) -> None:
        batch = build_batch(RECORDS)
        batch[20] ^= 1
        reading = Reading(bytes(batch))
        read_records(reading)
        assert [(misfit.field, misfit.pos) for misfit in reading.misfits] == [("[0].crc", 17)]
        assert reading.rows[-1].name == "record 2"

    def test_the_record_that_does_not_fit_is_named(self) -> None:
        batch = build_batch(RECORDS)
        at = batch.index(b"key 1") - 1
        batch[at] = 0x7E  # a key of 63 bytes
        reading = Reading(bytes(batch))
        with pytest.raises(Misfit) as caught:
            read_records(reading)
        assert caught.value.field == "[0].record 1.key"
        assert caught.value.pos == at + 1

    def test_a_batch_that_is_cut_is_reported(self) -> None:
        batch = bytes(build_batch(RECORDS))
        with pytest.raises(Misfit, match="batch_length does not fit at byte 8"):
            read_records(Reading(batch[:-1]))
        with pytest.raises(Misfit, match="cut batch: only 16 bytes"):
            read_records(Reading(batch[:16]))

    def test_damage_in_them_does_not_hide_what_follows(self) -> None:
        produce = next(cls for cls in REQUESTS if cls.api_key == 0)
        frame = write_request_header(RequestHeader(0, 9, 7, "me")) + full(produce, 9).encode(9)
        explained = explain_request(frame)
        assert explained.message == full(produce, 9)
        assert len(explained.misfits) == 4  # two topics of two partitions of no records at all
        assert b"".join(row.raw for row in explained.rows) == frame
