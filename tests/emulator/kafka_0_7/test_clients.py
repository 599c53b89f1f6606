"""Clients of 0.7 as they were, under the Python of then: brod and samsa produce and consume."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest
from odradek.compat import Unavailable
from odradek.emulator.kafka_0_7 import Kafka07

BROD = """
from brod.blocking import Kafka
kafka = Kafka(host, port)
kafka.produce("orders", ["a", "bb", "ccc"])
while kafka.latest_offset("orders", 0) < 33:
    time.sleep(0.05)
found = {"fetched": kafka.fetch("orders", 0), "rest": kafka.fetch("orders", 10)}
found["offsets"] = [kafka.earliest_offset("orders", 0), kafka.latest_offset("orders", 0)]
"""

SAMSA = """
from kazoo.client import KazooClient
from samsa.cluster import Cluster
zookeeper = KazooClient(connect)
zookeeper.start()
cluster = Cluster(zookeeper)
topic = cluster.topics["orders"]
topic.publish("one")
client = cluster.brokers[0].client
client.multiproduce([("orders", 0, ("two",)), ("other", 0, ("x", "y"))])
while client.offsets("other", 0, -1, 1) < [20]:
    time.sleep(0.05)
sets = client.multifetch([("orders", 0, 0, 1000), ("other", 0, 0, 1000)])
found = {"fetched": [[str(message) for message in each] for each in sets]}
consumer = topic.subscribe("group")
found["consumed"] = [consumer.next_message(5) for _ in range(2)]
consumer.commit_offsets()
found["committed"] = zookeeper.get("/consumers/group/offsets/orders/0-0")[0]
consumer.stop_partitions()
zookeeper.stop()
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where they are installed. Raises Unavailable without the Python of then."""
    target = tmp_path_factory.mktemp("packages")
    names = ["brod==0.4.3", "samsa==0.3.11", "kazoo==2.6.1", "six==1.16.0"]
    command = [_python(), "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target)]
    done = subprocess.run([*command, *names], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"clients of 0.7 cannot be installed: {done.stderr[-300:]}")
    return target


def _python() -> str:
    """Python 2.7. Raises Unavailable."""
    beside = Path(sys.base_prefix).parent
    for found in (*sorted(beside.glob("2.7.*/bin/python2.7")), which("python2.7")):
        if (
            found is not None
            and not subprocess.run(
                [str(found), "-m", "pip", "--version"], capture_output=True, check=False
            ).returncode
        ):
            return str(found)
    raise Unavailable("there is no Python 2.7 with pip, which clients of Kafka 0.7 need")


@pytest.fixture
def kafka() -> Iterator[Kafka07]:
    with Kafka07(zookeeper=True) as kafka:
        yield kafka


def _output_of(kafka: Kafka07, packages: Path, program: str) -> dict[str, object]:
    head = f"import json, sys, time\nsys.path.insert(0, {str(packages)!r})\n"
    head += f"host, port, connect = {kafka.host!r}, {kafka.port}, {kafka.zookeeper_connect!r}\n"
    done = subprocess.run(
        [_python(), "-c", head + program + "print(json.dumps(found))"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_brod_produces_and_fetches(kafka: Kafka07, packages: Path) -> None:
    assert _output_of(kafka, packages, BROD) == {
        "fetched": [[0, "a"], [10, "bb"], [21, "ccc"]],
        "rest": [[10, "bb"], [21, "ccc"]],
        "offsets": [0, 33],
    }
    assert kafka.payloads("orders") == [(0, b"a"), (10, b"bb"), (21, b"ccc")]


def test_samsa_finds_the_broker_and_its_consumer_keeps_offsets(
    kafka: Kafka07, packages: Path
) -> None:
    assert _output_of(kafka, packages, SAMSA) == {
        "fetched": [["one", "two"], ["x", "y"]],
        "consumed": ["one", "two"],
        "committed": "24",
    }
