"""The line and the file that say that the broker is ready, for scripts that start one and wait."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any

from ....emulator.base.addresses import bracketed
from ....emulator.cluster import Cluster
from ....emulator.embedded.embedded import Embedded


def ready_line(
    emulator: Embedded,
    health_port: int | None = None,
    control_url: str | None = None,
    schema_registry_url: str | None = None,
    zookeeper_connect: str | None = None,
) -> str:
    """The address that clients need, and in brackets what else is to be known."""
    listening = emulator.run(_listening)
    more = []
    if listening != emulator.bootstrap_servers:
        more.append(f"listening at {listening}")
    if health_port is not None:
        more.append(f"health at port {health_port}")
    if control_url is not None:
        more.append(f"control at {control_url}")
    if schema_registry_url is not None:
        more.append(f"schema registry at {schema_registry_url}")
    if zookeeper_connect is not None:
        more.append(f"ZooKeeper at {zookeeper_connect}")
    if (scan_limit := emulator.cluster.scan_limit) is not None:
        more.append(f"records scanned up to {scan_limit} a batch")
    told = f" ({', '.join(more)})" if more else ""
    return f"odradek ready at {emulator.bootstrap_servers}{told}"


def _listening(cluster: Cluster) -> str:
    """Where the first listener of each broker is bound: the addresses in `bootstrap_servers` are
    what clients are given."""
    name = next(iter(cluster.security.listeners))
    found = {
        node: f"{bracketed(host)}:{port}"
        for (host, listener), ports in cluster.security.bound.items()
        if listener == name
        for node, port in ports.items()
    }
    return ",".join(found[node] for node in cluster.nodes if node in found)


class ReadyFile:
    """Written whole when the broker is ready, removed when it stops."""

    def __init__(self, path: str, facts: dict[str, Any]) -> None:
        """Raises OSError."""
        self._path = path
        beside = f"{path}.{os.getpid()}.tmp"
        with open(beside, "w") as file:
            json.dump(facts, file)
            file.write("\n")
        os.replace(beside, path)

    def remove(self) -> None:
        """Take it away, if it is still there."""
        with suppress(FileNotFoundError):
            os.remove(self._path)
