"""The disk in memory: the same files as on a real one, and what each way to lose them leaves."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from odradek.storage import LogDirectory, LogDirectoryError, MemoryDisk
from odradek.storage.disk.directory import MAPPED_FROM, Directory, File, FileLock, Handle, Locked
from odradek.storage.disk.memory import MemoryDirectory, MemoryFile, MemoryHandle, MemoryLock

LARGE = MAPPED_FROM + 5000


@pytest.fixture(params=["on disk", "in memory"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Directory:
    return Directory(tmp_path) if request.param == "on disk" else MemoryDisk().directory()


@pytest.fixture
def disk() -> MemoryDisk:
    return MemoryDisk()


def written(files: Directory, name: str, data: bytes) -> File:
    file = files.file(name)
    file.create()
    file.write(data, 0)
    return file


# As on a real disk.


@pytest.mark.parametrize("size", [1, LARGE])
def test_a_read_stays_as_it_was_whatever_happens_to_the_file(files: Directory, size: int) -> None:
    data = os.urandom(size)
    file = written(files, "f", data)
    views = [file.read(0, size) for _ in range(3)]

    file.truncate(0)
    file.write(b"other", 0)
    file.close()
    files.remove("f")

    assert all(view == data for view in views)


def test_a_file_grows_holes_and_is_cut(files: Directory) -> None:
    file = written(files, "f", b"abc")
    file.write(b"x", 5)
    file.write(b"BC", 1)
    assert file.read(0, 6) == b"aBC\0\0x"
    file.truncate(2)
    file.truncate(4)
    assert (files.read_bytes("f"), file.size()) == (b"aB\0\0", 4)
    with pytest.raises(OSError, match="ends before byte 5"):
        file.read(3, 2)


def test_creating_a_file_that_is_there_empties_it(files: Directory) -> None:
    written(files, "f", b"abc")
    written(files, "f", b"")
    assert files.files() == {"f": 0}


def test_an_open_file_survives_rename_and_removal(files: Directory) -> None:
    file = written(files, "f", b"abc")
    files.rename("f", "g")
    file.write(b"d", 3)
    assert files.read_bytes("g") == b"abcd"
    files.remove("g")
    assert file.read(0, 4) == b"abcd"


def test_what_is_not_there_is_not_found(files: Directory) -> None:
    tries: list[Callable[[], object]] = [
        lambda: files.file("f").read(0, 1),
        lambda: files.file("f").write(b"x", 0),
        lambda: files.child("d").file("f").create(),
        lambda: files.read_bytes("f"),
        lambda: files.rename("f", "g"),
        lambda: files.handle("f"),
        lambda: files.modified_ms("f"),
        lambda: files.child("d").files(),
        lambda: files.remove_directory("d"),
    ]
    for attempt in tries:
        with pytest.raises(FileNotFoundError):
            attempt()
    files.remove("f")
    assert not files.exists("f")


def test_a_closed_file_stays_closed(files: Directory) -> None:
    file = written(files, "f", b"x")
    file.release()
    assert file.read(0, 1) == b"x"
    file.close()
    with pytest.raises(OSError, match="closed"):
        file.read(0, 1)


def test_small_files_are_replaced_whole(files: Directory) -> None:
    files.write_atomic("f", b"old")
    files.write_atomic("f", b"new")
    assert files.read_bytes("f") == b"new"
    assert files.files() == {"f": 3}


def test_directories_are_made_listed_renamed_and_removed(files: Directory) -> None:
    files.child("c").child("e").make()
    files.child("c").child("e").make()
    files.child("d").make()
    written(files.child("c"), "f", b"abc")
    assert (files.directories(), files.files()) == (["c", "d"], {})
    files.rename("c", "g")
    assert files.child("g").files() == {"f": 3}
    files.remove_directory("g")
    assert files.directories() == ["d"]
    assert files.child("d").exists()
    assert not files.child("g").exists()


def test_a_file_is_dated_by_the_clock_that_is_given(files: Directory) -> None:
    files.write_atomic("f", b"")
    files.set_modified_ms("f", 1_500_000_000_123)
    assert files.modified_ms("f") == 1_500_000_000_123


def test_a_lock_excludes_others(files: Directory) -> None:
    lock = files.lock(".lock")
    with pytest.raises(Locked):
        files.lock(".lock")
    lock.release()
    assert not files.exists(".lock")
    files.lock(".lock").release(remove=False)
    assert files.exists(".lock")


@pytest.mark.parametrize(
    ("real", "memory"),
    [
        (Directory, MemoryDirectory),
        (File, MemoryFile),
        (Handle, MemoryHandle),
        (FileLock, MemoryLock),
    ],
)
def test_nothing_in_memory_falls_through_to_the_real_disk(real: type, memory: type) -> None:
    # These are made of the others.
    shared = {"sync", "write_atomic", "write_if_changed", "close", "_at", "_ends_early"}
    shared |= {"read_later", "_let_go"}
    system = {"_acquire", "_is_current", "_ready", "_window", "_map"}
    system |= {"_move_to_new_inode", "_open"}
    own = set(vars(memory))
    inherited = {name for name, it in vars(real).items() if inspect.isfunction(it)} - own
    assert inherited <= shared | system
    assert not any(f"self.{name}(" in inspect.getsource(memory) for name in system)


# Losing.


def test_a_kill_leaves_everything_written_and_nothing_locked(disk: MemoryDisk) -> None:
    files = disk.directory()
    files.lock(".lock")
    file = written(files, "f", b"abc")

    after = disk.kill()
    file.write(b"later", 0)

    assert after.directory().read_bytes("f") == b"abc"
    after.directory().lock(".lock")
    assert after.crash().files() == {}, "a kill makes nothing durable"


def test_a_power_cut_leaves_what_was_synced(disk: MemoryDisk) -> None:
    files = disk.directory()
    file = written(files, "f", b"abc")
    file.sync()
    assert disk.crash().files() == {}, "the name was not synced"
    files.sync()
    file.write(b"X", 0)
    file.truncate(2)
    files.rename("f", "g")
    written(files, "h", b"x")

    after = disk.crash()

    assert {name: after.read_bytes(name) for name in after.files()} == {"f": b"abc"}
    assert disk.read_bytes("g") == b"Xb"


def test_a_power_cut_keeps_any_of_the_unsynced_writes(disk: MemoryDisk) -> None:
    files = disk.directory()
    file = written(files, "f", b"")
    files.sync()
    file.write(b"ab", 0)
    file.write(b"cd", 2)
    found = {bytes(disk.crash(Random(seed)).read_bytes("f")) for seed in range(300)}
    whole_or_not = {b"", b"ab", b"\0\0cd", b"abcd"}
    torn = {b"a", b"abc", b"\0b", b"ab\0d"}
    as_zeros = {b"\0\0", b"ab\0\0"}
    assert whole_or_not | torn | as_zeros <= found


def test_what_was_written_behind_a_lost_cut_is_lost_too(disk: MemoryDisk) -> None:
    files = disk.directory()
    file = written(files, "f", b"abcdef")
    file.sync()
    files.sync()
    file.truncate(1)
    file.write(b"X", 1)
    found = {bytes(disk.crash(Random(seed)).read_bytes("f")) for seed in range(100)}
    assert found == {b"abcdef", b"a", b"aX", b"a\0"}


def test_a_power_cut_keeps_the_first_few_changes_of_a_folders_names(disk: MemoryDisk) -> None:
    files = disk.directory()
    for name in "abc":
        written(files, name, b"")
    files.rename("a", "d")
    found = {"".join(disk.crash(Random(seed)).files()) for seed in range(100)}
    assert found == {"", "a", "ab", "abc", "bcd"}


def test_replacing_a_file_needs_a_sync_to_outlive_the_power(disk: MemoryDisk) -> None:
    for durable, contents in [(True, {b"new"}), (False, {b"old", b"", b"n", b"ne", b"new"})]:
        files = disk.directory(durable=durable)
        disk.directory(durable=True).write_atomic("f", b"old")
        files.write_atomic("f", b"new")
        found = {bytes(disk.crash(Random(seed)).read_bytes("f")) for seed in range(200)}
        assert {content for content in found if b"\0" not in content} == contents


def test_a_sync_covers_what_was_written_when_it_began(disk: MemoryDisk) -> None:
    files = disk.directory()
    file = written(files, "f", b"a")
    files.sync()
    disk.delay_syncs(lambda: file.write(b"b", 1))
    file.sync()
    assert disk.crash().read_bytes("f") == b"a"


def test_changes_are_counted_and_reported(disk: MemoryDisk) -> None:
    received: list[str] = []
    disk.on_change = received.append
    disk.directory(durable=True).write_atomic("f", b"abc")
    assert received == ["create f.tmp", "write f.tmp 0+3", "sync f.tmp", "rename f.tmp f", "sync"]
    assert disk.changes == len(received)


def test_a_disk_can_be_looked_at_from_outside(disk: MemoryDisk, tmp_path: Path) -> None:
    disk.directory("d").make()
    disk.write_bytes("d/f", b"abc")
    disk.write_bytes("d/f", b"ab")
    disk.flip("d/f", 1, bit=0)
    assert disk.files() == {"d/f": 2}
    assert disk.read_bytes("d/f") == b"ac"
    disk.copy_to(tmp_path)
    assert (tmp_path / "d" / "f").read_bytes() == b"ac"


# Faults.


def test_a_full_disk_takes_what_fits_until_there_is_room_again(disk: MemoryDisk) -> None:
    files = disk.directory()
    file = written(files, "f", b"abc")
    disk.fill(after_bytes=2)
    with pytest.raises(OSError, match="No space left"):
        file.write(b"12345", 2)
    assert disk.read_bytes("f") == b"ab123"
    file.write(b"xyz", 0)
    with pytest.raises(OSError, match="No space left"):
        files.write_atomic("g", b"x")
    with pytest.raises(OSError, match="No space left"):
        files.child("d").make()
    assert files.files() == {"f": 5}

    file.truncate(4)
    files.write_atomic("g", b"x")

    disk.heal()
    file.write(bytes(100), 4)
    assert files.files() == {"f": 104, "g": 1}


def test_a_torn_write_leaves_its_beginning_once(disk: MemoryDisk) -> None:
    files = disk.directory()
    other, file = written(files, "other", b""), written(files, "f.log", b"ab")
    disk.tear_next_write("*.log", keep=2)
    other.write(b"123", 0)
    with pytest.raises(OSError, match="Input/output error"):
        file.write(b"cdef", 2)
    assert file.read(0, 4) == b"abcd"
    file.write(b"efgh", 4)


def test_faults_hold_where_they_are_set_and_until_they_are_healed(disk: MemoryDisk) -> None:
    files = disk.directory()
    file, other = written(files, "f", b"abc"), written(files, "g", b"abc")
    disk.fail_reads("f")
    disk.fail_writes("f*")
    disk.fail_syncs("f")
    attempts: list[Callable[[], object]] = [
        lambda: file.read(0, 1),
        lambda: files.read_bytes("f"),
        lambda: file.write(b"x", 0),
        lambda: file.truncate(0),
        lambda: files.rename("f", "h"),
        lambda: files.rename("g", "f"),
        lambda: files.remove("f"),
        lambda: files.child("f2").make(),
        file.sync,
        files.handle("f").sync,
    ]
    for attempt in attempts:
        with pytest.raises(OSError, match="Input/output error"):
            attempt()
    other.write(b"x", 0)
    other.sync()
    assert other.read(0, 1) == b"x"

    disk.heal()
    file.write(b"x", 0)
    file.sync()
    assert file.read(0, 1) == b"x"


def test_a_failed_sync_makes_nothing_durable(disk: MemoryDisk) -> None:
    file = written(disk.directory(), "f", b"abc")
    disk.directory().sync()
    disk.fail_syncs()
    with pytest.raises(OSError, match="Input/output error"):
        file.sync()
    assert disk.crash().read_bytes("f") == b""


# A log directory on it.


def test_a_log_directory_on_it_is_locked_left_and_found_again(disk: MemoryDisk) -> None:
    opened = LogDirectory.open(disk.directory(), node_id=1)
    with pytest.raises(LogDirectoryError, match="in use"):
        LogDirectory.open(disk.directory(), node_id=1)
    opened.close()
    with pytest.raises(LogDirectoryError, match="belongs to node 1"):
        LogDirectory.open(disk.directory(), node_id=2)
    again = LogDirectory.open(disk.directory(), node_id=1)
    assert again.clean
    assert again.properties == opened.properties


def test_a_lock_file_that_cannot_be_removed_lets_others_in(disk: MemoryDisk) -> None:
    lock = disk.directory().lock(".lock")
    disk.fail_writes(".lock")
    lock.release()
    disk.heal()
    disk.directory().lock(".lock").release()
