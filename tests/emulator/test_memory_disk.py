"""An emulator whose disk is in memory."""

from __future__ import annotations

import builtins
import os
import shutil
import tempfile
from pathlib import Path
from random import Random

import pytest
from odradek import Emulator
from odradek.storage import MemoryDisk
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.committed_offsets import commit, committed
from tests.requests.produce import batch, produce
from tests.support.cluster import client_of, open_cluster


def test_a_restart_on_the_same_disk_brings_everything_back() -> None:
    disk = MemoryDisk()
    with Emulator(disk=disk, topics={"orders": 2}) as kafka:
        kafka.run(lambda cluster: produce(client_of(cluster), batch(b"x"), topic="orders"))
    with Emulator(disk=disk) as kafka:
        assert kafka.topics() == ["orders"]
        assert kafka.topic("orders")[0].values() == [b"x"]
        killed, cut = disk.kill(), disk.crash(Random(1))
    with Emulator(disk=killed) as kafka:
        assert kafka.topic("orders")[0].values() == [b"x"]
    with Emulator(disk=cut) as kafka:
        kafka.create_topic("more")


def test_two_emulators_cannot_have_the_same_disk() -> None:
    disk = MemoryDisk()
    with Emulator(disk=disk), pytest.raises(Exception, match="in use by another broker"):
        Emulator(disk=disk).start()


def test_everything_lies_on_the_disk_or_in_a_directory_but_not_in_both(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="exclude each other"):
        Emulator(disk=MemoryDisk(), data_dir=tmp_path)
    with Emulator(disk=MemoryDisk()) as kafka, pytest.raises(RuntimeError, match="in memory"):
        _ = kafka.data_dir


def test_no_file_of_the_real_disk_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    touched: list[str] = []

    def watch(module: object, name: str) -> None:
        real = getattr(module, name)

        def watched(*arguments: object, **more: object) -> object:
            touched.append(f"{name}{arguments}")
            return real(*arguments, **more)

        monkeypatch.setattr(module, name, watched)

    disk = MemoryDisk()
    for name in ("open", "mkdir", "makedirs", "unlink", "replace", "rename", "scandir", "fsync"):
        watch(os, name)
    for module, name in [(builtins, "open"), (shutil, "rmtree"), (tempfile, "mkdtemp")]:
        watch(module, name)
    for _ in range(2):
        cluster = open_cluster(disk.directory(), log_flush_interval_messages="1")
        if "t" not in [topic.name for topic in cluster.topics]:
            cluster.create_topic("t", 1, {"cleanup.policy": "compact,delete"})
        client = client_of(cluster)
        client.ask(FindCoordinatorRequest(key="g"), 2)
        for _ in range(3):
            assert produce(client, batch(bytes(600_000))).error_code == 0
        assert commit(client, 2) == 0
        cluster.advance(3_600_000)
        assert committed(client_of(cluster)).committed_offset == 2
        cluster.topics.delete(cluster.create_topic("gone", 1, {}))
        cluster.close()
    monkeypatch.undo()
    assert touched == []
    assert "t-0/00000000000000000000.log" in disk.files()
