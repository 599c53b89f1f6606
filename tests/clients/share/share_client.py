"""Share consumers of Kafka's Java client, controlled from Python."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from odradek.compat.java.process import JavaProcess

_ENOUGH_S = 60.0
_POLL_MS = 500
_numbers = count()


class Got(NamedTuple):
    """A record that a share consumer got."""

    partition: int
    offset: int
    value: str
    delivery: int


class ShareClients(JavaProcess):
    """A JVM with share consumers. Raises Unavailable from `start`."""

    def __init__(self, version: str) -> None:
        super().__init__(version, "ShareClient", Path(__file__).parent)

    def consumer(
        self, bootstrap: str, topic: str, group: str, config: Mapping[str, str] | None = None
    ) -> ShareConsumer:
        name = f"consumer-{next(_numbers)}"
        settings = {"bootstrap.servers": bootstrap, "group.id": group, **(config or {})}
        consumer = ShareConsumer(self, name)
        consumer.do("open", topic=topic, config=settings)
        return consumer


class ShareConsumer:
    def __init__(self, clients: ShareClients, name: str) -> None:
        self._clients = clients
        self._name = name

    def do(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Carry out a verb; what the client throws is a RuntimeError."""
        answer = self._clients.ask(on=self._name, do=verb, **arguments)
        if "error" in answer:
            raise RuntimeError(f"{answer['error']}: {answer['message']}")
        return answer

    def poll(self) -> list[Got]:
        return [Got(**each) for each in self.do("poll", ms=_POLL_MS)["records"]]

    def get(self, number: int) -> list[Got]:
        """Poll until there are so many records, each poll acknowledging the one before."""
        found: list[Got] = []
        end = time.monotonic() + _ENOUGH_S
        while len(found) < number:
            found += self.poll()
            assert time.monotonic() < end, f"{len(found)} records of {number}"
        return found

    def acknowledge(self, got: Got, kind: str) -> None:
        """Acknowledge a record: ACCEPT, RELEASE, REJECT, RENEW."""
        self.do("acknowledge", partition=got.partition, offset=got.offset, type=kind)

    def commit(self) -> dict[str, str | None]:
        """Send acknowledgements; by partition the exception, or None."""
        found: dict[str, str | None] = self.do("commit")["results"]
        return found

    def close(self) -> None:
        self.do("close")
