"""A repair that is killed while it puts several files in the place of others: a broker starts on
what it leaves, and the next repair ends it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek.storage import LogDirectory, repair
from odradek.storage.disk.directory import Directory
from odradek.storage.recovery.unfinished import GONE, REPAIRED, REPLACED

from tests.storage.support.known_log import CONFIG, END, assert_indexes, fill, value
from tests.storage.support.logs import file, home, read_all

TOPIC = bytes(range(16))
CHANGES = ("rename", "delete", "write", "create")
WHOLE = [(offset, value(offset)) for offset in range(END)]


class Killed(BaseException):
    """The process is no more."""


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """Segments 0, 5 and 10; see known_log.py."""
    path = tmp_path / "data"
    directory = LogDirectory.open(path, node_id=1)
    fill(directory.open_log("t", 0, TOPIC, CONFIG, 0))
    directory.close()
    return path


def swapped(path: Path) -> None:
    first, second = (file(path, base, ".log") for base in (0, 5))
    data = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(data)


def renamed(path: Path) -> None:
    """Two segments have names of none."""
    for base in (10, 5):
        file(path, base, ".log").rename(file(path, base + 2, ".log"))


def killed_after(path: Path, changes: int) -> bool:
    """Repair, and be killed before the change of files after so many; whether it came to that."""
    left = changes
    directory = Directory(path)

    def observe(operation: str, name: str, size: int) -> None:
        nonlocal left
        if operation in CHANGES and "t-0" in name:
            left -= 1
            if left < 0:
                raise Killed

    directory.descriptors.watch.observer = observe
    try:
        repair(directory, config=CONFIG)
    except Killed:
        return True
    return False


def started(path: Path, *, reads: bool = True) -> list[tuple[int, bytes | None]]:
    """Start a broker there; what it serves."""
    directory = LogDirectory.open(path, node_id=1)
    log = directory.open_log("t", 0, TOPIC, CONFIG, 0)
    found = read_all(log) if reads else []
    assert log.log_end_offset == END
    directory.close()
    return found


def endings(path: Path) -> set[str]:
    names = {one.name for one in home(path).iterdir()}
    return {end for end in (REPAIRED, REPLACED, GONE) if any(name.endswith(end) for name in names)}


@pytest.mark.parametrize("damage", [swapped, renamed])
def test_killed_at_any_change(closed: Path, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    damage(closed)
    seen: set[frozenset[str]] = set()
    for changes in range(200):
        path = tmp_path / str(changes)
        shutil.copytree(closed, path)
        was_killed = killed_after(path, changes)
        left = endings(path)
        seen.add(frozenset(left))
        if not was_killed:
            assert left == set()
            break
        served = tmp_path / f"served-{changes}"
        shutil.copytree(path, served)
        is_ended = REPLACED in left  # else it is as it was damaged
        found = started(served, reads=is_ended)
        if is_ended:
            assert found == WHOLE
            assert_indexes(served)
            assert endings(served) == set()
        for each in (path, served):
            assert repair(each, config=CONFIG).status == 0
            assert repair(each, config=CONFIG).findings == []
            assert endings(each) == set()
            assert started(each) == WHOLE
    assert frozenset({REPAIRED, REPLACED}) in {each - {GONE} for each in seen}
    assert any(GONE in each for each in seen) == (damage is renamed)
