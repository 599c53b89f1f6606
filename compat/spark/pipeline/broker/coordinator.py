"""Asking the coordinator of a group or of a transactional id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .....wire import Refused, Request
from .....wire.api.find_coordinator import FindCoordinatorRequest
from ....cli.console.client import Unreachable
from .cluster import Cluster, refuse

T = TypeVar("T")
GROUP, TRANSACTION = 0, 1


class Coordinator:
    """The broker that coordinates a group or a transactional id, looked for when it is needed."""

    def __init__(self, cluster: Cluster, kind: int, key: str) -> None:
        self._cluster = cluster
        self._kind = kind
        self._key = key
        self._node: int | None = None

    def ask(
        self, request: Request, take: Callable[[Any], T], what: str, *, most: int | None = None
    ) -> T:
        """What `take` makes of the answer: it raises Refused for one that may be asked again.

        Raises BrokerError, which begins with `what`.
        """

        def once() -> T:
            try:
                if self._node is None:
                    self._node = self._find()
                return take(self._cluster.brokers.ask(request, most=most, node=self._node))
            except (Refused, Unreachable):
                self._node = None
                raise

        return self._cluster.repeated(once, what)

    def _find(self) -> int:
        request = FindCoordinatorRequest(
            key=self._key, key_type=self._kind, coordinator_keys=[self._key]
        )
        found = self._cluster.ask_any(request)
        found = found.coordinators[0] if found.coordinators else found
        refuse(found.error_code, self._key)
        node: int = found.node_id
        return node
