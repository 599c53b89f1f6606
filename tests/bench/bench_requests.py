"""Small requests without a socket: `python -m tests.bench.bench_requests [--beside CHECKOUT]`.

Each row is one request, decoded, handled, encoded and handed to a transport that drops it, again
and again on one connection: microseconds of CPU for each. With `--beside` another checkout of this
repository runs the same in turn, in processes of its own, so that whatever else the machine does
meets both alike; what is shown are medians over the runs of each, and how they compare.

The garbage collector is off meanwhile. The chain of steps (emulator/base/chain.py) is empty, but
in the last column: there it holds one step that does nothing.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time

from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.net.connection import Connection
from odradek.storage import MemoryDisk
from odradek.wire import Request
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.frames import SIZE, Part
from odradek.wire.headers import RequestHeader, write_request_header
from odradek.wire.records import NewRecord, build_batch

from .checkout import environment

ROOT = Path(__file__).parent.parent.parent
ROUNDS = 15
ROUND_S = 0.02


class Sink:
    """A transport that nobody reads."""

    def send(self, parts: list[Part]) -> None:
        """Drop an answer."""

    def ends(self) -> None:
        """There is no socket."""

    def read_on(self) -> None:
        """There is always room."""

    def close(self) -> None:
        raise AssertionError("the connection was closed")


def requests(cluster: Cluster) -> dict[str, tuple[Request, int]]:
    """What is asked, by the name of its row, and in which version."""
    topic_id = cluster.create_topic("t", 1, {}).id
    read_id = cluster.create_topic("read", 1, {}).id
    batch = bytes(build_batch([NewRecord(cluster.clock.now(), b"k", b"v" * 100)]))
    topic = ProduceRequest.Topic(
        topic_id=topic_id, partition_data=[ProduceRequest.Topic.Partition(index=0, records=batch)]
    )
    asked = FetchRequest.Topic.Partition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    latest = ListOffsetsRequest.Topic.Partition(partition_index=0, timestamp=-1)
    return {
        "ApiVersions": (
            ApiVersionsRequest(client_software_name="bench", client_software_version="1"),
            4,
        ),
        "Metadata (kept answer)": (MetadataRequest(topics=[MetadataRequest.Topic(name="t")]), 12),
        "FindCoordinator": (FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), 4),
        "Heartbeat (unknown member)": (
            HeartbeatRequest(group_id="g", generation_id=1, member_id="m"),
            4,
        ),
        "ListOffsets": (
            ListOffsetsRequest(
                replica_id=-1, topics=[ListOffsetsRequest.Topic(name="t", partitions=[latest])]
            ),
            9,
        ),
        "Fetch (nothing new)": (
            FetchRequest(
                max_wait_ms=0,
                min_bytes=0,
                max_bytes=1 << 20,
                session_epoch=-1,
                topics=[FetchRequest.Topic(topic_id=read_id, partitions=[asked])],
                forgotten_topics_data=[],
            ),
            16,
        ),
        "Produce 100 B": (ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic]), 13),
        "Produce 100 B, acks 0": (ProduceRequest(acks=0, timeout_ms=1000, topic_data=[topic]), 13),
    }


def measure() -> dict[str, float]:
    """Microseconds of each request in this process: the least of some rounds that take turns."""
    disk = MemoryDisk()
    cluster = Cluster(
        BrokerConfig({}), data_dir=disk.directory(), brokers=[Node(1, "localhost", 9092)]
    )
    connection = Connection(cluster, Sink(), "127.0.0.1", 1)
    frames = {}
    for name, (request, version) in requests(cluster).items():
        header = write_request_header(RequestHeader(request.api_key, version, 1, "bench"))
        body = header + request.encode(version)
        frames[name] = SIZE.pack(len(body)) + body
    chain = getattr(cluster, "chain", None)  # a checkout from before has none
    rows: dict[str, Callable[[], float]] = {
        name: partial(_seconds, connection, frame) for name, frame in frames.items()
    }
    times: dict[str, list[float]] = {name: [] for name in frames}
    stepped: dict[str, list[float]] = {name: [] for name in frames}
    gc.disable()
    for _ in range(ROUNDS):
        for name, row in rows.items():
            times[name].append(row())
            if chain is not None:
                from odradek.emulator.base.chain import Step

                chain.append(Step())
                stepped[name].append(row())
                chain.clear()
        gc.collect()
    found = {name: min(each) * 1e6 for name, each in times.items()}
    found |= {f"{name} +": min(each) * 1e6 for name, each in stepped.items() if each}
    return found


def _seconds(connection: Connection, frame: bytes) -> float:
    """CPU seconds of one request, over a round of them."""
    count = 0
    begin = end = process_time()
    while end - begin < ROUND_S:
        for _ in range(50):
            connection.feed(frame)
        count += 50
        end = process_time()
    return (end - begin) / count


def _measured_by(checkout: Path, links: Path) -> dict[str, float]:
    """What the program of another checkout finds, with that checkout's packages."""
    out = subprocess.run(
        [sys.executable, "-m", "tests.bench.bench_requests", "--json"],
        cwd=checkout,
        env=environment(checkout, links),
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found: dict[str, float] = json.loads(out)
    return found


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_requests")
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", help="another checkout")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each (5)")
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.json:
        print(json.dumps(measure()))
        return 0
    checkouts = [ROOT] if options.beside is None else [options.beside.resolve(), ROOT]
    runs: dict[Path, list[dict[str, float]]] = {each: [] for each in checkouts}
    with tempfile.TemporaryDirectory() as links:
        for _ in range(options.repeat):
            for checkout in checkouts:
                runs[checkout].append(_measured_by(checkout, Path(links)))
            checkouts.reverse()
    medians = {
        checkout: {name: statistics.median(run[name] for run in found) for name in found[0]}
        for checkout, found in runs.items()
    }
    ours = medians[ROOT]
    print(f"{'us a request':28}{'beside':>9}{'here':>9}{'here/beside':>13}{'one step':>10}")
    for name in (name for name in ours if not name.endswith("+")):
        other = medians[options.beside.resolve()][name] if options.beside else float("nan")
        step = ours.get(f"{name} +", float("nan"))
        print(f"{name:28}{other:9.1f}{ours[name]:9.1f}{ours[name] / other:13.3f}{step:10.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
