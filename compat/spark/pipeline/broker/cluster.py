"""A cluster that requests are repeated to, while brokers restart and leaders move."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from .....wire import Error, Refused, Request
from ....cli.console.client import Brokers, Unreachable
from ....cli.console.client import ConsoleError as BrokerError

__all__ = ["BrokerError", "Cluster", "NoTopic", "Place", "RefusedRequest", "refuse"]

T = TypeVar("T")
Place = tuple[str, int]
"""Topic and partition."""

TIMEOUT_S = 30.0
PATIENCE_S = 60.0
_RETRY_S = 0.1
NOT_YET = frozenset(
    {
        Error.COORDINATOR_LOAD_IN_PROGRESS,
        Error.COORDINATOR_NOT_AVAILABLE,
        Error.NOT_COORDINATOR,
        Error.NOT_CONTROLLER,
        Error.UNKNOWN_TOPIC_OR_PARTITION,  # by a leader that has not heard of it yet
        Error.LEADER_NOT_AVAILABLE,
        Error.NOT_LEADER_OR_FOLLOWER,
        Error.FENCED_LEADER_EPOCH,
        Error.UNKNOWN_LEADER_EPOCH,
        Error.OFFSET_NOT_AVAILABLE,
        Error.REQUEST_TIMED_OUT,
        Error.NETWORK_EXCEPTION,
        Error.NOT_ENOUGH_REPLICAS,
        Error.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        Error.KAFKA_STORAGE_ERROR,
        Error.CONCURRENT_TRANSACTIONS,
    }
)
"""Answers that change by themselves: the request is repeated."""


class NoTopic(BrokerError):
    """A topic that was there, or should be, is not."""

    def __init__(self, topic: str, addresses: str) -> None:
        self.topic = topic
        super().__init__(f"there is no topic {topic} at {addresses}")


class RefusedRequest(BrokerError):
    """A request was refused, and asking again does not help."""

    def __init__(self, what: str, refused: Refused) -> None:
        self.error = refused.error
        super().__init__(f"{what}: {refused}")


def refuse(code: int, what: str, message: str | None = None) -> None:
    """Raises Refused for an error code, BrokerError for one that has no name."""
    if code:
        try:
            error = Error(code)
        except ValueError:
            raise BrokerError(
                f"{what}: error {code}" + (f" ({message})" if message else "")
            ) from None
        raise Refused(error, message)


class Cluster:
    """The cluster that these addresses lead to: HOST:PORT, several with commas.

    A broker may take `timeout` seconds to answer; a request is repeated for `patience` seconds.
    Raises BrokerError if none of the addresses answers.
    """

    def __init__(
        self, addresses: str, *, timeout: float = TIMEOUT_S, patience: float = PATIENCE_S
    ) -> None:
        self.addresses = addresses
        self.patience = patience
        self.brokers = Brokers(addresses, timeout)
        self._leaders: dict[Place, int] = {}

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; the next request opens others."""
        self.brokers.close()

    def repeated(self, ask: Callable[[], T], what: str) -> T:
        """`ask()`, again while it is refused with what passes, or nobody answers.

        Raises RefusedRequest, Unreachable.
        """
        deadline = time.monotonic() + self.patience
        while True:
            try:
                return ask()
            except Refused as refused:
                if refused.error not in NOT_YET or time.monotonic() > deadline:
                    raise RefusedRequest(what, refused) from None
            except Unreachable:
                if time.monotonic() > deadline:
                    raise
            self._leaders.clear()
            time.sleep(_RETRY_S)

    def by_leader(self, places: Iterable[Place]) -> dict[int, list[Place]]:
        """These partitions by the node that leads them.

        Raises Refused(LEADER_NOT_AVAILABLE) for those without, NoTopic or BrokerError for those not
        there.
        """
        wanted = list(places)
        unknown = {name for name, index in wanted if (name, index) not in self._leaders}
        for topic in self.brokers.topics(sorted(unknown)):
            name = topic.name or ""
            if topic.error_code == Error.UNKNOWN_TOPIC_OR_PARTITION:
                raise NoTopic(name, self.addresses)
            refuse(topic.error_code, f"topic {name}")
            for part in topic.partitions:
                self._leaders[name, part.partition_index] = part.leader_id
        nodes: dict[int, list[Place]] = {}
        for place in wanted:
            if place not in self._leaders:
                raise BrokerError(f"topic {place[0]} has no partition {place[1]}")
            if self._leaders[place] < 0:
                del self._leaders[place]
                raise Refused(Error.LEADER_NOT_AVAILABLE, f"{place[0]}-{place[1]}")
            nodes.setdefault(self._leaders[place], []).append(place)
        return nodes

    def ask_any(self, request: Request, *, most: int | None = None) -> Any:
        return self.brokers.ask(request, most=most)
