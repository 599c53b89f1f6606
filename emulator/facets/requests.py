"""The journal of requests and answers, as a test reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ..cluster import Cluster
from .facet import Facet

if TYPE_CHECKING:
    from ..control.traffic.journal import RequestJournal

T = TypeVar("T")


class Requests(Facet):
    """Every request and answer, once it is asked for."""

    _requests: RequestJournal | None

    @property
    def journal(self) -> RequestJournal:
        """Every request and its answer, decoded; off until `journal.start()`, or within
        `with kafka.journal:`. It is there after the broker has stopped, too."""
        if self._requests is None:
            from ..control.traffic.journal import RequestJournal

            self._requests = RequestJournal(_Host(self))
        return self._requests

    def _new_journal(self, *, is_on: bool) -> None:
        """Have an empty journal of its own."""
        self._requests = None  # made when it is first asked for
        if is_on:
            self.journal.start()

    def _keep_requests(self, cluster: Cluster) -> None:
        """A new cluster is about to be served."""
        if self._requests is not None and self._requests.is_on:
            from ..control.traffic.step import TrafficStep

            cluster.chain.insert(0, TrafficStep(self._requests.traffic))


class _Host:
    """What the journal asks of an emulator."""

    def __init__(self, emulator: Requests) -> None:
        from ..control.traffic.traffic import Traffic

        self.traffic = Traffic()
        self._emulator = emulator

    def in_its_thread(self, action: Callable[[], T]) -> T:
        if self._emulator._is_running():
            return self._emulator.run(lambda _: action())
        return action()

    def keep_traffic(self, is_on: bool) -> None:
        if self._emulator._is_running():
            self._emulator.run(self._keep if is_on else _keep_no_more)

    def _keep(self, cluster: Cluster) -> None:
        from ..control.traffic.step import TrafficStep

        cluster.chain.insert(0, TrafficStep(self.traffic))

    def known_topics(self) -> dict[bytes, str]:
        if not self._emulator._is_running():
            return {}
        return self._emulator.run(
            lambda cluster: {topic.id: topic.name for topic in cluster.topics}
        )


def _keep_no_more(cluster: Cluster) -> None:
    from ..control.traffic.step import TrafficStep

    cluster.chain[:] = [step for step in cluster.chain if not isinstance(step, TrafficStep)]
