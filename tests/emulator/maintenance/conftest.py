"""What the tests of upkeep share: files of the system, and how long they take."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator.cluster import Cluster
from odradek.storage.disk.directory import Handle

from tests.support.slow_disk import Disk


@pytest.fixture
def cluster(on_files: Cluster) -> Cluster:
    return on_files


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """The disk of all clusters."""
    disk = Disk()
    monkeypatch.setattr(Handle, "sync", lambda handle: disk.sync(handle))
    yield disk
    disk.go.set()
