"""kafka.journal, through the public face."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator, Error
from odradek.emulator.control.traffic.files import load
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.records import NewRecord, build_batch

from tests.support.connection import Connection


def produce(topic: str = "orders", topic_id: bytes | None = None) -> ProduceRequest:
    records = build_batch([NewRecord(1, None, b"x")])
    parts = [ProduceRequest.Topic.Partition(index=0, records=records)]
    named = ProduceRequest.Topic(name=topic, partition_data=parts)
    if topic_id is not None:
        named.topic_id = topic_id
    return ProduceRequest(acks=1, timeout_ms=1000, topic_data=[named])


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(topics={"orders": 1, "other": 1}) as kafka:
        yield kafka


def test_it_is_off_until_it_is_asked_for(kafka: Emulator) -> None:
    assert repr(kafka.journal) == "<journal: off>"
    for look in (len, list, lambda journal: journal.of("Fetch")):
        with pytest.raises(RuntimeError, match="the journal is off"):
            look(kafka.journal)
    assert kafka.run(lambda cluster: cluster.chain) == []


def test_within_a_with_everything_is_kept_and_stays_after_the_broker(kafka: Emulator) -> None:
    with Connection(kafka.bootstrap_servers) as client:
        client.ask(MetadataRequest(topics=None), 12)
        with kafka.journal as journal:
            client.ask(produce(), 9)
        client.ask(MetadataRequest(topics=None), 12)
    kafka.stop()
    assert [each.api for each in journal] == ["Produce"]
    assert not journal.is_on
    port = journal[0].connection.client.port
    line = f"Produce v9 of orders from by hand (127.0.0.1:{port}): answered after"
    assert line in repr(kafka.journal)


def test_a_with_leaves_one_on_that_was_on() -> None:
    with Emulator(journal=True) as kafka:
        with kafka.journal:
            assert kafka.journal.is_on
        assert kafka.journal.is_on
        kafka.journal.stop()
        assert kafka.run(lambda cluster: cluster.chain) == []


def test_which_requests_are_wanted(kafka: Emulator) -> None:
    with kafka.journal as journal, Connection(kafka.bootstrap_servers) as client:
        client.ask(produce("orders"), 9)
        client.ask(produce("other"), 9)
        client.ask(produce("none"), 9)
        client.ask(MetadataRequest(topics=None), 12)
    assert len(journal) == 4
    assert len(journal.of("Produce")) == len(journal.of(ProduceRequest)) == 3
    assert len(journal.of("produce", topic="orders")) == 1
    assert [each.api for each in journal.of(topic="orders")] == ["Produce", "Metadata"]
    assert len(journal.of(error=Error.UNKNOWN_TOPIC_OR_PARTITION)) == 1
    assert len(journal.of(client_id="by hand", connection=1, outcome="answered")) == 4
    assert len(journal.of(client_id="nobody")) == len(journal.of(connection=2)) == 0
    assert len(journal.of("Produce").of(where=lambda each: each.number == 2)) == 1
    assert len(journal.of(topic=re.compile("^ord"), client_id=re.compile("hand$"))) == 2
    assert len(journal.of("Produce", partition=0, version=range(20), broker=1)) == 3
    assert len(journal.of("Produce", topic="orders", partition=7)) == 0
    assert len(journal.of(client_software=re.compile("librdkafka"))) == 0
    assert [each.number for each in journal[1:3]] == [2, 3]


def test_topics_that_are_named_by_their_id(kafka: Emulator) -> None:
    topic_id = kafka.run(lambda cluster: cluster.topic("orders").id)
    parts = [FetchRequest.Topic.Partition(partition=0, fetch_offset=0, partition_max_bytes=1)]
    fetch = FetchRequest(
        max_wait_ms=0, min_bytes=0, topics=[FetchRequest.Topic(topic_id=topic_id, partitions=parts)]
    )
    with kafka.journal as journal, Connection(kafka.bootstrap_servers) as client:
        client.ask(produce(topic_id=topic_id), 13)
        client.ask(fetch, 16)
    assert len(journal.of(topic="orders")) == 2
    kafka.delete_topic("orders")
    assert len(journal.of("Fetch", topic="orders")) == 1


@pytest.mark.parametrize(
    ("wanted", "message"),
    [({"api": "Fech"}, "there is no API 'Fech'; do you mean Fetch"),
     ({"outcome": "lost"}, "outcome is 'waiting' or 'answered'"),
     ({"topics": "t"}, "of has no keyword 'topics'; did you mean topic=?"),
     ({"api": "Heartbeat", "topic": "t"}, "a request of Heartbeat has no topic"),
     ({"service": "shop"}, "of has no keyword 'service': it has topic, partition")],
)  # fmt: skip
def test_what_is_wanted_is_checked(kafka: Emulator, wanted: dict[str, Any], message: str) -> None:
    with kafka.journal as journal, pytest.raises((ValueError, TypeError), match=message):
        journal.of(**wanted)


def test_what_is_dropped_is_said(kafka: Emulator) -> None:
    kafka.journal.start(most=2)
    with Connection(kafka.bootstrap_servers) as client:
        for _ in range(5):
            client.ask(MetadataRequest(topics=None), 12)
    assert (len(kafka.journal), kafka.journal.dropped) == (2, 3)
    assert repr(kafka.journal).startswith("<journal: 2 requests, 3 older ones dropped\n  #4 ")
    with pytest.raises(ValueError, match="most_bytes is at least 1, not 0"):
        kafka.journal.start(most_bytes=0)


def test_it_goes_on_after_a_restart_a_reset_and_in_a_fork(kafka: Emulator) -> None:
    def ask(broker: Emulator) -> None:
        with Connection(broker.bootstrap_servers) as client:
            client.ask(MetadataRequest(topics=None), 12)

    with kafka.journal as journal:
        ask(kafka)
        with kafka.fork() as twin:
            ask(twin)
            assert (len(twin.journal), len(journal)) == (1, 1)
        kafka.restore(kafka.snapshot())
        ask(kafka)
        assert len(journal) == 2
        kafka.reset()
        assert len(journal) == 0
        ask(kafka)
        kafka.stop()
        kafka.start()
        ask(kafka)
        assert len(journal) == 2
    assert kafka.run(lambda cluster: cluster.chain) == []


@pytest.mark.parametrize("name", ["journal.jsonl", "journal.pcapng"])
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_file_has_all_that_went_over_the_wire(name: str, host: str, tmp_path: Path) -> None:
    with Emulator(topics={"orders": 1}, host=host, journal=True) as kafka:
        with Connection(kafka.bootstrap_servers.replace("[", "").replace("]", "")) as client:
            client.ask(MetadataRequest(topics=None), 12)
            client.ask(produce(), 9)
            client.send(ProduceRequest(acks=0, timeout_ms=1, topic_data=[]), 9)
            client.ask(produce(), 9)
        path = kafka.journal.save(tmp_path / name)
        kept = list(kafka.journal)
    read = list(load(path).exchanges)
    for one, other in zip(kept, read, strict=True):
        for field in ("number", "client_id", "outcome", "topics", "request_frame",
                      "request_size", "response_frame", "response_size", "software"):  # fmt: skip
            owner = "connection" if field == "software" else ""
            mine, its = (getattr(each, owner) if owner else each for each in (one, other))
            assert getattr(mine, field) == getattr(its, field), field
        assert (one.request, one.response) == (other.request, other.response)
        assert one.connection.client == other.connection.client
        assert abs(one.time_ms - other.time_ms) < 0.01
        if one.outcome == "answered":
            assert abs((one.duration_ms or 0) - (other.duration_ms or 0)) < 0.01
    assert read[2].outcome == "no reply"


def test_json_lines_are_for_people_too(kafka: Emulator, tmp_path: Path) -> None:
    with kafka.journal as journal, Connection(kafka.bootstrap_servers) as client:
        client.ask(produce(), 9)
    head, line = map(json.loads, journal.save(tmp_path / "j.jsonl").read_text().splitlines())
    assert head["odradek"] == "journal"
    assert sorted(head["topics"].values()) == ["orders", "other"]
    assert (line["api"], line["clientId"], line["outcome"]) == ("Produce", "by hand", "answered")
    (topic,) = line["request"]["topicData"]
    assert topic["partitionData"][0]["records"]["batches"][0]["recordCount"] == 1
    answer = line["response"]["responses"][0]["partitionResponses"][0]
    assert (answer["errorCode"], answer["baseOffset"]) == (0, 0)
    assert base64.b64decode(line["requestFrame"]) == journal[0].request_frame


def test_another_ending_is_refused(kafka: Emulator, tmp_path: Path) -> None:
    with kafka.journal as journal, pytest.raises(ValueError, match=r"\.jsonl or \.pcapng"):
        journal.save(tmp_path / "journal.txt")
