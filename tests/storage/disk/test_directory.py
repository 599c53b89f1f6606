"""Files, what a reader may keep, the pool of descriptors, and the lock."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from odradek.storage.disk.directory import (
    MAPPED_FROM,
    Descriptors,
    Directory,
    File,
    FileLock,
    Locked,
)

from tests.storage.support.logs import disk_full_at

LARGE = MAPPED_FROM + 5000


@pytest.fixture
def files(tmp_path: Path) -> Directory:
    return Directory(tmp_path)


def written(files: Directory, name: str, data: bytes) -> File:
    file = files.file(name)
    file.create()
    file.write(data, 0)
    return file


@pytest.mark.parametrize("size", [1, 4096, MAPPED_FROM, MAPPED_FROM + 1, LARGE])
@pytest.mark.parametrize("position", [0, 1, 4096, 5000])
def test_a_read_is_what_was_written(files: Directory, size: int, position: int) -> None:
    data = os.urandom(position + size)
    assert written(files, "f", data).read(position, size) == data[position:]


@pytest.mark.parametrize("size", [100, LARGE])
def test_a_file_that_ends_early_is_an_error(files: Directory, size: int) -> None:
    file = written(files, "f", bytes(size - 1))
    with pytest.raises(OSError, match=f"ends before byte {size}"):
        file.read(0, size)


def test_a_view_outlives_removal(files: Directory) -> None:
    data = os.urandom(LARGE)
    file = written(files, "f", data)
    view = file.read(0, LARGE)
    assert isinstance(view, memoryview)

    file.close()
    files.remove("f")

    assert view == data


def test_a_view_outlives_truncation_and_what_is_written_then(files: Directory) -> None:
    data = os.urandom(LARGE)
    file = written(files, "f", data)
    view = file.read(100, LARGE - 100)

    file.truncate(50)
    file.write(bytes(LARGE), 50)

    assert view == data[100:]
    assert file.read(0, 60) == data[:50] + bytes(10)
    assert files.files() == {"f": LARGE + 50}


def test_a_view_outlives_truncation_through_another_file_object(files: Directory) -> None:
    data = os.urandom(LARGE)
    view = written(files, "f", data).read(0, LARGE)

    files.file("f").truncate(0)

    assert view == data


def test_truncation_behind_a_view_leaves_the_file_in_place(files: Directory) -> None:
    file = written(files, "f", bytes(LARGE + 100))
    inode = os.stat(file.path).st_ino
    view = file.read(0, LARGE)

    file.truncate(LARGE)

    assert os.stat(file.path).st_ino == inode
    assert len(view) == LARGE


def test_many_views_do_not_use_up_the_descriptors(tmp_path: Path) -> None:
    gc.collect()  # what other tests have left
    files = Directory(tmp_path, descriptors=Descriptors(windows_max=3))
    file = written(files, "f", bytes(LARGE))

    views = [file.read(0, LARGE) for _ in range(5)]

    assert [type(view) for view in views] == [memoryview] * 3 + [bytes] * 2


def test_the_descriptor_that_was_idle_longest_is_closed_for_a_new_one(tmp_path: Path) -> None:
    pool = Descriptors(limit=3)
    files = Directory(tmp_path, descriptors=pool)
    a, b, c, d = (files.file(name) for name in "abcd")
    a.create(), b.create(), c.create()

    a.write(b"1", 0)
    d.create()

    assert [file._fd >= 0 for file in (a, b, c, d)] == [True, False, True, True]
    assert len(pool) == 3
    b.write(b"2", 0)
    assert [file._fd >= 0 for file in (a, b, c, d)] == [True, True, False, True]


@pytest.mark.parametrize(
    ("soft", "limit"),
    [(1024, 128), (10**6, 128), (resource.RLIM_INFINITY, 128), (256, 32), (64, 8), (4, 1)],
)
def test_a_pool_takes_an_eighth_of_what_the_process_may_open(
    soft: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, soft))
    assert Descriptors().limit == limit
    assert Descriptors().windows_max == min(64, limit)


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    """Opens everything that this process may; the limit is lowered for it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = [os.open(os.devnull, os.O_RDONLY)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (taken[0] + 20, hard))
    try:
        while (found := another_descriptor()) is not None:
            taken.append(found)
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken:
            os.close(descriptor)


def another_descriptor() -> int | None:
    try:
        return os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return None


def test_where_no_descriptor_is_left_the_pool_gives_one_up(files: Directory) -> None:
    a, b, c = (written(files, name, b"x") for name in "abc")
    c.release()
    with no_descriptor_left():
        assert bytes(c.read(0, 1)) == b"x"
        assert files.read_bytes("a") == b"x"
        files.handle("b").close()
        files.write_atomic("d", b"x")
        assert bytes(b.read(0, 1)) == bytes(a.read(0, 1)) == b"x"


def test_where_no_descriptor_is_left_for_a_view_the_bytes_are_copied(files: Directory) -> None:
    file = written(files, "f", bytes(LARGE))
    with no_descriptor_left():
        assert type(file.read(0, LARGE)) is (bytes if sys.version_info < (3, 13) else memoryview)


def test_where_no_descriptor_is_left_for_a_view_a_piece_is_short(files: Directory) -> None:
    data = os.urandom(LARGE)
    file = written(files, "f", data)
    with no_descriptor_left():
        piece = file.piece(10, LARGE - 10)
    most = MAPPED_FROM if sys.version_info < (3, 13) else LARGE
    assert bytes(piece) == data[10 : 10 + most]


def test_where_no_descriptor_is_left_and_the_pool_has_none_it_fails(files: Directory) -> None:
    file = written(files, "f", b"x")
    file.release()
    with no_descriptor_left(), pytest.raises(OSError, match="Too many open files"):
        file.read(0, 1)


def test_a_closed_file_stays_closed(files: Directory) -> None:
    file = written(files, "f", b"x")
    file.close()
    assert len(files.descriptors) == 0
    with pytest.raises(OSError, match="closed"):
        file.read(0, 1)


def test_a_write_that_ends_short_goes_on_and_then_fails(files: Directory) -> None:
    file = written(files, "f", b"")
    with disk_full_at(700), pytest.raises(OSError, match="File too large"):
        file.write(bytes(1000), 0)
    assert file.size() == 700


def test_small_files_are_replaced_whole(files: Directory) -> None:
    files.write_atomic("f", b"old")
    with disk_full_at(10), pytest.raises(OSError, match="File too large"):
        files.write_atomic("f", bytes(11))
    assert files.read_bytes("f") == b"old"
    assert files.files() == {"f": 3}

    files.write_atomic("f", b"new")
    assert files.read_bytes("f") == b"new"


def test_a_durable_directory_waits_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)

    Directory(tmp_path).write_atomic("f", b"x")
    assert len(synced) == 0

    Directory(tmp_path, durable=True).write_atomic("f", b"x")
    assert len(synced) == 2, "the file, and the directory that names it"


def test_removing_what_is_not_there_is_fine(files: Directory) -> None:
    files.remove("nothing")
    assert not files.exists("nothing")


def test_a_file_is_dated_by_the_clock_that_is_given(files: Directory) -> None:
    files.write_atomic("f", b"")
    files.set_modified_ms("f", 1_500_000_000_123)
    assert files.modified_ms("f") == 1_500_000_000_123


def test_a_directory_lists_files_and_directories_apart(files: Directory) -> None:
    files.write_atomic("f", b"abc")
    files.child("d").make()
    files.child("c").child("e").make()
    assert files.files() == {"f": 3}
    assert files.directories() == ["c", "d"]
    files.remove_directory("c")
    assert files.directories() == ["d"]


def test_a_lock_excludes_others_of_this_process(files: Directory) -> None:
    lock = FileLock(files, ".lock")
    with pytest.raises(Locked):
        FileLock(files, ".lock")
    with pytest.raises(Locked):
        FileLock(Directory(f"{files.path}/../{os.path.basename(files.path)}"), ".lock")

    lock.release()

    assert not files.exists(".lock")
    FileLock(files, ".lock").release()


def test_whether_a_directory_is_locked_is_seen_from_here(files: Directory) -> None:
    assert not files.is_locked(".lock")
    assert not files.exists(".lock"), "a look creates nothing"
    lock = FileLock(files, ".lock")
    assert files.is_locked(".lock")
    with pytest.raises(Locked):  # a look does not release it
        FileLock(files, ".lock")
    lock.release(remove=False)
    assert not files.is_locked(".lock")


def test_whether_a_directory_is_locked_is_seen_from_another_process(files: Directory) -> None:
    program = (
        "import sys; from odradek.storage.disk.directory import Directory; "
        "print(Directory(sys.argv[1]).is_locked('.lock'))"
    )
    look = [sys.executable, "-c", program, files.path]
    lock = FileLock(files, ".lock")
    assert subprocess.run(look, capture_output=True, check=True).stdout == b"True\n"
    lock.release(remove=False)
    assert subprocess.run(look, capture_output=True, check=True).stdout == b"False\n"


def test_a_lock_excludes_other_processes(files: Directory) -> None:
    # Java's FileChannel.lock takes the same kind: fcntl's record locks.
    program = (
        "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    )
    other = [sys.executable, "-c", program, f"{files.path}/.lock"]
    lock = FileLock(files, ".lock")
    assert b"BlockingIOError" in subprocess.run(other, capture_output=True, check=False).stderr

    lock.release(remove=False)

    assert files.exists(".lock")
    assert subprocess.run(other, capture_output=True, check=False).returncode == 0


def test_a_file_that_goes_while_it_is_listed_is_left_out(
    files: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(files, "stays", b"abc").close()
    written(files, "goes", b"abc").close()

    @contextmanager
    def raced(path: str) -> Iterator[list[os.DirEntry[str]]]:
        with scan(path) as entries:
            found = list(entries)
        os.unlink(os.path.join(path, "goes"))
        yield found

    scan = os.scandir
    monkeypatch.setattr(os, "scandir", raced)
    assert files.files() == {"stays": 3}


@pytest.mark.parametrize("path", ["/data", "/data/", "/data//"])
def test_a_path_may_end_with_slashes(path: str) -> None:
    assert Directory(path).child("orders-0").path == "/data/orders-0"
