"""A client without a socket that waits for its answers, in the time of a manual clock."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

from odradek.emulator.cluster import Cluster
from odradek.wire import Error, Request

from tests.support.cluster import Client, client_of

GIVE_UP_MS = 5000


class Patient:
    """A client that waits for each answer, in the clock's time."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.client: Client = client_of(cluster)
        self.waited_ms = 0

    def ask(self, request: Request, version: int) -> Any:
        """The answer, whenever it comes."""
        self.client.send(request, version)
        self.waited_ms = 0
        while not (answers := self.client.answers()):
            assert self.waited_ms < GIVE_UP_MS, f"no answer to {request}"
            self.cluster.advance(1)
            self.waited_ms += 1
        (answer,) = answers
        return answer


def errors_until_none(cluster: Cluster, ask: Callable[[], int]) -> list[Error]:
    """Ask every millisecond until the answer is no error: which errors came, in their order."""
    seen = []
    while error := Error(ask()):
        seen.append(error)
        assert len(seen) < GIVE_UP_MS, f"{error.name} for ever"
        cluster.advance(1)
    return [error for error, _ in groupby(seen)]
