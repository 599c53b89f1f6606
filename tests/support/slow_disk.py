"""A disk whose syncs take as long as a test wants."""

from __future__ import annotations

import threading

from odradek.storage.disk.directory import Handle


class Disk:
    """A disk that takes its time: a sync returns when `go` is set, and fails if told to."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.go.set()
        self.error: OSError | None = None
        self.threads: set[str] = set()

    def sync(self, handle: Handle) -> None:
        self.threads.add(threading.current_thread().name)
        assert self.go.wait(30)
        if self.error is not None:
            raise self.error
