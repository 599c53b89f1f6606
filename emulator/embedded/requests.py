"""The request log of a broker: every request and answer, once it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ..cluster import Cluster

if TYPE_CHECKING:
    from ..control.traffic.journal import RequestJournal
    from .embedded import Embedded

T = TypeVar("T")


class RequestLog:
    """The journal of a broker, over all its runs; it is made when it is first asked for."""

    def __init__(self, kafka: Embedded, *, is_on: bool = False) -> None:
        self._kafka = kafka
        self._journal: RequestJournal | None = None
        if is_on:
            self.journal.start()

    @property
    def journal(self) -> RequestJournal:
        if self._journal is None:
            from ..control.traffic.journal import RequestJournal

            self._journal = RequestJournal(_Host(self._kafka))
        return self._journal

    @property
    def is_on(self) -> bool:
        return self._journal is not None and self._journal.is_on

    def clear(self) -> None:
        if self._journal is not None:
            self._journal.traffic.clear()

    def attach(self, cluster: Cluster) -> None:
        if self._journal is not None and self._journal.is_on:
            from ..control.traffic.step import TrafficStep

            cluster.chain.insert(0, TrafficStep(self._journal.traffic))


class _Host:
    def __init__(self, kafka: Embedded) -> None:
        from ..control.traffic.traffic import Traffic

        self.traffic = Traffic()
        self._kafka = kafka

    def in_its_thread(self, action: Callable[[], T]) -> T:
        return self._kafka.run(lambda _: action()) if self._kafka.is_running else action()

    def keep_traffic(self, is_on: bool) -> None:
        if self._kafka.is_running:
            self._kafka.run(self._keep if is_on else _keep_no_more)

    def _keep(self, cluster: Cluster) -> None:
        from ..control.traffic.step import TrafficStep

        cluster.chain.insert(0, TrafficStep(self.traffic))

    def known_topics(self) -> dict[bytes, str]:
        if not self._kafka.is_running:
            return {}
        return self._kafka.run(lambda cluster: {topic.id: topic.name for topic in cluster.topics})


def _keep_no_more(cluster: Cluster) -> None:
    from ..control.traffic.step import TrafficStep

    cluster.chain[:] = [step for step in cluster.chain if not isinstance(step, TrafficStep)]
