"""Every argument of the public face that cannot be is refused by name, at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from odradek import ConfigError, Emulator, ManualClock, Refused
from odradek.storage import MemoryDisk

from tests.support.cluster import open_cluster

CONFIG_VALUE = "num.partitions in config is a str, a number, a bool, or a list of them, not "
PARTITIONS = "topics['a'] is a number of partitions"
SCAN = "scan_limit is a number of records, None for every record, or 'default', not "
PORT = "port is from 0 (a free one) to 65535, not "

# The arguments; what is raised; how its sentence begins.
CLOCK = 'clock is "manual", "test", "system", how many seconds pass in a real one, or a Clock, not '
WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"config": 5}, TypeError, "config is a mapping, name of a config -> value, not 5"),
    ({"config": "a=b"}, TypeError, "config is a mapping, name of a config -> value, not 'a=b'"),
    ({"config": {5: "x"}}, TypeError, "the name of a config in config is a str, not 5"),
    ({"config": {"num.partitions": None}}, TypeError, f"{CONFIG_VALUE}None"),
    ({"config": {"num.partitions": b"3"}}, TypeError, f"{CONFIG_VALUE}b'3'"),
    ({"config": {"num.partitions": {}}}, TypeError, f"{CONFIG_VALUE}{{}}"),
    ({"config": {"num.partitions": [None]}}, TypeError, f"an item of {CONFIG_VALUE}None"),
    ({"config": {"num.partitions": 3.5}}, ConfigError, "Invalid value 3.5 for configuration num."),
    ({"config": {"no.such": 1}}, ConfigError, "Unknown broker config name: no.such"),
    (
        {"topics": "a"},
        TypeError,
        "topics is a mapping, name -> number of partitions, or a list of names, not",
    ),
    ({"topics": {5: 1}}, TypeError, "the name of a topic in topics is a str, not 5"),
    ({"topics": {b"a": 1}}, TypeError, "the name of a topic in topics is a str, not b'a'"),
    ({"topics": {"a": {}}}, TypeError, f"{PARTITIONS}, not {{}}"),
    ({"topics": {"a": {"config": {5: "x"}}}}, TypeError, f"{PARTITIONS}, not {{'config'"),
    ({"topics": {"a": "3"}}, TypeError, f"{PARTITIONS}, not '3'"),
    ({"topics": {"a": None}}, TypeError, f"{PARTITIONS}, not None"),
    ({"topics": {"a": True}}, TypeError, f"{PARTITIONS}, not True"),
    ({"topics": {"a": 2.0}}, TypeError, f"{PARTITIONS}, not 2.0"),
    ({"topics": {"a": 0}}, Refused, f"INVALID_PARTITIONS: {PARTITIONS}, at least 1, not 0"),
    ({"topics": {"a": -1}}, Refused, f"INVALID_PARTITIONS: {PARTITIONS}, at least 1, not -1"),
    (
        {"topics": {"a": 1 << 30}},
        Refused,
        f"POLICY_VIOLATION: topics['a'] is at most 10000 partitions, not {1 << 30}",
    ),
    ({"features": ["x"]}, TypeError, "features is a mapping, name of a feature -> level, not"),
    ({"features": {5: 1}}, ConfigError, "Unknown feature: 5"),
    ({"features": {"group.version": "1"}}, ConfigError, "Feature group.version has the levels"),
    ({"features": {"group.version": True}}, ConfigError, "Feature group.version has the levels"),
    ({"data_dir": 5}, TypeError, "data_dir is a str or a Path, not 5"),
    ({"data_dir": b"x"}, TypeError, "data_dir is a str or a Path, not b'x'"),
    ({"data_dir": ""}, ValueError, "data_dir is the path of a directory, not ''"),
    ({"data_dir": "a\0b"}, ValueError, "data_dir is the path of a directory, not 'a\\x00b'"),
    ({"data_dir": "x", "disk": MemoryDisk()}, ValueError, "data_dir and disk exclude each other"),
    ({"disk": 5}, TypeError, "disk is a MemoryDisk, not 5"),
    ({"disk": MemoryDisk}, TypeError, "disk is a MemoryDisk, not <class"),
    ({"host": None}, TypeError, "host is a str, not None"),
    ({"host": ""}, ValueError, "host is a name or an address to listen on, not ''"),
    ({"host": "a..b"}, ValueError, "host is a name or an address to listen on, not 'a..b'"),
    ({"port": "9092"}, TypeError, "port is an int from 0 (a free one) to 65535, not '9092'"),
    ({"port": None}, TypeError, "port is an int"),
    ({"port": True}, TypeError, "port is an int"),
    ({"port": -1}, ValueError, f"{PORT}-1"),
    ({"port": 65536}, ValueError, f"{PORT}65536"),
    ({"advertised": ("h", 1)}, TypeError, "advertised is a str, \"host:port\", not ('h', 1)"),
    ({"advertised": ""}, ValueError, "advertised: not an address of the form HOST:PORT: ''"),
    (
        {"advertised": "h:65535", "brokers": 2},
        ValueError,
        "advertised: 'h:65535' leaves no port for broker 2: 65536",
    ),
    (
        {"port": 65534, "brokers": 3},
        ValueError,
        "port and those after it are for 3 brokers: 65536 is none",
    ),
    ({"advertised": "h:²"}, ValueError, "advertised: not an address of the form HOST:PORT"),
    ({"clock": 0}, ValueError, f'{CLOCK}0: it stands still with "manual"'),
    ({"clock": -60}, ValueError, f"{CLOCK}-60"),
    ({"clock": "fast"}, ValueError, f"{CLOCK}'fast'"),
    ({"clock": True}, TypeError, f"{CLOCK}True"),
    ({"clock": ManualClock}, TypeError, f"{CLOCK}<class"),
    ({"clock": lambda: 0}, TypeError, f"{CLOCK}<function"),
    (
        {"scan_limit": -1},
        ValueError,
        "scan_limit is at least 0, not -1: no batch has fewer records",
    ),
    ({"scan_limit": "all"}, TypeError, f"{SCAN}'all'"),
    ({"scan_limit": 1.5}, TypeError, f"{SCAN}1.5"),
    ({"scan_limit": True}, TypeError, f"{SCAN}True"),
    ({"retention": None}, TypeError, "retention is a function, as kafka_retention, not None"),
    (
        {"version": None},
        ValueError,
        "version: no release 'None' of Kafka here; there are 4.3, 4.2",
    ),
    ({"version": "3.7"}, ValueError, "version: no release '3.7' of Kafka here"),
    ({"naming": ["kafka"]}, TypeError, "naming is a str, not ['kafka']"),
    ({"timing": "slow"}, ValueError, "timing is 'instant' or 'kafka', not 'slow'"),
    ({"timing": None}, TypeError, "timing is a str, not None"),
    ({"naming": "x"}, ValueError, "naming: there is no naming 'x', but kafka and documented"),
]


@pytest.mark.parametrize(
    ("given", "kind", "sentence"), WRONG, ids=[" ".join(row[0]) for row in WRONG]
)
def test_what_cannot_be_is_refused_by_name(
    given: dict[str, Any], kind: type[Exception], sentence: str
) -> None:
    with pytest.raises(kind) as raised:
        Emulator(**given)
    assert type(raised.value) is kind
    assert str(raised.value).startswith(sentence)


def test_what_can_be_in_more_than_one_way_is_taken(tmp_path: Path) -> None:
    Emulator(version=3.9, data_dir=str(tmp_path), host="::1", scan_limit=0)  # type: ignore[arg-type]
    Emulator({"log.cleanup.policy": ("compact", "delete"), "num.partitions": "2"}, scan_limit=None)


def test_verbs_refuse_by_name_too() -> None:
    wrong: list[tuple[str, tuple[Any, ...], str]] = [
        ("create_topic", (5,), "name is a str, not 5"),
        ("create_topic", ("a", "3"), "partitions is a number of partitions, not '3'"),
        ("create_topic", ("a", 1, {5: "x"}), "the name of a config in config is a str, not 5"),
        ("create_topic", ("a", 1, ["x"]), "config is a mapping, name of a config -> value, not"),
        ("topic", (["a"],), "name is a str, not ['a']"),
        ("delete_topic", (None,), "name is a str, not None"),
        ("advance", ([1],), "how far is a timedelta or a number of seconds (other units by name"),
        ("group", (5,), "group_id is a str, not 5"),
    ]
    with Emulator(clock=ManualClock()) as kafka:
        for verb, arguments, sentence in wrong:
            with pytest.raises(TypeError) as raised:
                getattr(kafka, verb)(*arguments)
            assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize("now", ["0", 1.5, True])
def test_a_manual_clock_counts_in_whole_milliseconds(now: Any) -> None:
    with pytest.raises(TypeError, match="now is a whole number of milliseconds"):
        ManualClock(now)
    with pytest.raises(TypeError, match="milliseconds is a whole number of milliseconds"):
        ManualClock(0).advance(now)


def test_a_cluster_without_a_socket_refuses_a_negative_scan_limit(tmp_path: Path) -> None:
    from odradek.emulator.base.node import Node
    from odradek.emulator.cluster import Cluster
    from odradek.emulator.config.configs import BrokerConfig

    open_cluster(tmp_path).close()
    with pytest.raises(ValueError, match="scan_limit is at least 0, not -1"):
        Cluster(BrokerConfig(), data_dir=tmp_path, brokers=[Node(1, "", 0)], scan_limit=-1)
