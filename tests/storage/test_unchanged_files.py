"""A file that already has the right bytes is not written again: thousands of logs are opened and
closed faster, for a new file takes half a millisecond."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Directory
from odradek.storage.disk.memory import MemoryDisk

from tests.storage.support.logs import append, home, open_log


def inodes(path: Path) -> dict[str, int]:
    return {each.name: each.stat().st_ino for each in home(path).iterdir()}


@pytest.mark.parametrize("count", [1, 50])
def test_a_log_that_nobody_wrote_to_keeps_its_files(tmp_path: Path, count: int) -> None:
    config = LogConfig(segment_bytes=20_000)
    log = open_log(tmp_path, config, clean=True)
    log.start_epoch(3)
    for number in range(count):
        append(log, bytes(1000), timestamps=[number])
    log.close()
    before = inodes(tmp_path)
    content = {path.name: path.read_bytes() for path in home(tmp_path).iterdir()}

    for _ in range(2):
        open_log(tmp_path, config, clean=True).close()

    assert inodes(tmp_path) == before
    assert {path.name: path.read_bytes() for path in home(tmp_path).iterdir()} == content
    assert {path.rpartition(".")[2] for path in before} >= {"index", "timeindex", "snapshot"}


def test_one_that_was_written_to_gets_new_ones(tmp_path: Path) -> None:
    log = open_log(tmp_path, clean=True)
    append(log, b"a", timestamps=[1])
    log.close()
    before = inodes(tmp_path)

    log = open_log(tmp_path, clean=True)
    append(log, b"b", timestamps=[2])
    log.close()

    changed = {name for name, inode in inodes(tmp_path).items() if before.get(name) != inode}
    assert changed == {f"{0:020}.timeindex", f"{2:020}.snapshot"}


def test_a_new_log_is_closed_without_looking_for_files_that_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = open_log(tmp_path)
    append(log, b"a", timestamps=[1])
    looked_for: list[str] = []
    for verb in ("exists", "read_bytes", "remove"):
        monkeypatch.setattr(Directory, verb, lambda _, name="", verb=verb: looked_for.append(verb))
    log.close()
    assert looked_for == []
    assert sorted(path.name for path in home(tmp_path).iterdir()) == [
        *(f"{0:020}{suffix}" for suffix in (".index", ".log", ".timeindex")),
        f"{1:020}.snapshot",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]


def test_an_index_that_lost_its_entries_is_removed_when_the_log_is_closed(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a", timestamps=[1])
    left = home(tmp_path) / f"{0:020}.txnindex"
    left.write_bytes(b"of a transaction that is gone")
    log.close()
    assert not left.exists()


@pytest.mark.parametrize("where", ["disk", "memory"])
def test_other_bytes_are_written(tmp_path: Path, where: str) -> None:
    files = Directory(tmp_path) if where == "disk" else MemoryDisk().directory()
    files.make()
    for data in (b"", b"one", b"two", b"two", b"longer"):
        files.write_if_changed("f", data)
        assert files.read_bytes("f") == data
    assert files.names() == ["f"]


def test_a_durable_directory_writes_the_same_bytes_again(tmp_path: Path) -> None:
    """They may never have come to the disk."""
    files = Directory(tmp_path, durable=True)
    files.write_if_changed("f", b"one")
    inode = (tmp_path / "f").stat().st_ino
    (tmp_path / "g").write_bytes(b"keeps the inode from being taken at once")
    files.write_if_changed("f", b"one")
    assert (tmp_path / "f").stat().st_ino != inode
