"""Produce, rule by rule: one changed batch for each reason to refuse one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.partitions.produced_batches import DECOMPRESSED_MAX
from odradek.wire import Error
from odradek.wire.api.produce import ProduceRequest, ProduceResponse
from odradek.wire.batch import checksum, read_header
from odradek.wire.compression import Codec
from odradek.wire.records import build_batch, read_records

from tests.requests.produce import batch, produce, produce_all, produce_request
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of
from tests.support.versions import first_and_last


@pytest.fixture(autouse=True)
def topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 2, {})


def patched(at: int, value: bytes, fix_crc: bool = True) -> Callable[[], bytearray]:
    """A good batch of two records with some bytes changed, the CRC put right again or not."""

    def make() -> bytearray:
        data = batch(b"one", b"two")
        data[at : at + len(value)] = value
        if fix_crc:
            data[17:21] = checksum(data, 0, len(data)).to_bytes(4, "big")
        return data

    return make


def int16(n: int) -> bytes:
    return n.to_bytes(2, "big", signed=True)


def int32(n: int) -> bytes:
    return n.to_bytes(4, "big", signed=True)


def int64(n: int) -> bytes:
    return n.to_bytes(8, "big", signed=True)


# A real broker has words for these; which ones, the differential engine compares.
WITH_WORDS = (Error.INVALID_TIMESTAMP, Error.CORRUPT_MESSAGE)

two = lambda: batch(b"one", b"two")  # noqa: E731

# What is sent, the answer, and whether the answer tells the log start offset.
CASES: list[tuple[str, Callable[[], bytes | bytearray | None], Error, int]] = [
    ("a good batch", two, Error.NONE, 0),
    ("null records", lambda: None, Error.INVALID_RECORD, -1),
    ("no bytes", lambda: b"", Error.INVALID_RECORD, -1),
    ("sixteen bytes", lambda: two()[:16], Error.INVALID_RECORD, -1),
    ("a batch that is cut", lambda: two()[:-1], Error.INVALID_RECORD, -1),
    ("a second batch", lambda: two() + two(), Error.INVALID_RECORD, -1),
    ("a cut second batch", lambda: two() + two()[:-1], Error.NONE, 0),
    (
        "a second batch of magic 3",
        lambda: two() + patched(16, b"\x03")(),
        Error.CORRUPT_MESSAGE,
        -1,
    ),
    ("thirty zero bytes", lambda: bytes(30), Error.CORRUPT_MESSAGE, -1),
    ("magic 1", patched(16, b"\x01"), Error.INVALID_RECORD, -1),
    ("magic 3", patched(16, b"\x03"), Error.CORRUPT_MESSAGE, -1),
    ("a length of 13", patched(8, int32(13)), Error.CORRUPT_MESSAGE, -1),
    ("a length of 48", lambda: patched(8, int32(48))()[:60], Error.CORRUPT_MESSAGE, -1),
    ("base offset 1", patched(0, int64(1)), Error.INVALID_RECORD, 0),
    ("base offset -1", patched(0, int64(-1)), Error.INVALID_RECORD, 0),
    ("a wrong CRC", patched(17, b"\0\0\0\0", fix_crc=False), Error.CORRUPT_MESSAGE, -1),
    ("one record too few", patched(57, int32(3)), Error.INVALID_RECORD, 0),
    ("last delta too high", patched(23, int32(2)), Error.INVALID_RECORD, 0),
    ("no records", patched(57, int32(0)), Error.INVALID_RECORD, 0),
    ("a negative count", patched(57, int32(-1)), Error.INVALID_RECORD, 0),
    ("a control batch", patched(21, int16(0x20)), Error.INVALID_RECORD, 0),
    ("codec 5", patched(21, int16(5)), Error.UNKNOWN_SERVER_ERROR, 0),
    ("gzip that is not", patched(21, int16(1)), Error.UNKNOWN_SERVER_ERROR, 0),
    ("a producer without sequence", patched(43, int64(7)), Error.INVALID_RECORD, 0),
    ("attribute bits 6, 7 and 14", patched(21, int16(0x40C0)), Error.NONE, 0),
    ("log append time on a CreateTime topic", patched(21, int16(8)), Error.NONE, 0),
    ("a byte behind the last record", lambda: longer(b"\0"), Error.INVALID_RECORD, 0),
    ("an hour too early", lambda: batch(b"x", time=NOW + 3_600_001), Error.INVALID_TIMESTAMP, 0),
    ("an hour early", lambda: batch(b"x", time=NOW + 3_600_000), Error.NONE, 0),
    ("no time", lambda: batch(b"x", time=-1), Error.NONE, 0),
    ("time -5", lambda: batch(b"x", time=-5), Error.NONE, 0),
]


def longer(tail: bytes) -> bytearray:
    data = two() + tail
    data[8:12] = int32(len(data) - 12)
    data[17:21] = checksum(data, 0, len(data)).to_bytes(4, "big")
    return data


@pytest.mark.parametrize(("name", "make", "error", "start"), CASES, ids=[c[0] for c in CASES])
def test_each_rule_has_its_code(
    client: Client,
    name: str,
    make: Callable[[], bytes | bytearray | None],
    error: Error,
    start: int,
) -> None:
    result = produce(client, make())
    assert Error(result.error_code) is error
    assert result.log_start_offset == start
    assert result.base_offset == (0 if error is Error.NONE else -1)
    assert result.error_message is None or error in WITH_WORDS


def test_only_offset_and_leader_epoch_of_a_stored_batch_differ(
    cluster: Cluster, client: Client
) -> None:
    produce(client, two())
    sent = two()
    assert produce(client, sent).base_offset == 2
    stored = bytes(cluster.partition("t", 0).log.read(2, 1 << 20))
    assert stored[:8] == int64(2)
    assert stored[12:16] == int32(0)
    assert stored[8:12] + stored[16:] == sent[8:12] + sent[16:]


def test_the_largest_timestamp_is_recomputed_from_the_records(
    cluster: Cluster, client: Client
) -> None:
    assert produce(client, patched(35, int64(NOW + 99))()).error_code == 0
    stored = cluster.partition("t", 0).log.read(0, 1 << 20)
    header = read_header(stored)
    assert header.max_timestamp == NOW
    assert header.crc == checksum(stored, 0, header.size)


def test_a_topic_with_log_append_time_stamps_the_batch(cluster: Cluster, client: Client) -> None:
    cluster.create_topic("stamped", 1, {"message.timestamp.type": "LogAppendTime"})
    result = produce(client, batch(b"x", time=5), topic="stamped")
    assert result.log_append_time_ms == NOW
    records = read_records(cluster.partition("stamped", 0).log.read(0, 1 << 20))
    assert [record.timestamp for record in records] == [NOW]


def test_every_bad_record_is_named(cluster: Cluster, client: Client) -> None:
    late = NOW + 4_000_000
    mixed = build_batch([(NOW, b"k", b"a", ()), (late, b"k", b"b", ()), (late, b"k", b"c", ())])
    result = produce(client, mixed)
    assert result.error_code == Error.INVALID_TIMESTAMP
    assert [error.batch_index for error in result.record_errors] == [1, 2]
    assert result.error_message == (
        "One or more records have been rejected due to invalid timestamp"
    )


def test_a_compacted_topic_wants_keys(cluster: Cluster, client: Client) -> None:
    cluster.create_topic("compacted", 1, {"cleanup.policy": "compact"})
    result = produce(client, batch(b"x", key=None), topic="compacted")
    assert result.error_code == Error.INVALID_RECORD
    assert [error.batch_index for error in result.record_errors] == [0]
    assert result.log_start_offset == 0
    assert produce(client, batch(b"x"), topic="compacted").error_code == 0


def test_a_batch_of_exactly_the_limit_passes(cluster: Cluster, client: Client) -> None:
    size = len(batch(bytes(500)))
    cluster.create_topic("exact", 1, {"max.message.bytes": str(size)})
    cluster.create_topic("small", 1, {"max.message.bytes": str(size - 1)})
    assert produce(client, batch(bytes(500)), topic="exact").error_code == 0
    result = produce(client, batch(bytes(500)), topic="small")
    assert (result.error_code, result.log_start_offset) == (Error.MESSAGE_TOO_LARGE, -1)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_compressed_batches_are_kept_as_they_are(
    cluster: Cluster, client: Client, codec: Codec
) -> None:
    sent = batch(*[b"value %d" % n for n in range(50)], codec=codec)
    assert produce(client, sent).error_code == 0
    assert bytes(cluster.partition("t", 0).log.read(0, 1 << 20))[61:] == sent[61:]


def test_offsets_with_holes_in_a_compressed_batch_are_refused(client: Client) -> None:
    records = [(NOW, b"k", b"a", ()), (NOW, b"k", b"b", ())]
    holes = build_batch(records, offsets=[0, 5], last_offset_delta=1, codec=Codec.LZ4)
    assert produce(client, holes).error_code == Error.UNKNOWN_SERVER_ERROR
    plain = build_batch(records, offsets=[0, 5], last_offset_delta=1)
    assert produce(client, plain).error_code == 0


def test_a_topic_with_a_codec_recompresses(cluster: Cluster, client: Client) -> None:
    cluster.create_topic("zipped", 1, {"compression.type": "gzip"})
    assert produce(client, two(), topic="zipped").error_code == 0
    stored = cluster.partition("zipped", 0).log.read(0, 1 << 20)
    assert read_header(stored).codec == Codec.GZIP
    assert [record.value for record in read_records(stored)] == [b"one", b"two"]


def test_zstd_needs_version_7(client: Client) -> None:
    sent = batch(b"x", codec=Codec.ZSTD)
    assert produce(client, sent, version=6).error_code == Error.UNSUPPORTED_COMPRESSION_TYPE
    assert produce(client, sent, version=7).error_code == 0


def test_topics_and_partitions_that_do_not_exist(cluster: Cluster, client: Client) -> None:
    unknown = Error.UNKNOWN_TOPIC_OR_PARTITION
    assert produce(client, two(), topic="absent").error_code == unknown
    assert produce(client, two(), partition=2).error_code == unknown
    assert produce(client, two(), partition=-1).error_code == unknown
    assert produce(client, two(), version=13).error_code == Error.UNKNOWN_TOPIC_ID
    known = cluster.topic("t").id
    assert produce(client, two(), version=13, topic_id=known).error_code == 0
    assert produce(client, two(), version=13, topic_id=known, partition=9).error_code == unknown
    assert "absent" not in [topic.name for topic in cluster.topics]


def test_acks_other_than_three(client: Client) -> None:
    assert produce(client, two(), acks=2).error_code == Error.INVALID_REQUIRED_ACKS
    # What was found before acks keeps its own code.
    assert produce(client, b"", acks=2).error_code == Error.INVALID_RECORD
    assert produce(client, two(), acks=1).error_code == 0


def test_acks_0_has_no_answer_and_an_error_closes_the_connection(
    cluster: Cluster, client: Client
) -> None:
    client.send(produce_request(two(), acks=0), 9)
    assert (client.answers(), client.is_closed) == ([], False)
    assert cluster.partition("t", 0).log_end_offset == 2
    client.send(produce_request(two(), topic="absent", acks=0), 9)
    assert (client.answers(), client.is_closed) == ([], True)


def test_internal_topics_are_for_the_broker(cluster: Cluster, client: Client) -> None:
    cluster.topics.ensure_internal("__consumer_offsets")
    result = produce(client, two(), topic="__consumer_offsets")
    assert result.error_code == Error.INVALID_TOPIC_EXCEPTION
    admin = client_of(cluster, client_id="__admin_client")
    assert produce(admin, two(), topic="__consumer_offsets").error_code == 0


def test_the_same_partition_twice_appends_the_last(cluster: Cluster, client: Client) -> None:
    asked = produce_request(batch(b"first"))
    asked.topic_data[0].partition_data += (
        produce_request(batch(b"last")).topic_data[0].partition_data
    )
    answer = client.ask(asked, 9)
    assert len(answer.responses[0].partition_responses) == 1
    records = read_records(cluster.partition("t", 0).log.read(0, 1 << 20))
    assert [record.value for record in records] == [b"last"]


def test_a_transactional_batch_without_an_id_refuses_the_whole_request(client: Client) -> None:
    asked = produce_request(
        batch(b"x", transactional=True, producer_id=1, producer_epoch=0, base_sequence=0)
    )
    asked.topic_data[0].partition_data += (
        produce_request(two(), partition=1).topic_data[0].partition_data
    )
    answer = client.ask(asked, 9)
    codes = [result.error_code for result in answer.responses[0].partition_responses]
    assert codes == [Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED] * 2


@pytest.mark.parametrize(("size", "codes"), [(50, [-1, -1]), (51, [0, 2])])
def test_a_batch_too_short_for_a_producer_id_refuses_the_whole_request(
    client: Client, size: int, codes: list[int]
) -> None:
    short = two()[:size]
    short[8:12] = (size - 12).to_bytes(4, "big")
    asked = produce_request(two())
    asked.topic_data[0].partition_data += (
        produce_request(short, partition=1).topic_data[0].partition_data
    )
    answer = client.ask(asked, 9)
    assert [one.error_code for one in answer.responses[0].partition_responses] == codes


def sequenced(sequence: int, *, epoch: int = 0, count: int = 1, pid: int = 5) -> bytearray:
    return batch(*[b"x"] * count, producer_id=pid, producer_epoch=epoch, base_sequence=sequence)


def test_a_duplicate_is_answered_with_its_first_offset(cluster: Cluster, client: Client) -> None:
    offsets = [produce(client, sequenced(n)).base_offset for n in range(5)]
    assert offsets == [0, 1, 2, 3, 4]
    assert [produce(client, sequenced(n)).base_offset for n in range(5)] == offsets
    assert cluster.partition("t", 0).log_end_offset == 5


def test_a_gap_in_the_sequence_is_refused(client: Client) -> None:
    assert produce(client, sequenced(0)).error_code == 0
    result = produce(client, sequenced(2))
    assert result.error_code == Error.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert (result.base_offset, result.log_start_offset) == (-1, 0)
    assert produce(client, sequenced(0, epoch=1)).error_code == 0
    assert produce(client, sequenced(1)).error_code == Error.INVALID_PRODUCER_EPOCH


def test_the_sequence_wraps_to_zero(client: Client) -> None:
    for sequence in (2147483646, 2147483647, 0, 1):
        assert produce(client, sequenced(sequence)).error_code == 0


def test_beyond_the_scan_limit_records_are_trusted(cluster: Cluster, client: Client) -> None:
    """What a broker without the C extension does with large batches, and says that it does."""
    damaged = patched(61, b"\x7f")  # the length of the first record
    assert produce(client, damaged()).error_code == Error.INVALID_RECORD
    cluster.scan_limit = 1
    assert produce(client, damaged()).error_code == 0
    cluster.scan_limit = 2
    assert produce(client, damaged()).error_code == Error.INVALID_RECORD


@pytest.mark.slow
@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.ZSTD])
def test_a_decompression_bomb_is_refused(client: Client, codec: Codec) -> None:
    bomb = batch(bytes(DECOMPRESSED_MAX + 1), codec=codec)
    assert len(bomb) < 1 << 20
    assert produce(client, bomb).error_code == Error.UNKNOWN_SERVER_ERROR


def test_who_produces_to_another_broker_learns_where_the_leader_is(three: Cluster) -> None:
    request = produce_request(batch(b"x"), topic_id=three.topic("t").id)
    answer = client_of(three, node_id=2).ask(request, 13)
    (found,) = answer.responses[0].partition_responses
    assert (found.error_code, found.current_leader.leader_id) == (6, 1)
    assert [(n.node_id, n.host, n.port) for n in answer.node_endpoints] == [(1, "h", 1)]


# Several partitions in one request, and what is told of each.


def rows(answer: ProduceResponse) -> list[tuple[str, int, int]]:
    """Topic, partition and error of each partition, in the order of the answer."""
    return [
        (topic.name, part.index, part.error_code)
        for topic in answer.responses
        for part in topic.partition_responses
    ]


def test_a_partition_named_under_two_topic_entries_gets_the_last_batch(client: Client) -> None:
    request = produce_all(
        ("t", 0, batch(b"first")), ("t", 1, batch(b"x")), ("t", 0, batch(b"last"))
    )
    assert rows(client.ask(request, 9)) == [("t", 0, 0), ("t", 1, 0)]
    assert client.cluster.partition("t", 0).log_end_offset == 1


def test_the_error_of_an_earlier_entry_is_answered_though_the_last_is_stored(
    client: Client,
) -> None:
    request = produce_all(("t", 0, b""), ("t", 0, batch(b"good")))
    assert rows(client.ask(request, 9)) == [("t", 0, 87)]
    assert client.cluster.partition("t", 0).log_end_offset == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (bytes(30), "Record size 0 is less than the minimum record overhead (14)"),
        (
            bytes(8) + b"\0\0\0\x40" + bytes(4) + b"\5" + bytes(64),
            "Invalid magic found in record: 5",
        ),
    ],
)
def test_data_that_begins_with_no_batch_refuses_the_whole_request(
    client: Client, data: bytes, message: str
) -> None:
    answer = client.ask(produce_all(("t", 0, batch(b"good")), ("none", 0, data)), 9)
    assert rows(answer) == [("t", 0, 2), ("none", 0, 2)]
    assert answer.responses[0].partition_responses[0].error_message == message
    assert client.cluster.partition("t", 0).log_end_offset == 0


@pytest.mark.parametrize(("version", "log_start"), [(6, -1), (7, 0)])
def test_a_codec_that_does_not_exist_is_found_earlier_before_version_7(
    client: Client, version: int, log_start: int
) -> None:
    broken = batch(b"x")
    broken[22] = 5
    broken[17:21] = checksum(broken, 0, len(broken)).to_bytes(4, "big")
    answer = produce(client, broken, topic="t", version=version)
    assert (answer.error_code, answer.log_start_offset) == (-1, log_start)


def test_before_version_7_a_codec_that_does_not_exist_refuses_the_whole_request(
    client: Client,
) -> None:
    broken = batch(b"x")
    broken[22] = 7
    request = produce_all(("t", 0, batch(b"good")), ("t", 1, broken), ("none", 0, b""))
    assert rows(client.ask(request, 6)) == [("t", 0, -1), ("t", 1, -1), ("none", 0, -1)]
    assert client.cluster.partition("t", 0).log_end_offset == 0


def test_a_record_that_is_refused_is_answered_with_the_reason(
    cluster: Cluster, client: Client
) -> None:
    cluster.create_topic("c", 1, {"cleanup.policy": "compact"})
    answer = produce(client, batch(b"x", key=None), topic="c")
    assert answer.record_errors[0].batch_index_error_message == (
        "Compacted topic cannot accept message without key in topic partition c-0"
    )
    cluster.create_topic("b", 1, {"message.timestamp.before.max.ms": "1000"})
    answer = produce(client, batch(b"x", time=NOW - 5000), topic="b")
    assert answer.record_errors[0].batch_index_error_message == (
        f"Timestamp {NOW - 5000} of message with offset 0 is out of range. The timestamp should be"
        f" within [{NOW - 1000}, {NOW + 3_600_000}]"
    )
    cluster.create_topic("l", 1, {"message.timestamp.type": "LogAppendTime"})
    answer = produce(client, batch(b"x", log_append_time=NOW), topic="l")
    assert answer.record_errors[0].batch_index_error_message == (
        f"Invalid timestamp type in message DefaultRecord(offset=0, timestamp={NOW}, key=1 bytes,"
        " value=1 bytes). Producer should not set timestamp type to LogAppendTime."
    )


def test_a_batch_of_half_a_producer_cannot_be_recompressed(
    cluster: Cluster, client: Client
) -> None:
    cluster.create_topic("z", 1, {"compression.type": "gzip"})
    for producer_id, epoch, sequence in ((7, -1, 0), (-2, -1, 0), (-2, 0, -1)):
        incomplete = batch(
            b"x", producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence
        )
        assert produce(client, incomplete, topic="z").error_code == -1


def test_times_that_were_not_given_do_not_lower_the_largest_time(
    cluster: Cluster, client: Client
) -> None:
    produce(client, batch(b"x", time=-5))
    assert read_header(cluster.partition("t", 0).log.read(0, 1 << 20)).max_timestamp == -1


@pytest.mark.parametrize("version", first_and_last(ProduceRequest))
def test_the_first_and_the_last_version_are_answered_alike(
    cluster: Cluster, client: Client, version: int
) -> None:
    result = produce(client, two(), topic_id=cluster.topic("t").id, version=version)
    assert (result.error_code, result.base_offset, result.log_append_time_ms) == (0, 0, -1)
    assert result.log_start_offset == (0 if version >= 5 else -1)
