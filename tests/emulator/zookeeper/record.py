"""`python -m tests.emulator.zookeeper.record`: three brokers of Kafka 2.7 make the changes; what
each left in ZooKeeper is written to recorded.json, against which ours is held.
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from odradek.compat import RealKafka, RealZooKeeper
from odradek.wire import Request

from tests.emulator.zookeeper.changes import CHANGES
from tests.emulator.zookeeper.nodes import Nodes, changed, nodes_of
from tests.support.connection import Connection

FILE = Path(__file__).parent / "recorded.json"
VERSION = "2.7.2"
_AT_WORK = ("/admin/reassign_partitions", "/admin/preferred_replica_election")
_QUIET_S = 1.2
_TIMEOUT_S = 30.0


class RealGround:
    """Three brokers of Kafka, and a ZooKeeper."""

    def __init__(self, zookeeper: RealZooKeeper, running: ExitStack) -> None:
        self.zk: Any = KazooClient(zookeeper.connect)
        self.zk.start(timeout=20)
        running.callback(self.zk.stop)
        self._nodes = {}
        for number in (1, 2, 3):
            config = {
                "broker.id": str(number),
                "zookeeper.connect": zookeeper.connect,
                "auto.leader.rebalance.enable": "false",
                "log.retention.check.interval.ms": "3000000",
            }
            self._nodes[number] = running.enter_context(RealKafka(VERSION, config))

    def ask(self, request: Request, version: int, broker: int | None = None) -> Any:
        if broker is None:
            broker = int(json.loads(self.zk.get("/controller")[0])["brokerid"])
        with Connection(self._nodes[broker].bootstrap_servers) as connection:
            return connection.ask(request, version)

    def stop(self, broker: int) -> None:
        self._nodes[broker].stop()

    def start(self, broker: int) -> None:
        self._nodes[broker].start()


def quiet_nodes(zk: Any) -> Nodes:
    """The nodes, once nothing changes any more."""
    deadline = time.monotonic() + _TIMEOUT_S
    before: Nodes = {}
    since = time.monotonic()
    while time.monotonic() < deadline:
        try:
            now = nodes_of(zk)
        except NoNodeError:
            continue
        if now != before:
            before, since = now, time.monotonic()
        elif time.monotonic() - since > _QUIET_S and not any(path in now for path in _AT_WORK):
            return now
        time.sleep(0.1)
    return before


def main() -> None:
    recorded = []
    with ExitStack() as running:
        ground = RealGround(running.enter_context(RealZooKeeper(VERSION)), running)
        before: Nodes = {}
        for name, change in CHANGES:
            answer = change(ground)
            after = quiet_nodes(ground.zk)
            recorded.append([name, changed(before, after)])
            print(name, len(recorded[-1][1]), str(answer)[:200] if answer else "", flush=True)
            before = after
    lines = [json.dumps(each, sort_keys=True) for each in recorded]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
