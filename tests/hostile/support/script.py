"""Scripts that run in a process of their own, because they fork, are killed, or might hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

SCRIPT_S = 30.0


def run(text: str, directory: Path | None = None) -> str:
    """What a script prints; its temporary files are made in the directory. Raises AssertionError if
    it fails."""
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        timeout=SCRIPT_S,
        env=environment(directory),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def started(*command: str, directory: Path) -> subprocess.Popen[str]:
    """A Python command that runs until it is ended, once it has printed a line."""
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(directory),
        preexec_fn=hang_up_ends_it,
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def hang_up_ends_it() -> None:
    """SIGHUP as a terminal's programs have it: whoever runs the tests may be ignoring it."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def environment(directory: Path | None) -> dict[str, str]:
    """That of this process, with another place for temporary files."""
    return {**os.environ, "TMPDIR": str(directory)} if directory else {**os.environ}
