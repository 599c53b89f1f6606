"""`odradek serve` as a user runs it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

SERVE = [sys.executable, "-m", "odradek.emulator.cli", "serve"]


def serve(*options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*SERVE, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_line_when_ready_and_a_clean_stop(number: signal.Signals, tmp_path: Path) -> None:
    process = serve("--port", "0", "--topic", "orders:3", "--data-dir", str(tmp_path / "data"))
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.match(r"odradek ready at 127\.0\.0\.1:(\d+)", line)
    assert found, line
    socket.create_connection(("127.0.0.1", int(found[1])), timeout=5).close()
    process.send_signal(number)
    rest, errors = process.communicate(timeout=10)
    assert (process.returncode, rest, errors) == (0, "", "")
    assert (tmp_path / "data" / ".kafka_cleanshutdown").exists()


@pytest.mark.parametrize(
    ("options", "status", "named"),
    [
        (["--set", "no.such.config=1"], 2, "no.such.config"),
        (["--set", "num.partitions=many"], 2, "num.partitions"),
        (["--set", "num.partitions"], 2, "CONFIG=VALUE"),
        (["--topic", "orders:none"], 2, "none"),
        (["--topic", "no/slash"], 2, "no/slash"),
        (["--port", "99999"], 2, "99999"),
        (["--advertised", "nowhere"], 2, "nowhere"),
        (["--advertised", "nowhere:0"], 2, "nowhere:0"),
        (["--host", "203.0.113.1"], 1, "203.0.113.1"),
        (["--data-dir", "/dev/null"], 1, "/dev/null"),
        (["--topic", "a:1", "--topic", "a:5"], 2, "a is given two different values"),
        (["--set", "authorizer.class.name=x"], 2, "no authorizer"),
        (["--feature", "group.version"], 2, "group.version"),
        (["--feature", "nonsense=1"], 2, "Unknown feature: nonsense"),
    ],
)
def test_what_is_wrong_is_named(options: list[str], status: int, named: str) -> None:
    process = serve("--port", "0", *options)
    output, errors = process.communicate(timeout=20)
    assert process.returncode == status
    assert output == ""
    assert named in errors
    assert "Traceback" not in errors


def test_with_standard_output_closed_it_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    command = " ".join([*SERVE, "--port", "0", ">&-"])
    done = subprocess.run(
        command,
        timeout=30,
        shell=True,
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 1
    assert "nobody reads the standard output" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_version() -> None:
    done = subprocess.run([*SERVE[:-1], "--version"], capture_output=True, text=True)
    assert re.fullmatch(r"odradek \d+\.\d+\.\d+\n", done.stdout)
