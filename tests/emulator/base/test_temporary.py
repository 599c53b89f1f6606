"""Temporary directories: a lock says which are in use, and those that nobody holds are removed."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from odradek.emulator.base import temporary
from odradek.emulator.base.temporary import PREFIX, TemporaryDirectory, sweep

NAME = PREFIX + "abcd_123"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(temporary, "_swept", set())
    return tmp_path


def names(place: Path) -> list[str]:
    return sorted(os.listdir(place))


def leave(place: Path, name: str = NAME) -> Path:
    """A directory without an owner."""
    (place / name / "t-0").mkdir(parents=True)
    (place / name / "t-0" / "file").touch()
    return place / name


def test_it_is_removed_at_the_end(place: Path) -> None:
    with TemporaryDirectory() as path:
        assert path.parent == place
        (path / "file").touch()
    assert names(place) == []


def test_it_is_removed_with_its_last_reference(place: Path) -> None:
    directory = TemporaryDirectory()
    directory.__enter__()
    del directory
    assert names(place) == []


def test_what_was_left_is_removed(place: Path) -> None:
    leave(place)
    with TemporaryDirectory() as path:
        assert names(place) == [path.name]


def test_a_place_is_swept_once(place: Path) -> None:
    with TemporaryDirectory():
        leave(place)
    with TemporaryDirectory():
        assert NAME in names(place)


def test_what_this_process_uses_stays(place: Path) -> None:
    with TemporaryDirectory() as path:
        sweep(str(place))
        assert path.exists()
        sweep(str(place))
        assert path.exists()


HOLD = """
import fcntl, os, sys
held = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(held, fcntl.LOCK_EX)
print(flush=True)
sys.stdin.readline()
"""


def test_what_another_process_uses_stays_until_it_ends(place: Path) -> None:
    path = leave(place)
    command = [sys.executable, "-c", HOLD, str(path)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        sweep(str(place))
        assert path.exists()
    finally:
        holder.kill()
        holder.communicate()
    sweep(str(place))
    assert names(place) == []


@pytest.mark.parametrize("pid", [1, 2**22 - 1])
def test_the_lock_decides_whatever_pids_say(
    place: Path, monkeypatch: pytest.MonkeyPatch, pid: int
) -> None:
    """As in another pid namespace: there this process has another id, and its ids mean others."""
    with TemporaryDirectory() as path:
        monkeypatch.setattr(os, "getpid", lambda: pid)
        sweep(str(place))
        assert path.exists()
        monkeypatch.undo()
    assert not path.exists()


def test_what_a_forked_process_still_holds_stays(place: Path) -> None:
    path = leave(place)
    first = os.open(path, os.O_RDONLY)
    fcntl.flock(first, fcntl.LOCK_EX)
    inherited = os.dup(first)  # what a fork does
    os.close(first)
    sweep(str(place))
    assert path.exists()
    os.close(inherited)
    sweep(str(place))
    assert not path.exists()


@pytest.mark.parametrize(
    "name",
    [
        "odradek-temporary-",
        "odradek-temporary-mine",
        "odradek-temporary-abcdefghi",
        "odradek-temporary-ABCDEFGH",
        "my-odradek-temporary-abcdefgh",
        "odradek-abcdefgh",
        "tmpabcdefgh",
    ],
)
def test_other_names_are_left_alone(place: Path, name: str) -> None:
    leave(place, name)
    sweep(str(place))
    assert names(place) == [name]


def test_files_and_links_are_left_alone(
    place: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = leave(tmp_path_factory.mktemp("elsewhere"))
    (place / NAME).symlink_to(elsewhere)
    (place / (PREFIX + "abcdefgh")).touch()
    sweep(str(place))
    assert names(place) == [NAME, PREFIX + "abcdefgh"]
    assert (elsewhere / "t-0" / "file").exists()


def test_another_users_are_left_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = leave(place)
    somebody_else = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody_else)
    sweep(str(place))
    assert path.exists()


def test_what_cannot_be_removed_stops_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave(place)
    other = leave(place, PREFIX + "00000000")
    rmtree = shutil.rmtree

    def fails(path: str | Path, ignore_errors: bool = False) -> None:
        if str(path).endswith(NAME):
            raise PermissionError(path)
        rmtree(path, ignore_errors)

    monkeypatch.setattr(shutil, "rmtree", fails)
    with TemporaryDirectory():
        assert not other.exists()
    assert names(place) == [NAME]


def test_a_place_that_cannot_be_listed_stops_nothing(tmp_path: Path) -> None:
    sweep(str(tmp_path / "missing"))


def test_a_new_directory_that_a_sweep_takes_is_made_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the making of a directory and its lock another process may sweep."""
    mkdtemp, taken = tempfile.mkdtemp, []

    def swept_at_once(prefix: str, dir: str) -> str:
        path = mkdtemp(prefix=prefix, dir=dir)
        if len(taken) < 2:
            sweep(str(place))
            taken.append(path)
        return path

    monkeypatch.setattr(tempfile, "mkdtemp", swept_at_once)
    with TemporaryDirectory() as path:
        assert len(taken) == 2
        assert names(place) == [path.name]


def test_a_new_directory_that_a_sweep_has_locked_is_left_to_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdtemp, locks = tempfile.mkdtemp, []

    def locked_at_once(prefix: str, dir: str) -> str:
        path = mkdtemp(prefix=prefix, dir=dir)
        if not locks:
            locks.append(os.open(path, os.O_RDONLY))
            fcntl.flock(locks[0], fcntl.LOCK_EX)
        return path

    monkeypatch.setattr(tempfile, "mkdtemp", locked_at_once)
    with TemporaryDirectory() as path:
        assert len(names(place)) == 2
        assert path.exists()
    os.close(locks[0])


def test_where_there_are_no_locks_nothing_is_swept(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(descriptor: int, how: int) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    leave(place)
    with TemporaryDirectory() as path:
        assert path.exists()
        sweep(str(place))
        assert path.exists()
    assert names(place) == [NAME]


def test_it_leaves_no_descriptor(place: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        leave(place)
        temporary._swept.clear()
        with TemporaryDirectory():
            sweep(str(place))
    assert len(os.listdir("/proc/self/fd")) == before
