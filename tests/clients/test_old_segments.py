"""Segments that brokers before 0.11 wrote, given to a real Kafka and to us: both show the same.

A directory has messages of magic 0 and 1, loose and wrapped, with batches among them, and what a
kill leaves behind them (tests/support/old_segments.py). A real 3.9.2, the last line that converts,
and a real 4.3.1 answer fetches from every offset and look-ups of many times; so do we; then each
opens what the other has made of it. Meanwhile Kafka cleans compacted topics
(old_compacted_partitions.py), and we compact copies of them: the same is left. Stock clients read
it from us.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import RealKafka
from odradek.compat.real_kafka.dump_tool import complaints as complaints_of_tool
from odradek.storage.checkpoints import CLEANED_OFFSETS, read_offsets
from odradek.wire import Error, WireError
from odradek.wire.legacy.as_batches import logged_batches, read_logged
from odradek.wire.legacy.message_sets import entries, read_entry

from tests.clients.support.old_compacted_partitions import (
    NAMES,
    SEEDS,
    Keyed,
    await_cleaner,
    configs_of,
    left,
)
from tests.requests.fetch import asked, fetch_request, only
from tests.requests.offsets import list_offsets_request
from tests.support.connection import Connection
from tests.support.old_segments import END, TOPICS, TORN, T, torn
from tests.support.placed_segments import RELEASES, UNCLEANED, create_topics, forget, place

COMPACT = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "1"}
"""Never so dirty that it is cleaned."""
FETCH_VERSIONS = {"3.9.2": (0, 1, 2, 3, 4, 11), "4.3.1": (4, 11, 12)}
LIST_VERSIONS = {"3.9.2": (0, 1, 5, 8), "4.3.1": (1, 5, 8, 10)}
LIMITS = (1, 100, 1 << 20)
EAGER = {"log.cleaner.backoff.ms": "100"}
LATEST, EARLIEST, LARGEST = -1, -2, -3
TIMES = (
    *(LATEST, EARLIEST, LARGEST, 0, T - 200, T + 1_000_000),
    *(T + by for by in (-100, -94, -93, -92, -91, -50, -35, -34, -33, -32, -31)),
    *(T + by for by in (*range(-1, 12), 16, 18, 19, 20, 22, 25, 26, 30, 31, 89, 90, 91, 139, 140)),
    *(T + by for by in (499, 500, 501, 502, 503, 1009, 1010, 1011, 1012)),
)
LARGEST_SINCE, EPOCHS_SINCE, STABLE_SINCE, START_SINCE, CONVERTED_BELOW = 7, 4, 4, 5, 4
NOT_YET = (Error.UNKNOWN_TOPIC_OR_PARTITION, Error.NOT_LEADER_OR_FOLLOWER)
TIMEOUT_S = 60.0

Shown = dict[tuple[Any, ...], tuple[Any, ...]]


def old_directory(path: Path, version: str) -> Path:
    """A directory with all of it."""
    names = [*TOPICS, *TORN]
    configs = {name: COMPACT if name == "holes" else {} for name in names}
    configs.update(dict.fromkeys(NAMES, configs_of(version)))
    create_topics(path, version, configs)
    for name in names:
        place(path, name, TOPICS[name] if name in TOPICS else torn(name))
    return path


def fetch(connection: Connection, topic: str, offset: int, version: int, limit: int) -> Any:
    request = fetch_request(asked(0, offset, limit), topic=topic, min_bytes=0)
    return only(connection.ask(request, version))


def look_up(connection: Connection, topic: str, when: int, version: int) -> tuple[Any, ...]:
    request = list_offsets_request(when, topic=topic, max_num_offsets=9)
    found = connection.ask(request, version).topics[0].partitions[0]
    if version == 0:
        return found.error_code, found.old_style_offsets
    # The latest epoch is that of this start.
    epoch = found.leader_epoch if version >= EPOCHS_SINCE and when != LATEST else None
    return found.error_code, found.timestamp, found.offset, epoch


def end_of(connection: Connection, topic: str) -> int:
    """The high watermark, as soon as a broker that has just started knows it."""
    deadline = time.monotonic() + TIMEOUT_S
    while (answer := fetch(connection, topic, 0, 4, 1)).error_code in NOT_YET:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return int(answer.high_watermark)


def everything(address: str, version: str) -> Shown:
    """Fetches from every offset (of long logs: many), and look-ups of all times."""
    shown: Shown = {}
    with Connection(address) as connection:
        for topic in (*TOPICS, *TORN):
            end = end_of(connection, topic)
            step = 1 if topic in TOPICS and end < 50 else 7
            for offset in {*range(0, end, step), end - 1, end, end + 1}:
                for api in FETCH_VERSIONS[version]:
                    for limit in LIMITS:
                        answer = fetch(connection, topic, offset, api, limit)
                        shown[topic, "fetch", offset, api, limit] = (
                            *(answer.error_code, answer.high_watermark),
                            answer.last_stable_offset if api >= STABLE_SINCE else None,
                            answer.log_start_offset if api >= START_SINCE else None,
                            bytes(answer.records or b""),
                        )
            for when in TIMES:
                for api in LIST_VERSIONS[version]:
                    if when != LARGEST or api >= LARGEST_SINCE:
                        shown[topic, "list", when, api] = look_up(connection, topic, when, api)
    return shown


def differences(theirs: Shown, ours: Shown) -> list[str]:
    assert theirs.keys() == ours.keys()
    return [
        f"{asked}: {theirs[asked]!r:.300} but ours: {ours[asked]!r:.300}"
        for asked in theirs
        if theirs[asked] != ours[asked] and not is_recompressed(asked, theirs[asked], ours[asked])
    ]


def is_recompressed(asked: tuple[Any, ...], one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two conversions only differ in what a library makes of the same bytes."""
    if asked[1] != "fetch" or asked[3] >= CONVERTED_BELOW or one[:-1] != other[:-1]:
        return False
    try:
        return messages(one[-1]) == messages(other[-1])
    except WireError:
        return False


def messages(data: bytes) -> list[Any]:
    return [message for entry in entries(data) for message in read_entry(data, entry)]


def shown_by_kafka(path: Path, version: str, keyed: list[Keyed]) -> Shown:
    with RealKafka(version, data_dir=path, config=EAGER) as kafka:
        shown = everything(kafka.bootstrap_servers, version)
        await_cleaner(path, keyed)
        return shown


def shown_by_us(path: Path, version: str, notices: int) -> Shown:
    with Emulator(UNCLEANED, data_dir=path, version=RELEASES[version]) as emulator:
        shown = everything(emulator.bootstrap_servers, version)
        found = emulator.run(lambda cluster: [str(each) for each in cluster.log_dir.notices])
    assert len(found) == notices, found
    return shown


def compacted_alike(ours: Path, theirs: Path, keyed: list[Keyed], version: str) -> bool:
    """Whether we leave what Kafka has left, having compacted up to where both did before."""
    file = ours / CLEANED_OFFSETS
    cleaned = read_offsets(file.read_bytes(), file.name) if file.exists() else {}
    for one in keyed:
        one.compact(ours, theirs, cleaned.get((one.topic, 0)), version)
    return left(ours) == left(theirs)


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("version", [pytest.param("3.9.2", marks=pytest.mark.long), "4.3.1"])
def test_we_do_with_old_segments_as_a_real_broker_does(tmp_path: Path, version: str) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    old_directory(ours, version)
    keyed = [Keyed(seed) for seed in range(SEEDS)]
    for one in keyed:
        one.write(ours, 4)
    shutil.copytree(ours, theirs)
    expected = shown_by_kafka(theirs, version, keyed)
    shown = shown_by_us(ours, version, notices=len(TORN))
    assert differences(expected, shown) == []
    assert {shown[topic, "fetch", 0, 4, 1][1] for topic in TORN} == {END}
    assert compacted_alike(ours, theirs, keyed, version)
    if version == "4.3.1":
        assert complaints_of_tool(ours, compacted=["holes", *NAMES]) == []

    assert differences(expected, shown_by_us(theirs, version, notices=0)) == []
    for one in keyed:
        one.write(theirs, 2)
    forget(theirs)
    shutil.rmtree(ours)
    shutil.copytree(theirs, ours)
    assert differences(expected, shown_by_kafka(theirs, version, keyed)) == []
    assert compacted_alike(ours, theirs, keyed, version)


# Stock clients.


@pytest.fixture(scope="module", params=["3.9.2", "4.3.1"])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a broker of ours that has such a directory."""
    path = old_directory(tmp_path_factory.mktemp("old") / "data", request.param)
    with Emulator(UNCLEANED, data_dir=path, version=RELEASES[request.param]) as emulator:
        yield emulator.bootstrap_servers


Read = tuple[int, int, bytes | None, bytes | None]


def written(topic: str) -> list[Read]:
    """Offset, time, key and value of all that a topic has; the time 0 is none to librdkafka."""
    segments = TOPICS[topic] if topic in TOPICS else TORN[topic][0]
    return [
        (record.offset, record.timestamp or -1, record.key, record.value)
        for data in segments.values()
        for at, _ in logged_batches(data)
        for record in read_logged(data, at)
    ]


def by_confluent(address: str, topic: str, count: int) -> list[Read]:
    confluent = pytest.importorskip("confluent_kafka", reason="unavailable: confluent-kafka")
    consumer = confluent.Consumer(
        {"bootstrap.servers": address, "group.id": "g", "check.crcs": True}
    )
    consumer.assign([confluent.TopicPartition(topic, 0, 0)])
    found: list[Read] = []
    deadline = time.monotonic() + TIMEOUT_S
    while len(found) < count and time.monotonic() < deadline:
        message = consumer.poll(0.2)
        if message is not None and not message.error():
            kind, when = message.timestamp()
            when = -1 if kind == confluent.TIMESTAMP_NOT_AVAILABLE else when
            found.append((message.offset(), when, message.key(), message.value()))
    consumer.close()
    return found


def by_kafka_python(address: str, topic: str, count: int) -> list[Read]:
    python = pytest.importorskip("kafka", reason="unavailable: kafka-python")
    consumer = python.KafkaConsumer(
        bootstrap_servers=address, consumer_timeout_ms=int(TIMEOUT_S * 1000)
    )
    partition = python.TopicPartition(topic, 0)
    consumer.assign([partition])
    consumer.seek(partition, 0)
    found = [next(consumer) for _ in range(count)]
    consumer.close()
    return [(one.offset, _time(one.timestamp), one.key, one.value) for one in found]


def by_aiokafka(address: str, topic: str, count: int) -> list[Read]:
    aiokafka = pytest.importorskip("aiokafka", reason="unavailable: aiokafka")

    async def read() -> list[Any]:
        consumer = aiokafka.AIOKafkaConsumer(bootstrap_servers=address)
        await consumer.start()
        try:
            partition = aiokafka.TopicPartition(topic, 0)
            consumer.assign([partition])
            consumer.seek(partition, 0)
            return [await asyncio.wait_for(consumer.getone(), TIMEOUT_S) for _ in range(count)]
        finally:
            await consumer.stop()

    found = asyncio.run(read())
    return [(one.offset, _time(one.timestamp), one.key, one.value) for one in found]


def _time(timestamp: int | None) -> int:
    return timestamp or -1


CANNOT: dict[Callable[[str, str, int], list[Read]], set[str]] = {
    by_confluent: set(),
    by_kafka_python: {"wrapped-0", "large"},  # lz4 of magic 0, without a package more
    by_aiokafka: {"wrapped-0", "large", "mixed", "holes"},  # nor magic 2 behind others in an answer
}
"""The topics that a client cannot read, wherever they come from."""


@pytest.mark.slow
@pytest.mark.parametrize("read", [by_confluent, by_kafka_python, by_aiokafka])
def test_stock_clients_read_old_segments(
    served: str, read: Callable[[str, str, int], list[Read]]
) -> None:
    for topic in [name for name in (*TOPICS, *TORN) if name not in CANNOT[read]]:
        expected = written(topic)
        assert read(served, topic, len(expected)) == expected, topic
