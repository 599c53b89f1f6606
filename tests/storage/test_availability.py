"""A log directory that goes while its logs are open: what still works, what fails, what is said."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from odradek.storage import Log, LogConfig, LogDirectory, LogDirectoryError, MemoryDisk
from odradek.wire import Error, Refused

from tests.storage.support.logs import append
from tests.support.clock import NOW

SMALL = LogConfig(segment_bytes=400)


class Opened:
    """A log directory with two partitions, one batch in each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.directory = LogDirectory.open(path, node_id=1)
        self.a, self.b = self.log("a"), self.log("b")
        append(self.a, b"x", now_ms=NOW)
        append(self.b, b"x", now_ms=NOW)

    def log(self, topic: str, config: LogConfig = SMALL) -> Log:
        return self.directory.open_log(topic, 0, bytes(16), config, NOW)

    @property
    def notices(self) -> list[str]:
        return self.directory.availability.notices

    @property
    def is_offline(self) -> bool:
        return self.directory.availability.offline is not None


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    opened = Opened(tmp_path / "data")
    yield opened
    opened.directory.close(clean=False)


def refused(action: Callable[[], object]) -> bool:
    """Whether the action is answered KAFKA_STORAGE_ERROR."""
    try:
        action()
    except Refused as error:
        return error.error is Error.KAFKA_STORAGE_ERROR
    return False


def test_what_was_removed_is_written_on_and_that_is_said_once(opened: Opened) -> None:
    shutil.rmtree(opened.path)
    for now in (NOW + 1, NOW + 2):
        append(opened.a, b"y", now_ms=now)
        append(opened.b, b"y", now_ms=now)
    assert len(opened.a.read(0, 10_000)) > 100
    (notice,) = opened.notices
    assert notice.startswith(f"{opened.path}/a-0 was removed while the broker runs")
    assert not opened.is_offline


def test_a_log_looks_at_its_file_once_in_a_millisecond(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []
    fstat = os.fstat
    monkeypatch.setattr(os, "fstat", lambda fd: (looked.append(fd), fstat(fd))[1])
    for _ in range(3):
        append(opened.a, b"", now_ms=NOW + 1)
        append(opened.b, b"", now_ms=NOW + 1)
    assert len(looked) == 1
    append(opened.a, b"", now_ms=NOW + 2)
    assert len(looked) == 2


def roll(opened: Opened) -> None:
    append(opened.a, bytes(300), now_ms=NOW)
    append(opened.a, bytes(300), now_ms=NOW)


def new_topic(opened: Opened) -> None:
    append(opened.log("c"), b"x", now_ms=NOW)


def flush(opened: Opened) -> None:
    opened.a.flush()


def reopen(opened: Opened) -> None:
    opened.a.segments[-1].file.release()
    opened.a.read(0, 10_000)


FAIL = {"roll": roll, "new topic": new_topic, "flush": flush, "open": reopen}


@pytest.mark.parametrize("how", FAIL)
def test_what_rolls_creates_syncs_or_opens_takes_the_directory_offline(
    opened: Opened, how: str
) -> None:
    shutil.rmtree(opened.path)
    assert refused(lambda: FAIL[how](opened))
    assert opened.is_offline
    assert refused(lambda: append(opened.b, b"x", now_ms=NOW))
    assert refused(lambda: opened.b.read(0, 100))
    assert refused(lambda: opened.b.reader.find_timestamp(NOW))
    assert refused(lambda: opened.b.delete(bytes(16)))
    assert [each for each in opened.notices if "is offline until the next start" in each] == [
        opened.notices[-1]
    ]
    assert not opened.path.exists()


def test_a_partition_that_is_removed_takes_the_others_offline_once_it_rolls(
    opened: Opened,
) -> None:
    shutil.rmtree(opened.path / "a-0")
    append(opened.b, b"x", now_ms=NOW)
    assert refused(lambda: roll(opened))
    assert "because a-0 was removed" in opened.notices[-1]
    assert refused(lambda: append(opened.b, b"x", now_ms=NOW))


def empty(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()


def replace(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()
    (path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=another\n")


@pytest.mark.parametrize("change", [shutil.rmtree, empty, replace])
def test_a_look_finds_it(opened: Opened, change: Callable[[Path], None]) -> None:
    opened.directory.availability.look()
    change(opened.path)
    with pytest.raises(OSError, match="offline"):
        opened.directory.availability.look()
    with pytest.raises(OSError, match="offline"):
        opened.directory.checkpoint()
    assert len(opened.notices) == 1


def test_a_directory_that_the_broker_may_not_use_is_offline(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may use every directory, so the system's answer is replaced."""
    monkeypatch.setattr(os, "access", lambda path, mode, **_: path != str(opened.path))
    with pytest.raises(OSError, match="the broker may not use it any more"):
        opened.directory.availability.look()


def test_what_fails_for_another_reason_takes_nothing_offline() -> None:
    disk = MemoryDisk()
    directory = LogDirectory.open(disk.directory(), node_id=1)
    log = directory.open_log("a", 0, bytes(16), SMALL, NOW)
    append(log, b"x", now_ms=NOW)
    disk.fail_writes()
    assert refused(lambda: append(log, b"x", now_ms=NOW))
    disk.heal()
    append(log, b"x", now_ms=NOW)
    assert directory.availability.notices == []
    directory.close()


def test_a_close_of_what_has_gone_says_so_and_brings_nothing_back(opened: Opened) -> None:
    shutil.rmtree(opened.path)
    opened.directory.close()
    assert len(opened.notices) == 1
    assert not opened.path.exists()


def test_a_close_after_a_partition_was_removed_is_not_clean(opened: Opened) -> None:
    shutil.rmtree(opened.path / "a-0")
    with pytest.raises(LogDirectoryError, match="a-0"):
        opened.directory.close()
    assert not (opened.path / ".kafka_cleanshutdown").exists()
