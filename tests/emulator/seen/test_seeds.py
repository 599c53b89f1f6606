"""Records to begin with, from a dict, JSON Lines, or CSV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek.emulator import Emulator, NewRecord, Refused
from odradek.storage import MemoryDisk


@pytest.fixture(scope="module")
def running() -> Iterator[Emulator]:
    with Emulator(disk=MemoryDisk()) as kafka:
        yield kafka


@pytest.fixture
def kafka(running: Emulator) -> Iterator[Emulator]:
    """Without any topics."""
    yield running
    for name in running.topics():
        running.delete_topic(name)


def test_a_dict(kafka: Emulator) -> None:
    kafka.create_topic("there", 2)
    counts = kafka.seed(
        {
            "orders": ["a", {"n": 1}, NewRecord("c", "k", {"h": "1"}, 5, 2)],
            "there": [b"x", b"y"],
            "empty": [],
        }
    )
    assert counts == {"orders": 3, "there": 2, "empty": 0}
    orders = kafka.topic("orders")
    assert len(orders) == 3
    assert sorted(orders.values(), key=str) == [b"a", b"c", b'{"n": 1}']
    record = orders[2].last()
    assert (record.key, record.headers, record.timestamp) == (b"k", {"h": "1"}, 5)
    assert [each.values() for each in kafka.topic("there")] == [[b"x"], [b"y"]]
    assert len(kafka.topic("empty")) == 1


def test_json_lines(kafka: Emulator, tmp_path: Path) -> None:
    file = tmp_path / "seed.jsonl"
    file.write_text(
        '{"topic": "orders", "key": "1", "value": {"item": "ü"}, "headers": {"h": "v"}}\n\n'
        '{"topic": "orders", "value": null, "key": "2", "timestamp": 7, "partition": 1}\n'
        '{"value": "text"}\n'
    )
    assert kafka.seed(str(file), topic="rest") == {"orders": 2, "rest": 1}
    first, second = sorted(kafka.topic("orders").records(), key=lambda r: str(r.key))
    assert (first.key, first.json(), first.headers) == (b"1", {"item": "ü"}, {"h": "v"})
    assert (second.key, second.value, second.timestamp, second.partition) == (b"2", None, 7, 1)
    assert kafka.topic("rest").values() == [b"text"]


def test_csv(kafka: Emulator, tmp_path: Path) -> None:
    file = tmp_path / "seed.csv"
    file.write_text(
        'topic,key,value,partition,timestamp,headers.h\norders,1,"a,b",1,7,v\norders,,,,,\n'
    )
    assert kafka.seed(file) == {"orders": 2}
    first, second = sorted(kafka.topic("orders").records(), key=lambda r: -r.partition)
    assert (first.partition, first.key, first.value) == (1, b"1", b"a,b")
    assert (first.timestamp, first.headers) == (7, {"h": "v"})
    assert (second.partition, second.key, second.value, second.headers) == (0, None, b"", {"h": ""})


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("s.jsonl", '{"topic": "t", "value": 1}\n{"topic"', "s.jsonl:2: not JSON"),
        ("s.jsonl", "[1]\n", r"s.jsonl:1: a record is an object, not \[1\]"),
        ("s.jsonl", '{"value": 1}', "s.jsonl:1: the field 'topic' is missing"),
        ("s.ndjson", '{"topic": "t"}', "s.ndjson:1: the field 'value' is missing"),
        ("s.jsonl", '{"topic": "t", "vlaue": 1}', "s.jsonl:1: no field 'vlaue'; there are topic,"),
        (
            *("s.jsonl", '{"topic": "t", "value": 1, "partition": "0"}'),
            "s.jsonl:1: partition is a whole number, not '0'",
        ),
        ("s.csv", "topic,value,timestamp\nt,a,soon\n", "s.csv:2: timestamp is a whole number"),
        ("s.csv", "topic,value\nt,a,b\n", "s.csv:2: no field 'a column without a name'"),
        ("s.txt", "", "s.txt is no .jsonl, .ndjson or .csv file"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_stored(
    kafka: Emulator, tmp_path: Path, name: str, text: str, reason: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=reason):
        kafka.seed(tmp_path / name)
    assert kafka.topics() == []


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"t": "abc"}, "the seed of topic 't' is a list of records, not 'abc'"),
        ({"t": {"a": 1}}, "the seed of topic 't' is a list of records, not {'a': 1}"),
        (["a"], r"seed takes a dict of topics, or the path of .*, not \['a'\]"),
    ],
)
def test_other_kinds_are_refused(kafka: Emulator, given: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        kafka.seed(given)


def test_a_topic_that_kafka_refuses(kafka: Emulator) -> None:
    with pytest.raises(Refused, match="INVALID_TOPIC_EXCEPTION"):
        kafka.seed({"no topic": ["a"]})


def test_a_data_directory(kafka: Emulator, tmp_path: Path) -> None:
    source = tmp_path / "source"
    with Emulator(data_dir=source) as left:
        orders = left.create_topic("orders", 3, {"retention.ms": -1})
        orders.produce("a", "k", headers={"h": "1"}, timestamp=5, partition=1)
        left.create_topic("table", 1, {"cleanup.policy": "compact"}).produce("v", "k")
        left.group("g").commit({("orders", 1): 1})  # in an internal topic
    before = {path: path.stat().st_mtime_ns for path in source.rglob("*")}

    assert kafka.seed(source) == {"orders": 1, "table": 1}

    (record,) = kafka.topic("orders").records()
    assert (record.partition, record.key, record.value, record.timestamp) == (1, b"k", b"a", 5)
    assert record.headers == {"h": "1"}
    assert len(kafka.topic("orders")) == 3
    assert kafka.topic("table").compact() == 1  # it has its configs
    assert {path: path.stat().st_mtime_ns for path in source.rglob("*")} == before


def test_another_directory(kafka: Emulator, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"is not the data directory of a broker: .*meta.properties"
    ):
        kafka.seed(tmp_path)
