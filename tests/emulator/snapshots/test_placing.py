"""A process that is killed while it puts a state into a data_dir: the next start has the state, or
what was there before, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.emulator.snapshots import images
from odradek.emulator.snapshots.snapshot import Snapshot
from odradek.storage import Directory, LogDirectoryError
from odradek.storage.checkpoints import LOCK


class Killed(BaseException):
    """Nothing that anybody catches."""


@pytest.fixture
def state() -> Snapshot:
    with Emulator(topics={"old": 2, "both": 1}) as kafka:
        kafka.topic("old").produce_all(range_of("of the state"))
        kafka.topic("both").produce("of the state")
        return kafka.snapshot()


def range_of(text: str) -> list[str]:
    return [f"{text} {number}" for number in range(4)]


@pytest.mark.slow
def test_killed_at_every_change(
    state: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes, left = [], 0
    while True:
        home = tmp_path / str(left)
        with Emulator(topics={"new": 1, "both": 1}, data_dir=home) as kafka:
            kafka.topic("new").produce("of the directory")
            kafka.topic("both").produce("of the directory")
        is_killed = place_and_be_killed(state, home, left, monkeypatch)
        with Emulator(data_dir=home) as kafka:
            values = {name: kafka.topic(name).values() for name in kafka.topics()}
            assert kafka.notices == []
        assert not list(home.glob(".odradek*"))
        outcomes.append(sorted(values))
        (both,) = values["both"]
        assert both == (b"of the state" if "old" in values else b"of the directory")
        if not is_killed:
            break
        left += 1
    assert outcomes[0] == ["both", "new"]
    assert outcomes[-1] == ["both", "old"]
    assert outcomes == sorted(outcomes)
    assert left > 30


def place_and_be_killed(
    state: Snapshot, home: Path, after: int, monkeypatch: pytest.MonkeyPatch
) -> bool:
    """Put the state into the directory, and let nothing happen after so many changes."""
    left = after

    def counted(name: str) -> None:
        real = getattr(os, name)

        def change(*args: object, **more: object) -> object:
            nonlocal left
            if left <= 0:
                raise Killed
            left -= 1
            return real(*args, **more)

        monkeypatch.setattr(os, name, change)

    for name in ("link", "mkdir", "unlink", "rename", "rmdir"):
        counted(name)
    monkeypatch.setattr("shutil.rmtree", removed_step_by_step)
    try:
        images.place_in(state.image, home, is_temporary=False)
    except Killed:
        return True
    finally:
        monkeypatch.undo()
        _held_no_more(home)
    return False


def removed_step_by_step(path: str | Path, ignore_errors: bool = False) -> None:
    """shutil's own removes by descriptors, which is quicker and cannot be counted here."""
    for above, directories, names in os.walk(path, topdown=False):
        for name in names:
            os.unlink(os.path.join(above, name))
        for name in directories:
            os.rmdir(os.path.join(above, name))
    os.rmdir(path)


def _held_no_more(home: Path) -> None:
    """The lock of a process that was killed goes with it."""
    Directory(home).lock(LOCK).release(remove=False)


def test_a_place_that_is_in_use_is_left_alone(state: Snapshot, tmp_path: Path) -> None:
    lock = Directory(tmp_path).lock(LOCK)
    (tmp_path / ".odradek-restore").mkdir()
    with (
        pytest.raises(LogDirectoryError, match="in use by another broker"),
        Emulator(data_dir=tmp_path),
    ):
        pass
    lock.release()


def test_across_file_systems_files_are_copied_with_their_dates(
    state: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_system(*_: object, **__: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr("os.link", other_system)
    with Emulator(data_dir=tmp_path / "data") as kafka:
        kafka.restore(state)
        assert len(kafka.topic("old").values()) == 4
        again = kafka.snapshot()
        kafka.topic("old").produce("more")
        kafka.restore(again)
        assert len(kafka.topic("old").values()) == 4
    dates = {each.path: each.modified_ms for each in state.image.entries()}
    copied = {each.path: each.modified_ms for each in again.image.entries()}
    logs = {path for path in dates if path.endswith(".log") and "__cluster" not in path}
    assert {dates[path] - copied[path] for path in logs} == {0}
