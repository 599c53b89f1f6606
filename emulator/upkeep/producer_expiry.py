"""Idempotent producers expire `producer.id.expiration.ms` (a day) after their last batch.

What counts is the timestamp of the batch. It is checked when a directory is opened, and then every
`producer.id.expiration.check.interval.ms` (10 minutes). A producer with an open transaction does
not expire. One that writes again after it expired may begin with any sequence, and its duplicates
are not recognised.

Source: Kafka 4.3.1's answers after a restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..cluster import Cluster


class ProducerExpiry:
    """Expires the producers of all logs of a cluster, by its timers."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._interval_ms: int = cluster.config.get("producer.id.expiration.check.interval.ms")
        self._run()

    def expire(self) -> None:
        """Remove the producers that are due."""
        now = self._cluster.clock.now()
        expiration_ms = self._cluster.config.get("producer.id.expiration.ms")
        for log in self._cluster.log_dir.logs.values():
            if log.producers.states:
                log.producers.expire(now, expiration_ms)

    def _run(self) -> None:
        self.expire()
        self._cluster.timers.at(self._cluster.clock.now() + self._interval_ms, self._run)
