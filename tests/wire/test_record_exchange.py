"""Record batches, everybody's read by everybody, in every codec.

Those who write: we, Kafka's Java classes (two releases of them), aiokafka, kafka-python, and
librdkafka, whose batch is fetched from a broker of ours as it lies in the log. Those who read: the
same. The records have headers, nulls of every sort, times that run backwards, and more text than
fits one block of any codec.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.java.wire import JavaRecord, JavaWire, Refused
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.compression import Codec
from odradek.wire.legacy.message_sets import (
    Message,
    build_set,
    crc_is_right,
    entries,
    read_messages,
)
from odradek.wire.records import (
    HEADER_SIZE,
    Record,
    batches,
    build_batch,
    checksum,
    end_transaction_batch,
    read_header,
    read_records,
)

from tests.support.connection import Connection

NEWEST, OLDER = "4.3.1", "3.9.2"
ATTRIBUTES_AT = 21
FETCH, PRODUCE = 11, 9
FETCH_BYTES = 10 << 20

RECORDS = [
    Record(0, 1000, b"key", b"value", ()),
    Record(1, 900, None, b"no key", (("h", b"x"), ("h", b"y"), ("nothing", None))),
    Record(2, 2_000_000_000_000, b"no value", None, (("hé世", b""),)),
    Record(3, 1, b"", b"", (("", b"no name"),)),
    *(Record(n, 1000 + n % 7, b"%d" % n, bytes([n % 251]) * n, ()) for n in range(4, 600)),
]


@dataclass
class Peers:
    """Whoever writes and reads batches besides us; started when first needed."""

    stack: ExitStack
    started: dict[str, Any] = field(default_factory=dict)
    batches: dict[tuple[str, Codec], bytes] = field(default_factory=dict)
    topics: int = 0

    def written(self, writer: str, codec: Codec) -> bytes:
        """What one of them made of the records, once."""
        if (writer, codec) not in self.batches:
            self.batches[writer, codec] = WRITERS[writer](self, codec)
        return self.batches[writer, codec]

    def java(self, version: str) -> JavaWire:
        """A Java process with the classes of a release."""
        return self._start(version, lambda: JavaWire(version))

    def broker(self) -> Emulator:
        """A broker of ours."""
        return self._start("broker", Emulator)

    def consumer(self) -> tuple[Any, str]:
        """A consumer of librdkafka's that checks every CRC, and the topic it reads."""
        confluent = pytest.importorskip("confluent_kafka")
        if "consumer" not in self.started:
            config = {
                "bootstrap.servers": self.broker().bootstrap_servers,
                "group.id": "g",
                "check.crcs": True,
                "fetch.wait.max.ms": 10,
            }
            consumer = confluent.Consumer(config)
            self.stack.callback(consumer.close)
            self.started["consumer"] = consumer, self.topic()
        found: tuple[Any, str] = self.started["consumer"]
        return found

    def topic(self) -> str:
        """The name of a new topic."""
        self.topics += 1
        name = f"t{self.topics}"
        # Times in the future are wanted, too.
        self.broker().create_topic(name, configs={"message.timestamp.after.max.ms": 2**63 - 1})
        return name

    def _start(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self.started:
            self.started[name] = self.stack.enter_context(make())
        return self.started[name]


@pytest.fixture(scope="module")
def peers() -> Iterator[Peers]:
    with ExitStack() as stack:
        yield Peers(stack)


# Writing.


def write_ourselves(peers: Peers, codec: Codec) -> bytes:
    return bytes(build_batch([record[1:] for record in RECORDS], codec=codec))


def write_by_java(version: str) -> Callable[[Peers, Codec], bytes]:
    def write(peers: Peers, codec: Codec) -> bytes:
        records = [JavaRecord(*record) for record in RECORDS]
        return peers.java(version).build(records, codec=codec.name.lower())

    return write


def write_by_python_client(package: str) -> Callable[[Peers, Codec], bytes]:
    def write(peers: Peers, codec: Codec) -> bytes:
        module = pytest.importorskip(f"{package}.record.default_records")
        builder = module.DefaultRecordBatchBuilder(
            magic=2,
            compression_type=codec,
            is_transactional=0,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            batch_size=10 << 20,
        )
        for offset, timestamp, key, value, headers in RECORDS:
            builder.append(offset, timestamp=timestamp, key=key, value=value, headers=list(headers))
        return bytes(builder.build())

    return write


def write_by_librdkafka(peers: Peers, codec: Codec) -> bytes:
    confluent = pytest.importorskip("confluent_kafka")
    topic = peers.topic()
    producer = confluent.Producer(
        {
            "bootstrap.servers": peers.broker().bootstrap_servers,
            "compression.type": codec.name.lower(),
            "linger.ms": 50,
        }
    )
    errors = []
    for _, timestamp, key, value, headers in RECORDS:
        producer.produce(
            topic,
            key=key,
            value=value,
            headers=list(headers),
            timestamp=timestamp,
            partition=0,
            on_delivery=lambda error, _: errors.append(error),
        )
    assert producer.flush(30) == 0
    assert errors == [None] * len(RECORDS)
    with Connection(peers.broker().bootstrap_servers) as connection:
        partition = FetchRequest.Topic.Partition(
            partition=0, fetch_offset=0, partition_max_bytes=FETCH_BYTES
        )
        wanted = FetchRequest.Topic(topic=topic, partitions=[partition])
        request = FetchRequest(
            max_wait_ms=0, min_bytes=1, max_bytes=FETCH_BYTES, session_epoch=-1, topics=[wanted]
        )
        answer = connection.ask(request, FETCH)
    return bytes(answer.responses[0].partitions[0].records)


# Reading.


def read_ourselves(peers: Peers, data: bytes) -> list[Record]:
    found = []
    for pos, header in batches(data):
        assert header.crc == checksum(data, pos, header.size)
        found += read_records(data, pos)
    return found


def read_by_java(version: str) -> Callable[[Peers, bytes], list[Record]]:
    def read(peers: Peers, data: bytes) -> list[Record]:
        batches = peers.java(version).batches(data)
        return [Record(*record) for _, records in batches for record in records]

    return read


def read_by_python_client(package: str) -> Callable[[Peers, bytes], list[Record]]:
    def read(peers: Peers, data: bytes) -> list[Record]:
        pytest.importorskip(package)
        module = importlib.import_module(f"{package}.record.default_records")
        found = []
        for pos, header in batches(data):
            batch = module.DefaultRecordBatch(data[pos : pos + header.size])
            assert batch.validate_crc()
            found += [
                Record(r.offset, r.timestamp, r.key, r.value, tuple(map(tuple, r.headers)))
                for r in batch
            ]
        return found

    return read


def read_by_librdkafka(peers: Peers, data: bytes) -> list[Record]:
    confluent = pytest.importorskip("confluent_kafka")
    consumer, topic = peers.consumer()
    start = None
    with Connection(peers.broker().bootstrap_servers) as connection:
        for pos, header in batches(data):
            # As a producer sends it: with base offset 0, also where there are several batches.
            records = bytes(8) + data[pos + 8 : pos + header.size]
            partition = ProduceRequest.Topic.Partition(index=0, records=records)
            topics = [ProduceRequest.Topic(name=topic, partition_data=[partition])]
            request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=topics)
            answer = connection.ask(request, PRODUCE).responses[0].partition_responses[0]
            assert answer.error_code == 0
            start = answer.base_offset if start is None else start
    consumer.assign([confluent.TopicPartition(topic, 0, start)])
    found: list[Record] = []
    while len(found) < len(RECORDS):
        message = consumer.poll(30)
        assert message is not None, f"{len(found)} records and no more"
        assert message.error() is None
        time, headers = message.timestamp()[1], tuple(message.headers() or ())
        offset = message.offset() - start
        found.append(Record(offset, time, message.key(), message.value(), headers))
    return found


WRITERS = {
    "we": write_ourselves,
    "java": write_by_java(NEWEST),
    "older java": write_by_java(OLDER),
    "aiokafka": write_by_python_client("aiokafka"),
    "kafka-python": write_by_python_client("kafka"),
    "librdkafka": write_by_librdkafka,
}
READERS = {
    "we": read_ourselves,
    "java": read_by_java(NEWEST),
    "older java": read_by_java(OLDER),
    "aiokafka": read_by_python_client("aiokafka"),
    "kafka-python": read_by_python_client("kafka"),
    "librdkafka": read_by_librdkafka,
}
MARKS = {"java": "real", "older java": "real", "librdkafka": "client"}


def each(who: dict[str, Any]) -> list[Any]:
    return [
        pytest.param(name, marks=getattr(pytest.mark, MARKS[name]) if name in MARKS else ())
        for name in who
    ]


@pytest.mark.parametrize("codec", Codec, ids=lambda codec: codec.name.lower())
@pytest.mark.parametrize("reader", each(READERS))
@pytest.mark.parametrize("writer", each(WRITERS))
def test_what_one_writes_another_reads(
    peers: Peers, writer: str, reader: str, codec: Codec
) -> None:
    data = peers.written(writer, codec)
    assert {header.codec for _, header in batches(data)} == {codec}
    assert READERS[reader](peers, data) == RECORDS


# Headers, to the byte: what we build is what Kafka's builder builds.

IDEMPOTENT = {"producer_id": 2**40, "producer_epoch": 3, "base_sequence": 2**31 - 2}
SHAPES: dict[str, dict[str, Any]] = {
    "plain": {},
    "at a place in a log": {"base_offset": 2**40, "leader_epoch": 7},
    "idempotent": IDEMPOTENT,
    "transactional": {**IDEMPOTENT, "transactional": True},
    "stamped by the broker": {"log_append_time": 5_000},
}


@pytest.fixture(params=[NEWEST, OLDER])
def java(request: pytest.FixtureRequest, peers: Peers) -> JavaWire:
    return peers.java(request.param)


@pytest.mark.real
@pytest.mark.parametrize("shape", SHAPES)
def test_an_uncompressed_batch_is_javas_to_the_byte(java: JavaWire, shape: str) -> None:
    options, few = SHAPES[shape], RECORDS[:5]
    start = options.get("base_offset", 0)
    records = [JavaRecord(start + record.offset, *record[1:]) for record in few]
    ours = build_batch([record[1:] for record in few], **options)
    assert java.build(records, **options) == ours


@pytest.mark.real
@pytest.mark.parametrize("codec", Codec, ids=lambda codec: codec.name.lower())
@pytest.mark.parametrize("shape", SHAPES)
def test_java_finds_in_our_header_what_we_put_there(
    java: JavaWire, shape: str, codec: Codec
) -> None:
    few = [record[1:] for record in RECORDS[:3]]
    data = build_batch(few, codec=codec, offsets=[0, 4, 9], **SHAPES[shape])
    ((found, records),) = java.batches(bytes(data))
    header = read_header(data)
    assert found == {
        "magic": 2,
        "codec": codec.name.lower(),
        "base_offset": header.base_offset,
        "last_offset": header.base_offset + 9,
        "max_timestamp": header.max_timestamp,
        "log_append_time": header.is_log_append_time,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "base_sequence": header.base_sequence,
        "last_sequence": header.last_sequence,
        "leader_epoch": header.leader_epoch,
        "transactional": header.is_transactional,
        "control": False,
        "delete_horizon": -1,
        "size": len(data),
    }
    assert [Record(*record) for record in records] == read_records(data)


@pytest.mark.real
def test_java_finds_our_delete_horizon(java: JavaWire) -> None:
    ours = build_batch([record[1:] for record in RECORDS[:3]], delete_horizon=4242)
    ((found, shown),) = java.batches(bytes(ours))
    assert found["delete_horizon"] == 4242
    assert [Record(*record) for record in shown] == RECORDS[:3]


@pytest.mark.real
def test_a_batch_that_was_emptied_is_read_by_java(java: JavaWire) -> None:
    ((found, none),) = java.batches(bytes(build_batch([], last_offset_delta=5, base_offset=3)))
    assert (found["base_offset"], found["last_offset"], none) == (3, 8, [])


@pytest.mark.real
@pytest.mark.parametrize("commit", [True, False])
def test_a_marker_is_javas_to_the_byte(java: JavaWire, commit: bool) -> None:
    names = ("base_offset", "timestamp", "leader_epoch", "producer_id", "producer_epoch")
    fields = {name: 11 + n for n, name in enumerate((*names, "coordinator_epoch"))}
    assert java.marker(commit=commit, **fields) == end_transaction_batch(commit, **fields)


@pytest.mark.real
@pytest.mark.parametrize("codec", Codec, ids=lambda codec: codec.name.lower())
def test_the_crc_covers_attributes_and_all_behind_them(java: JavaWire, codec: Codec) -> None:
    batch = build_batch([record[1:] for record in RECORDS[:9]], codec=codec)
    places = [*range(ATTRIBUTES_AT, HEADER_SIZE), *range(HEADER_SIZE, len(batch), 13)]
    for at in places:
        batch[at] ^= 0x10
        assert checksum(batch, 0, len(batch)) != read_header(batch).crc
        with pytest.raises(Refused, match="CorruptRecordException"):
            java.batches(bytes(batch))
        batch[at] ^= 0x10
    for at in (0, 7, 12, 15):  # the base offset and the leader epoch, which a broker fills in
        batch[at] ^= 0x10
        assert checksum(batch, 0, len(batch)) == read_header(batch).crc
        assert len(java.batches(bytes(batch))) == 1
        batch[at] ^= 0x10


# Message sets, which only Java still writes.

OLD_CODECS = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4]
LOOSE = [Message(*record[:4]) for record in RECORDS]


@pytest.mark.real
@pytest.mark.parametrize("codec", OLD_CODECS, ids=lambda codec: codec.name.lower())
@pytest.mark.parametrize("magic", [0, 1])
def test_message_sets_are_read_both_ways(java: JavaWire, magic: int, codec: Codec) -> None:
    timed = [m if magic else m._replace(timestamp=-1) for m in LOOSE]
    records = [JavaRecord(*message) for message in timed]

    theirs = java.build(records, magic=magic, codec=codec.name.lower())
    ours = build_set(LOOSE, magic, codec=codec)

    assert read_messages(theirs) == timed
    assert all(crc_is_right(theirs, entry) for entry in entries(theirs))
    shown = java.batches(ours)
    assert [record for _, inner in shown for record in inner] == records
    assert {(batch["magic"], batch["codec"]) for batch, _ in shown} == {(magic, codec.name.lower())}
    if codec is Codec.NONE:
        assert ours == theirs
