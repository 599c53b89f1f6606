"""`python -m tests.soak.served [OPTIONS]`: `odradek serve` that says how much it holds.

For each line on standard input one of JSON is printed: how many of each thing there are. When
standard input ends, so does the broker.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any

from odradek.compat.cli.main import main as odradek
from odradek.emulator.cluster import Cluster

_found: list[Cluster] = []
_CLUSTER: Any = Cluster
_init = _CLUSTER.__init__


def _seen(cluster: Cluster, *args: Any, **options: Any) -> None:
    _init(cluster, *args, **options)
    _found.append(cluster)


def sizes(cluster: Cluster) -> dict[str, int]:
    """How many things the broker holds. Asked from another thread: each `list` is one step."""
    logs = list(cluster.log_dir.logs.values())
    groups = [
        group
        for shard in list(cluster.groups.at(cluster.controller_id).shards.values())
        for group in list(shard.groups.values())
    ]
    return {
        "topics": len(cluster.topics),
        "segments": sum(len(log.segments) for log in logs),
        "producers": sum(len(log.producers.states) for log in logs),
        "transactions": len(cluster.transactions.all()),
        "groups": len(groups),
        "sessions": sum(len(broker.fetch_sessions) for broker in cluster.brokers.values()),
        "timers": len(cluster.timers),
    }


def _answer() -> None:
    for _ in sys.stdin:
        print(json.dumps(sizes(_found[0])), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    _CLUSTER.__init__ = _seen
    threading.Thread(target=_answer, daemon=True).start()
    sys.exit(odradek(["serve", "--port", "0", *sys.argv[1:]]))
