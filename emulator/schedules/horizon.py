"""Horizon: how many requests of each API a run has, and which groups: where misfortunes are drawn.

Two runs seldom have equally many fetches or heartbeats. So that one seed draws the same from both,
numbers are rounded up to a few.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...wire import Request
from ..base.call import Call
from ..base.chain import Chain, Outcome, Step
from ..base.fitting import fits

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..emulator import Emulator


class Horizon:
    """What clients have asked for in a run."""

    def __init__(
        self, requests: dict[str, int] | None = None, groups: tuple[str, ...] = ()
    ) -> None:
        """`requests` are numbers by API, as {"Produce": 12}."""
        self._requests = Counter(requests or {})
        self._groups = set(groups)
        self._guard = threading.Lock()

    def count(self, api: str, group: str) -> None:
        """A request has come."""
        with self._guard:
            self._requests[api] += 1
            if group:
                self._groups.add(group)

    @property
    def requests(self) -> dict[str, int]:
        """How many there were of each API."""
        with self._guard:
            return dict(self._requests)

    @property
    def groups(self) -> list[str]:
        """The groups that had members."""
        with self._guard:
            return sorted(self._groups)

    def last(self, api: str) -> int:
        """The number of requests of an API, rounded up: 1, 2, 3, 4, 6, 8, 12, 16, 24, ..."""
        count = self._requests[api]
        most = 1
        while most < count:
            most = most + max(most // 2, 1) if not most & (most - 1) else most // 3 * 4
        return most if count else 0


@contextmanager
def watch(kafka: Emulator, client_id: Any = None) -> Iterator[Horizon]:
    """Count the requests of clients, of those with this id, until the end of this block."""
    horizon = Horizon()
    step = _Counting(horizon, client_id)

    def attach(cluster: Cluster) -> Chain:
        cluster.chain.append(step)
        return cluster.chain

    chain = kafka.run(attach)  # which it keeps over a restart, and not over a reset
    try:
        yield horizon
    finally:
        chain.remove(step)


class _Counting(Step):
    def __init__(self, horizon: Horizon, client_id: Any) -> None:
        self._horizon = horizon
        self._client_id = client_id

    def before(self, call: Call, request: Request) -> Outcome:
        if self._client_id is not None and not fits(self._client_id, call.client_id):
            return None
        name = type(request).__name__.removesuffix("Request")
        joins = name in ("JoinGroup", "ConsumerGroupHeartbeat")
        self._horizon.count(name, str(getattr(request, "group_id", "")) if joins else "")
        return None
