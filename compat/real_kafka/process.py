"""The needs of a process of a real Kafka or ZooKeeper: free ports, and an end that comes with ours.

Left out: how each is started and stopped, which stands in node.py and zookeeper.py.
"""

from __future__ import annotations

import contextlib
import random
import socket
import subprocess
from pathlib import Path

PORTS = range(20_000, 32_000)

# A shell script: wait until the pipe breaks, then kill the process group $0 and remove $1.
_WATCH = 'read line; kill -9 -"$0"; sleep 1; rm -rf "$1"'


def watcher_of(process: subprocess.Popen[bytes], work: Path) -> subprocess.Popen[bytes]:
    """A process that, when this one ends, kills the group of that process and removes its files."""
    return subprocess.Popen(
        ["sh", "-c", _WATCH, str(process.pid), str(work)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def free_ports(count: int) -> list[int]:
    """Return distinct ports of 127.0.0.1 that are free now."""
    ports: list[int] = []
    for port in random.SystemRandom().sample(PORTS, 200):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    raise RuntimeError(f"no {count} free ports between {PORTS.start} and {PORTS.stop}")
