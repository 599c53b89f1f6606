"""Flushes: after every M records, or when the oldest unflushed record is S milliseconds old.

Rules:

- `flush.messages` counts the records since the last flush began; `flush.ms` the time since the
  first append after that. By default neither is set and nothing is synced: what was written
  survives the process, but not a power cut.
- Records that make a flush due by number may be acknowledged when it is over: `awaited_offset`, as
  Kafka's append flushes before it returns.
- A flush is a `Sync`. Its files are opened when it begins, so any thread may wait for it while the
  log goes on. It covers the batches up to the log end of that time, the indexes of segments that
  take no more batches, and the names in the directory.
- The recovery point moves only when the sync has returned; and not if the log was truncated
  meanwhile, since there may be other batches at those offsets then.
- What a start finds that no flush has covered counts as appended then: a producer that retries it
  learns that it is there, and that has to be true after a power cut too.
- A roll waits for the older segment's batches, so a power cut can only take the last ones.
- After a failed sync it is unknown what has been written, and trying again does not tell: the log
  takes no more batches (KAFKA_STORAGE_ERROR), and is checked at the next start.

Kafka counts `flush.ms` from the last flush and checks every `log.flush.scheduler.interval.ms`; the
bound on what can be lost is the documentation's, "M messages or S seconds".
Left out: the thread that waits, and timers (the emulator's flusher). Source: the documentation's
chapter "Log", "Writes".
"""

from __future__ import annotations

from .config import NEVER, LogConfig
from .disk.directory import File, Handle


def is_flush_configured(config: LogConfig) -> bool:
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
        """Return when everything is on disk, or `error` is set. Call once, in any thread."""
        for handle in self._handles:
            try:
                handle.sync()
            except OSError as error:
                self.error = self.error or error
            finally:
                handle.close()


class FlushState:
    """The progress of one log's flushes."""

    __slots__ = (
        "_begun_offset",
        "_pending",
        "_since_ms",
        "awaited_offset",
        "failure",
        "synced_offset",
    )

    def __init__(self, synced_offset: int) -> None:
        self.synced_offset = synced_offset
        """Below this offset everything was synced, here or earlier."""
        self.awaited_offset: int | None = None
        """Records below this offset may be acknowledged when it is on disk; None if it is."""
        self.failure: OSError | None = None
        """Why the last sync failed; after that there is no other."""
        self._begun_offset = 0
        self._pending: Sync | None = None
        self._since_ms: int | None = None

    def appended(
        self, now_ms: int, config: LogConfig, recovery_point: int, end_offset: int
    ) -> None:
        """A batch was appended, which ends at this offset."""
        if self._since_ms is None:
            self._since_ms = now_ms
        if self._is_due(config, recovery_point, end_offset):
            self.awaited_offset = end_offset

    def due_ms(self, config: LogConfig, recovery_point: int, end_offset: int) -> int | None:
        """When the next flush is due, now or earlier if by record count; None for never."""
        if self._since_ms is None or self.failure is not None:
            return None
        if self._is_due(config, recovery_point, end_offset):
            return self._since_ms
        return self._since_ms + config.flush_ms if config.flush_ms < NEVER else None

    def _is_due(self, config: LogConfig, recovery_point: int, end_offset: int) -> bool:
        """Whether so many records were appended that they are to be flushed now."""
        return end_offset - max(recovery_point, self._begun_offset) >= config.flush_messages

    @property
    def is_pending(self) -> bool:
        return self._since_ms is not None and self.failure is None

    def sync(self, file: File) -> None:
        """Return when a file is on disk. After an OSError the log takes no more batches."""
        try:
            file.sync()
        except OSError as error:
            self.failure = error
            raise

    def begin(self, sync: Sync) -> None:
        """`sync` is about to run."""
        self._pending = sync
        self._begun_offset = sync.end_offset
        self._since_ms = None

    def end(self, sync: Sync) -> bool:
        """`sync` has run; True if the recovery point moves to its end. Raises its OSError."""
        if sync.error is not None:
            self.failure = sync.error
            raise sync.error
        is_current = sync is self._pending
        if is_current:
            self._pending = None
            self.synced_offset = max(self.synced_offset, sync.end_offset)
            if self.awaited_offset is not None and self.awaited_offset <= self.synced_offset:
                self.awaited_offset = None
        return is_current

    def truncated(self, end_offset: int) -> None:
        """The log was truncated to `end_offset`."""
        self._pending = self.awaited_offset = None
        self._begun_offset = min(self._begun_offset, end_offset)
        self.synced_offset = min(self.synced_offset, end_offset)
