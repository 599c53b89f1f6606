"""What a disk tells of, before it does it: the same in a directory and in memory."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from odradek.storage import Directory, MemoryDisk
from odradek.storage.disk.directory import Descriptors
from odradek.storage.disk.watch import Torn, Watch

Operations = list[tuple[str, str]]


@pytest.fixture(params=["directory", "memory"])
def watched(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Directory, Watch]:
    if request.param == "memory":
        disk = MemoryDisk()
        return disk.directory("t-0"), disk.watch
    watch = Watch()
    return Directory(tmp_path / "t-0", descriptors=Descriptors(watch=watch)), watch


def test_each_operation_is_reported(watched: tuple[Directory, Watch]) -> None:
    directory, watch = watched
    operations: Operations = []
    watch.observer = lambda operation, path, size: operations.append((operation, Path(path).name))
    directory.make()
    file = directory.file("a")
    file.create()
    file.write(b"abc", 0)
    file.sync()
    file.read(0, 3)
    file.truncate(1)
    file.close()
    directory.names()
    directory.read_bytes("a")
    directory.handle("a").sync()
    directory.sync()
    directory.rename("a", "b")
    directory.remove("b")
    directory.with_own_descriptors().child("c").make()
    directory.remove_directory("c")
    assert [each for each in operations if each != ("list", "t-0")] == [
        ("create", "t-0"),
        ("create", "a"),
        ("write", "a"),
        ("sync", "a"),
        ("read", "a"),
        ("write", "a"),
        ("read", "a"),
        ("sync", "a"),
        ("sync", "t-0"),
        ("rename", "a"),
        ("delete", "b"),
        ("create", "c"),
        ("delete", "c"),
    ]
    assert ("list", "t-0") in operations


def test_what_is_raised_is_not_done(watched: tuple[Directory, Watch]) -> None:
    directory, watch = watched
    directory.make()
    file = directory.file("a")
    file.create()

    def fails(operation: str, path: str, size: int) -> None:
        raise OSError(errno.ENOSPC, operation, path)

    watch.observer = fails
    for action in (
        lambda: file.write(b"abc", 0),
        lambda: file.truncate(0),
        lambda: directory.rename("a", "b"),
        lambda: directory.remove("a"),
        lambda: directory.child("c").make(),
    ):
        with pytest.raises(OSError, match=r"write|rename|delete|create"):
            action()
    watch.observer = None
    assert directory.files() == {"a": 0}
    assert directory.directories() == []


def test_a_torn_write_leaves_its_beginning(watched: tuple[Directory, Watch]) -> None:
    directory, watch = watched
    directory.make()
    file = directory.file("a")
    file.create()

    def tears(operation: str, path: str, size: int) -> None:
        torn = Torn(errno.EIO, "torn", path)
        torn.keep = size - 1
        raise torn

    watch.observer = tears
    with pytest.raises(Torn):
        file.write(b"abc", 0)
    watch.observer = None
    assert bytes(directory.read_bytes("a")) == b"ab"
