"""Inputs of the guided fuzzer, and what it does with a broken handler. Fuzzing itself needs more
time than a test has."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from odradek.emulator.base.logger import log
from odradek.emulator.handlers.registry import SERVED
from odradek.wire.api.describe_acls import DescribeAclsRequest

from tests.fuzz.events import Case
from tests.fuzz.seeds import Source
from tests.fuzz.support.broken import raises

pytest.importorskip("atheris", reason="unavailable: atheris")

from tests.fuzz.guided import CLIENT, Frames, Runner


@pytest.fixture
def frames() -> Frames:
    return Frames()


def seeds(frames: Frames, count: int) -> list[bytes]:
    source = Source(Random(1), frames.served)
    return [source.seed(source.worlds[0], next(source.every)).frame for _ in range(count)]


def test_an_input_stands_for_frames(frames: Frames) -> None:
    given = seeds(frames, 300)
    found = list(frames.frames_of(frames.input_of(given)))
    read = [frames.request_of(frame) for frame in found]
    assert read == [frames.request_of(frame) for frame in given]
    assert all(CLIENT.encode() in frame for frame in found)


@pytest.mark.parametrize("data", [b"", b"abc", b"\0\0\xff\xffrest", bytes(100), b"\xff" * 50])
def test_whatever_the_bytes_are_they_are_frames_or_none(frames: Frames, data: bytes) -> None:
    assert len(list(frames.frames_of(data))) == (1 if 4 <= len(data) <= 50 else len(data) // 4)


def test_what_fails_is_kept_once(
    frames: Frames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "handlers", [])
    runner = Runner(frames, tmp_path)
    for frame in seeds(frames, 300):
        runner(frames.input_of([frame]))
    assert runner.found == set()
    monkeypatch.setattr(SERVED[DescribeAclsRequest.api_key], "handler", raises)
    for frame in seeds(frames, 300):
        runner(frames.input_of([frame]))
    (place,) = runner.found
    assert "broken.py" in place
    (path,) = tmp_path.iterdir()
    case = Case.load(path)
    (asked,) = case.events[-1].pieces
    assert int.from_bytes(asked[4:6], "big") == DescribeAclsRequest.api_key
