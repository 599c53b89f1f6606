"""The journal of requests and answers, as a test reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..cluster import Cluster
from ..control.traffic.journal import RequestJournal
from ..control.traffic.step import TrafficStep
from ..control.traffic.traffic import Traffic
from .facet import Facet

T = TypeVar("T")


class Requests(Facet):
    """Every request and answer, once it is asked for."""

    _requests: RequestJournal

    @property
    def journal(self) -> RequestJournal:
        """Every request and its answer, decoded; off until `journal.start()`, or within
        `with kafka.journal:`. It is there after the broker has stopped, too."""
        return self._requests

    def _new_journal(self, *, is_on: bool) -> None:
        """Have an empty journal of its own."""
        self._requests = RequestJournal(_Host(self))
        if is_on:
            self._requests.start()

    def _keep_requests(self, cluster: Cluster) -> None:
        """A new cluster is about to be served."""
        if self._requests.is_on:
            cluster.chain.insert(0, TrafficStep(self._requests.traffic))


class _Host:
    """What the journal asks of an emulator."""

    def __init__(self, emulator: Requests) -> None:
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
        cluster.chain.insert(0, TrafficStep(self.traffic))

    def known_topics(self) -> dict[bytes, str]:
        if not self._emulator._is_running():
            return {}
        return self._emulator.run(
            lambda cluster: {topic.id: topic.name for topic in cluster.topics}
        )


def _keep_no_more(cluster: Cluster) -> None:
    cluster.chain[:] = [step for step in cluster.chain if not isinstance(step, TrafficStep)]
