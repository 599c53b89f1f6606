"""Bytes that are read when they are sent stay what they were, whatever happens to their file."""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek.storage import MemoryDisk, StoredBytes
from odradek.storage.disk.directory import MAPPED_FROM, Descriptors, Directory, File
from odradek.storage.disk.in_flight import KEPT_MAX, KeptOpen

SIZE = 3 * MAPPED_FROM
DATA = random.Random(1).randbytes(SIZE)


@pytest.fixture(params=["disk", "memory"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Directory:
    return Directory(tmp_path) if request.param == "disk" else MemoryDisk().directory()


def written(files: Directory, name: str, data: bytes = DATA) -> File:
    file = files.file(name)
    file.create()
    file.write(data, 0)
    return file


def later(file: File, position: int = 0, size: int = SIZE) -> StoredBytes:
    found = file.read_later(position, size)
    assert isinstance(found, StoredBytes)
    assert len(found) == size
    return found


def whole(stored: StoredBytes) -> bytes:
    data = b""
    while len(data) < len(stored):
        data += stored.read(len(data), len(stored) - len(data))
    return data


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def closed_and_removed(files: Directory, file: File) -> None:
    file.close()
    files.remove("f")


def removed_and_made_anew(files: Directory, file: File) -> None:
    closed_and_removed(files, file)
    written(files, "f", bytes(SIZE))


def truncated_and_written(files: Directory, file: File) -> None:
    file.truncate(100)
    file.write(bytes(SIZE), 100)


def renamed(files: Directory, file: File) -> None:
    file.release()
    files.rename("f", "f.deleted")
    file.path += ".deleted"


def appended_to(files: Directory, file: File) -> None:
    file.write(b"more", SIZE)
    file.release()


@pytest.mark.parametrize(
    "happens",
    [closed_and_removed, removed_and_made_anew, truncated_and_written, renamed, appended_to],
)
@pytest.mark.parametrize("begun", [False, True])
def test_they_stay_what_they_were(
    files: Directory, happens: Callable[[Directory, File], None], begun: bool
) -> None:
    file = written(files, "f")
    stored, part = later(file), later(file, 1000, MAPPED_FROM + 1)
    if begun:
        assert DATA.startswith(bytes(stored.read(0, 10_000)))
    happens(files, file)
    assert whole(stored) == DATA
    assert whole(part) == DATA[1000 : 1001 + MAPPED_FROM]


def test_little_is_read_at_once(files: Directory) -> None:
    assert written(files, "f").read_later(1, MAPPED_FROM) == DATA[1 : 1 + MAPPED_FROM]


def test_what_is_not_there_is_refused_at_once(files: Directory) -> None:
    with pytest.raises(OSError, match="ends before"):
        written(files, "f").read_later(1, SIZE)


def test_a_truncation_beyond_them_leaves_the_file_in_place(tmp_path: Path) -> None:
    file = written(Directory(tmp_path), "f", DATA + b"more")
    stored, inode = later(file), os.stat(file.path).st_ino
    file.truncate(SIZE)
    assert os.stat(file.path).st_ino == inode
    assert whole(stored) == DATA


@pytest.mark.slow
def test_what_is_in_flight_takes_no_memory_and_no_descriptor(tmp_path: Path) -> None:
    file = written(Directory(tmp_path), "f")
    before = descriptors()
    stored = [later(file) for _ in range(1000)]
    assert descriptors() == before
    file.close()
    assert descriptors() == before  # one for all of them, in place of the file's
    stored.clear()
    assert descriptors() == before - 1


def test_with_all_windows_in_use_they_are_read_in_short_pieces(tmp_path: Path) -> None:
    files = Directory(tmp_path, descriptors=Descriptors(windows_max=0))
    stored = later(written(files, "f"))
    assert len(stored.read(0, SIZE)) == MAPPED_FROM
    assert whole(stored) == DATA


def test_only_so_many_removed_files_are_kept_open(tmp_path: Path) -> None:
    gc.collect()
    assert KeptOpen._count == 0
    files = Directory(tmp_path)
    stored = []
    for number in range(KEPT_MAX + 1):
        file = written(files, f"{number}")
        stored.append(later(file))
        file.close()
    assert all(whole(each) == DATA for each in stored[:-1])
    with pytest.raises(OSError, match="removed while it was sent"):
        whole(stored[-1])
    stored.clear()
    assert KeptOpen._count == 0
