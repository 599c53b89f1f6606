"""The broker's process, and the disk below it: started, stopped, killed, cut off from power."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from random import Random
from unittest.mock import patch

from odradek.emulator.cluster import Cluster
from odradek.emulator.maintenance import log_manager
from odradek.emulator.maintenance.flusher import Flusher
from odradek.storage import Log, LogDirectoryError, MemoryDisk
from odradek.wire import primitives

from tests.support.cluster import open_cluster

CONFIGS = {
    "offsets_topic_num_partitions": "2",
    "transaction_state_log_num_partitions": "2",
    "group_initial_rebalance_delay_ms": "0",
    "log_cleaner_min_cleanable_ratio": "0.01",
}
DURABLE = {"log_flush_interval_messages": "1"}


class FlusherAtOnce(Flusher):
    """Syncs in the broker's own thread: else it hangs on threads what a power cut finds."""

    def flush(self, stored: Log) -> None:
        super().flush(stored)
        self.drain()

    def _begin(self, stored: Log) -> None:
        del self._waiting[stored]
        sync = stored.begin_flush()
        self._current = stored, sync
        sync.run()
        self._done.put(sync)


@contextmanager
def seeded(random: Random) -> Iterator[None]:
    """Ids that brokers make up come from the seed too."""
    with (
        patch.object(os, "urandom", random.randbytes),
        patch.object(primitives, "urandom", random.randbytes),
        patch.object(log_manager, "Flusher", FlusherAtOnce),
    ):
        yield


class Process:
    """One broker, whose disk outlives it. `cluster` is None while it is down."""

    def __init__(self, now: int, configs: Mapping[str, str], *, durable: bool) -> None:
        self._now = now
        self._configs = {**CONFIGS, **(DURABLE if durable else {}), **configs}
        self._durable = durable
        self.disk = MemoryDisk(now_ms=self.now)
        self.cluster: Cluster | None = None
        self.twin: MemoryDisk | None = None
        """What is left of the disk by a crash in the middle of a request."""
        self.starts = 0
        self.was_ill = False
        """Whether its disk has failed since the start: then some of what it knows is half done."""

    def now(self) -> int:
        """Milliseconds since 1970."""
        return self._now if self.cluster is None else self.cluster.clock.now()

    def set_time(self, now: int) -> None:
        """Time passes while it is down."""
        self._now = now

    def start(self) -> Cluster:
        directory = self.disk.directory(durable=self._durable)
        self.cluster = open_cluster(directory, self._now, max_events=0, **self._configs)
        self.starts += 1
        self.was_ill = False
        return self.cluster

    def stop(self) -> bool:
        """Stop it cleanly. Returns whether it could be: not so if the disk is full."""
        assert self.cluster is not None
        self._now = self.cluster.clock.now()
        is_clean = True
        try:
            self.cluster.close()
        except LogDirectoryError:
            is_clean = False
        self.cluster, self.disk = None, self.disk.kill()
        return is_clean

    def die(self, after: Callable[[MemoryDisk], MemoryDisk]) -> None:
        """Let it die at once; `after` is what becomes of its disk."""
        assert self.cluster is not None
        self._now = self.cluster.clock.now()
        left = after(self.disk) if self.twin is None else self.twin
        self.disk.on_change = None
        self.cluster, self.disk, self.twin = None, left, None

    def die_after(self, changes: int, after: Callable[[MemoryDisk], MemoryDisk]) -> None:
        """Let it die at that change of a file from now on. Whoever goes on looks for `twin`."""
        left = changes

        def look(_: str) -> None:
            nonlocal left
            left -= 1
            if left == 0 and self.twin is None:
                self.twin = after(self.disk)

        self.disk.on_change = look

    def end(self) -> None:
        self.disk.on_change = None
        self.cluster = None
