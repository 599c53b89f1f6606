"""Whatever ends a broker, its temporary directory goes: at its end, or when the next one starts."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.hostile.support.script import environment, run, started

SERVE = ("-m", "odradek.compat.cli", "serve", "--port", "0")
WAIT = """
import time
from odradek.emulator import Emulator

with Emulator() as kafka:
    print(kafka.data_dir, flush=True)
    time.sleep(60)
"""
NEXT = "from odradek.emulator import Emulator; Emulator().start().stop()"
ENDS_S = 60.0


def left(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir() if path.name.startswith("odradek-"))


@contextmanager
def ended_by(number: int, *command: str, directory: Path) -> Iterator[None]:
    process = started(*command, directory=directory)
    try:
        assert len(left(directory)) == 1
        process.send_signal(number)
        process.wait(ENDS_S)
        yield
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_serve_removes_its_directory(tmp_path: Path, number: int) -> None:
    with ended_by(number, *SERVE, directory=tmp_path):
        assert left(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGKILL])
def test_what_is_left_goes_with_the_next_start(tmp_path: Path, number: int) -> None:
    with ended_by(number, "-c", WAIT, directory=tmp_path):
        run(NEXT, tmp_path)
        assert left(tmp_path) == []


def test_what_is_in_use_stays(tmp_path: Path) -> None:
    process = started("-c", WAIT, directory=tmp_path)
    try:
        (name,) = left(tmp_path)
        run(NEXT, tmp_path)
        assert left(tmp_path) == [name]
    finally:
        process.kill()
        process.communicate()


def test_under_nohup_a_terminal_may_close(tmp_path: Path) -> None:
    ignoring = "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
    ignoring += "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    process = started("-c", ignoring, *SERVE, directory=tmp_path)
    try:
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.terminate()
        assert process.wait(ENDS_S) == 0
    finally:
        process.kill()
        process.communicate()


def test_pytest_that_is_ended_leaves_it_to_the_next_start(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(
        "import os, signal\n"
        "def test_it(kafka):\n"
        "    print(kafka.data_dir)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    place = tmp_path / "place"
    place.mkdir()
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    done = subprocess.run(pytest_run, env=environment(place), cwd=tmp_path, capture_output=True)
    assert done.returncode == -signal.SIGTERM
    assert len(left(place)) == 1
    run(NEXT, place)
    assert left(place) == []
