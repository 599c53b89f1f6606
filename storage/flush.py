"""Forced flushes: after every M records, or when the oldest unflushed one is S milliseconds old.

Rules:

- `flush.messages` counts the records since the last flush was begun; `flush.ms` the time since the
  first append that no flush has been begun for. By default both are never, and nothing is synced:
  what was written survives the process, not the power.
- A flush is a `Sync`: what to wait for is opened when it is begun, so any thread may wait while the
  log goes on. It covers the batches up to the log end of that moment, the indexes of segments that
  take no more batches, and the names in the directory.
- Only when the sync has returned does the recovery point move; and not if the log was truncated
  meanwhile, for then other batches may lie there.
- A roll waits for the older segment's batches, so what a power cut takes are the last ones.
- What a failed sync has written nobody knows, nor does trying again tell: the log takes no more
  batches (KAFKA_STORAGE_ERROR), and is checked at the next start.

Kafka counts `flush.ms` from the last flush and looks every `log.flush.scheduler.interval.ms`; the
bound on what can be lost is the documentation's, "M messages or S seconds".
Left out: the thread that waits, and timers (the emulator's flusher). Source: the documentation's
chapter "Log", "Writes".
"""

from __future__ import annotations

from .config import NEVER, LogConfig
from .disk.directory import File, Handle


def is_asked(config: LogConfig) -> bool:
    """Whether a log with these configs is ever flushed by itself."""
    return config.flush_messages < NEVER or config.flush_ms < NEVER


class Sync:
    """One flush of one log, up to `end_offset`. `error` is why it failed, or None."""

    __slots__ = ("_handles", "end_offset", "error")

    def __init__(
        self, handles: list[Handle], end_offset: int, error: OSError | None = None
    ) -> None:
        self._handles = handles
        self.end_offset = end_offset
        self.error = error

    def run(self) -> None:
        """Return when the disk has everything, or `error` is set. Once, in any thread."""
        for handle in self._handles:
            try:
                handle.sync()
            except OSError as error:
                self.error = self.error or error
            finally:
                handle.close()


class FlushState:
    """How far the flushes of one log have come."""

    __slots__ = ("_begun_offset", "_pending", "_since_ms", "failure", "synced_offset")

    def __init__(self, synced_offset: int) -> None:
        self.synced_offset = synced_offset
        """What lies in front of it no flush needs to look at: it was synced, here or earlier."""
        self.failure: OSError | None = None
        """Why the last sync failed; then there is no other."""
        self._begun_offset = 0
        self._pending: Sync | None = None
        self._since_ms: int | None = None

    def appended(self, now_ms: int) -> None:
        """A batch was appended."""
        if self._since_ms is None:
            self._since_ms = now_ms

    def due_ms(self, config: LogConfig, recovery_point: int, end_offset: int) -> int | None:
        """When the next flush is due, at the latest now if by number; None for not at all."""
        if self._since_ms is None or self.failure is not None:
            return None
        if end_offset - max(recovery_point, self._begun_offset) >= config.flush_messages:
            return self._since_ms
        return self._since_ms + config.flush_ms if config.flush_ms < NEVER else None

    @property
    def is_pending(self) -> bool:
        """Whether batches wait for a flush to be begun."""
        return self._since_ms is not None and self.failure is None

    def sync(self, file: File) -> None:
        """Return when the disk has a file. After an OSError the log takes no more batches."""
        try:
            file.sync()
        except OSError as error:
            self.failure = error
            raise

    def begin(self, sync: Sync) -> None:
        """`sync` is about to be run."""
        self._pending = sync
        self._begun_offset = sync.end_offset
        self._since_ms = None

    def end(self, sync: Sync) -> bool:
        """`sync` was run; True if the recovery point moves to its end. Raises its OSError."""
        if sync.error is not None:
            self.failure = sync.error
            raise sync.error
        is_current = sync is self._pending
        if is_current:
            self._pending = None
            self.synced_offset = max(self.synced_offset, sync.end_offset)
        return is_current

    def truncated(self, end_offset: int) -> None:
        """The log ends at `end_offset` now."""
        self._pending = None
        self._begun_offset = min(self._begun_offset, end_offset)
        self.synced_offset = min(self.synced_offset, end_offset)
