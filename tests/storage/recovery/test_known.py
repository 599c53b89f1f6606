"""A file that an image shares is not read again while somebody holds what is known of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from odradek.storage.disk.mirror import link_image, mirror
from odradek.storage.recovery import recovery, segment_scan
from odradek.storage.recovery.known import Known, learn

from tests.storage.support.logs import append, home, open_log, read_all


@pytest.fixture
def image(tmp_path: Path) -> tuple[Path, Known]:
    """Of a log with 600 batches: more than whose positions are in memory."""
    log = open_log(tmp_path / "first")
    for number in range(600):
        append(log, b"%d" % number + bytes(50), timestamps=[number])
    (tmp_path / "image").mkdir()
    files = {home(tmp_path / "first").name: log.image()}
    link_image(str(tmp_path / "first"), files, str(tmp_path / "image"))
    known = learn(log.segments[-1])
    assert known is not None
    assert learn(log.segments[-1]) is known
    log.close(clean=False)
    return tmp_path / "image", known


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    scan = segment_scan.scan_segment

    def counted(*args: object, **more: object) -> object:
        found.append("scan")
        return scan(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(recovery, "scan_segment", counted)
    return found


def test_it_is_as_if_it_had_been_read(
    image: tuple[Path, Known], scans: list[str], tmp_path: Path
) -> None:
    for name in ("unread", "read"):
        (tmp_path / name).mkdir()
        mirror(str(image[0]), str(tmp_path / name))
    unread = open_log(tmp_path / "unread", clean=True, recovery_point=600)
    assert scans == []
    path = home(tmp_path / "read") / f"{0:020}.log"
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)  # another file, of which nothing is known
    read = open_log(tmp_path / "read", clean=True, recovery_point=600)
    assert scans == ["scan"]

    for log in (unread, read):
        assert log.notices == []
        assert log.log_end_offset == len(read_all(log)) == 600
        assert log.reader.find_timestamp(300) == (300, 300, 0)
        append(log, b"more", timestamps=[601])
    assert read_all(unread) == read_all(read)
    for log in (unread, read):
        log.close()
    names = {each.name for each in home(tmp_path / "read").iterdir()}
    for name in names:
        pair = [(home(tmp_path / place) / name).read_bytes() for place in ("unread", "read")]
        assert pair[0] == pair[1], name


def test_what_was_written_by_hand_is_read(image: tuple[Path, Known], scans: list[str]) -> None:
    path = home(image[0]) / f"{0:020}.log"
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"damage")
    os.utime(path, ns=(1, 1))
    log = open_log(image[0], clean=True, recovery_point=600)
    assert scans == ["scan"]
    assert log.notices
    log.close()


def test_it_is_read_when_nobody_holds_it(tmp_path: Path, scans: list[str]) -> None:
    log = open_log(tmp_path, clean=True)
    append(log, b"x", timestamps=[1])
    log.close()
    log = open_log(tmp_path, clean=True, recovery_point=1)
    known = learn(log.segments[-1])
    log.close()
    del scans[:]
    open_log(tmp_path, clean=True, recovery_point=1).close()
    assert scans == []
    del known
    open_log(tmp_path, clean=True, recovery_point=1).close()
    assert scans == ["scan"]
