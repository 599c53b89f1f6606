"""Stock clients that pretend to be old, against a broker of release 3.9: they write, read, commit.

librdkafka does so when it may not ask for versions (`api.version.request`) and learns which broker
it has; kafka-python when it is told an `api_version`. With ODRADEK_REAL=1 the same tests run on a
real Apache Kafka 3.9.2. Left out: lz4 of magic 0 by kafka-python, which wants a package for it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from odradek import Emulator
from odradek.compat import RealKafka

from tests.clients.support.wanted import WANT_REAL

confluent = pytest.importorskip("confluent_kafka", reason="unavailable: confluent-kafka")
python = pytest.importorskip("kafka", reason="unavailable: kafka-python")

pytestmark = pytest.mark.slow

TIMEOUT_S = 60
COUNT = 10
VALUES = [b"value %d " % n * 10 for n in range(COUNT)]
CODECS = ["none", "gzip", "snappy", "lz4"]
_BROKERS = [pytest.param("odradek")]
if WANT_REAL:
    _BROKERS.append(pytest.param("real", marks=pytest.mark.real))


@pytest.fixture(scope="module", params=_BROKERS)
def old(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a broker that still speaks to everybody."""
    if request.param == "real":
        with RealKafka("3.9.2") as kafka:
            yield kafka.bootstrap_servers
    else:
        with Emulator({"group.initial.rebalance.delay.ms": 0}, version="3.9") as kafka:
            yield kafka.bootstrap_servers


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", ["0.8.2", "0.9.0", "0.10.0", "0.10.2"])
def test_librdkafka_as_the_client_of_an_old_broker(old: str, version: str, codec: str) -> None:
    client = {
        "bootstrap.servers": old,
        "api.version.request": False,
        "broker.version.fallback": version,
    }
    topic = f"librdkafka-{version}-{codec}"
    failed: list[object] = []
    producer = confluent.Producer({**client, "compression.type": codec, "linger.ms": 50})
    for value in VALUES:
        producer.produce(topic, value, b"k", on_delivery=lambda error, _: failed.append(error))
    assert producer.flush(TIMEOUT_S) == 0
    assert failed == [None] * COUNT

    has_groups = not version.startswith("0.8")
    group = {"group.id": topic, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = confluent.Consumer({**client, **group})
    if has_groups:
        consumer.subscribe([topic])
    else:
        consumer.assign([confluent.TopicPartition(topic, 0, 0)])
    found: list[bytes] = []
    end = time.monotonic() + TIMEOUT_S
    while len(found) < COUNT and time.monotonic() < end:
        message = consumer.poll(0.2)
        if message is not None and not message.error():
            found.append(message.value())
    assert found == VALUES
    if has_groups:
        consumer.commit(asynchronous=False)
        partition = confluent.TopicPartition(topic, 0)
        assert consumer.committed([partition], TIMEOUT_S)[0].offset == COUNT
    consumer.close()


@pytest.mark.parametrize(
    ("version", "codec"),
    [
        (version, codec)
        for version in ((0, 8, 2), (0, 9), (0, 10), (0, 11))
        for codec in CODECS
        if codec != "lz4" or version >= (0, 10)
    ],
)
def test_kafka_python_as_the_client_of_an_old_broker(
    old: str, version: tuple[int, ...], codec: str
) -> None:
    topic = f"kafka-python-{'.'.join(map(str, version))}-{codec}"
    client = {"bootstrap_servers": old, "api_version": version}
    own = {} if version >= (0, 11) else {"enable_idempotence": False}
    producer = python.KafkaProducer(
        **client, **own, compression_type=None if codec == "none" else codec
    )
    sent = [producer.send(topic, value, b"k") for value in VALUES]
    producer.flush(TIMEOUT_S)
    first = sent[0].get(TIMEOUT_S).offset
    assert [each.get(TIMEOUT_S).offset - first for each in sent] == list(range(COUNT))
    producer.close()

    has_groups = version >= (0, 9)
    consumer = python.KafkaConsumer(
        **client,
        group_id=topic if has_groups else None,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        consumer_timeout_ms=TIMEOUT_S * 1000,
    )
    partition = python.TopicPartition(topic, 0)
    if has_groups:
        consumer.subscribe([topic])
    else:
        consumer.assign([partition])
        consumer.seek(partition, first)
    found = [next(consumer).value for _ in range(COUNT)]
    assert found == VALUES
    if has_groups:
        consumer.commit()
        assert consumer.committed(partition) == COUNT
    consumer.close()
