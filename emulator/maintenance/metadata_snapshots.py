"""Background work on the metadata log: snapshots, and the deletion of old ones.

Rules (Kafka's, but for one):
- A snapshot is written when `metadata.log.max.record.bytes.between.snapshots` (20 MiB) of records
  were appended since the last one, and, if any were, `metadata.log.max.snapshot.interval.ms` (1 h)
  after it; 0 ms is never.
- At a clean stop one is written when 1 MiB of records were appended: a restart of thousands of
  partitions adds that much (metadata/topic_repair.py), and each start would replay more. This
  rule is not Kafka's.
- The oldest snapshot is deleted, and with it the log before the next one, when log and snapshots
  together are larger than `metadata.max.retention.bytes` (100 MiB), or when its last record is
  older than `metadata.max.retention.ms` (7 days). The newest is kept.
- This is checked once a minute, by the cluster's timers.

A failure is logged, and tried again later. Left out: Kafka's NoOp records, without which an idle
cluster has nothing to write a snapshot of; a thread of its own: a snapshot takes milliseconds.
Source: KIP-630, KIP-876.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Refused
from ..base.logger import log

if TYPE_CHECKING:
    from ..environment import Environment
    from ..metadata.delta import MetadataDelta
    from ..metadata.image import MetadataImage
    from ..metadata.log import MetadataLog


_MINUTE_MS = 60_000
_REPLAYED_MAX = 1 << 20


class MetadataUpkeep:
    """Does the background work on the metadata log of one cluster."""

    def __init__(self, environment: Environment, metadata: MetadataLog) -> None:
        config = environment.config
        self._log = metadata
        self._clock = environment.clock
        self._timers = environment.timers
        self._bytes_max: int = config.get("metadata.log.max.record.bytes.between.snapshots")
        self._interval_ms: int = config.get("metadata.log.max.snapshot.interval.ms")
        self._retention_bytes: int = config.get("metadata.max.retention.bytes")
        self._retention_ms: int = config.get("metadata.max.retention.ms")
        self._last_snapshot = self._clock.now()
        self._log.subscribe(self._appended)
        self._timers.every(self._clock.now() + self.interval_ms(), self)

    def take_snapshot(self) -> bool:
        """Write a snapshot now; return whether one was due and could be written."""
        self._last_snapshot = self._clock.now()
        try:
            snapshot = self._log.take_snapshot()
        except OSError as error:
            log.error("no snapshot of the metadata log could be written: %s", error)
            return False
        if snapshot is not None:
            log.info("metadata snapshot %s is written", snapshot.name)
        return snapshot is not None

    def resigned(self) -> None:
        """The last record before a stop is written: the next start is to replay little."""
        if self._log.bytes_since_snapshot >= _REPLAYED_MAX:
            self.take_snapshot()

    def delete_old(self) -> int:
        """Delete old snapshots and the log before the others; return how many snapshots."""
        try:
            return self._log.delete_old(
                retention_ms=self._retention_ms, retention_bytes=self._retention_bytes
            )
        except (Refused, OSError) as error:
            log.error("old metadata could not be deleted: %s", error)
            return 0

    def _appended(self, delta: MetadataDelta, image: MetadataImage) -> None:
        if self._log.bytes_since_snapshot >= self._bytes_max:
            self.take_snapshot()

    # The regular check

    def interval_ms(self) -> int:
        return min(_MINUTE_MS, self._interval_ms or _MINUTE_MS)

    def run(self, now: int) -> bool:
        """Take a snapshot if its time has come, and delete old ones."""
        is_due = now - self._last_snapshot >= self._interval_ms > 0
        is_taken = is_due and self._log.bytes_since_snapshot > 0 and self.take_snapshot()
        return self.delete_old() > 0 or is_taken

    def due(self, now: int) -> int | None:
        """When the next snapshot is due, or an old one is old enough to be deleted."""
        try:
            due = self._log.next_deletion(retention_ms=self._retention_ms)
        except OSError:
            return now
        if self._interval_ms > 0 and self._log.bytes_since_snapshot > 0:
            snapshot = self._last_snapshot + self._interval_ms
            due = snapshot if due is None else min(due, snapshot)
        return due
