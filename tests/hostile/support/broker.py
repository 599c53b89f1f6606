"""A broker in a process of its own, which counts the work of its turns; and what it weighs."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Self

from tests.hostile.support.target import Target
from tests.support.processes import memory

ROOT = Path(__file__).parents[3]
START_S, ANSWER_S, STOP_S = 60.0, 120.0, 30.0
LOOK_EVERY_S = 0.005


class Broker:
    """`with Broker("--set", "a=b") as broker: connect(broker.address)`. Its temporary files are in
    a directory that goes with it, and so does what it says on standard error."""

    def __init__(self, *options: str, before: Callable[[], None] | None = None) -> None:
        """`before` is called in the new process before it becomes the broker."""
        self._options = options
        self._before = before
        self._process: subprocess.Popen[str] | None = None
        self._work = tempfile.TemporaryDirectory(prefix="odradek-hostile-")
        self.directory = Path(self._work.name)
        self.address = ""

    def __enter__(self) -> Self:
        with (self.directory / "log").open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.hostile.support.counted", *self._options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=ROOT,
                env={**os.environ, "TMPDIR": self._work.name},
                text=True,
                preexec_fn=self._before,
            )
        line = self._line(START_S)
        found = re.search(r"ready at (\S+)", line)
        if found is None:
            self.stop()
            raise RuntimeError(f"the broker did not start: {line!r}\n{self.log}")
        self.address = found[1]
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._work.cleanup()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def target(self) -> Target:
        """What an attack is called with."""
        return Target(self.address, self.pid)

    @property
    def log(self) -> str:
        """What it has said on standard error."""
        return (self.directory / "log").read_text(errors="replace")

    def most_work(self) -> int:
        """The most work of a turn since this was last asked."""
        stdin = self._pipe("stdin")
        stdin.write("\n")
        stdin.flush()
        most: int = json.loads(self._line(ANSWER_S))["most"]
        return most

    def stop(self) -> int:
        """End it by SIGTERM, or for good if that does not: its exit status, 0 after a clean end."""
        process = self._process
        assert process is not None
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
        self._pipe("stdin").close()
        self._pipe("stdout").close()
        return process.wait()

    def _pipe(self, name: str) -> IO[str]:
        pipe: Any = getattr(self._process, name)
        assert pipe is not None
        found: IO[str] = pipe
        return found

    def _line(self, timeout_s: float) -> str:
        stdout = self._pipe("stdout")
        if not select.select([stdout], [], [], timeout_s)[0]:
            raise TimeoutError(f"the broker said nothing for {timeout_s:.0f} s\n{self.log}")
        return stdout.readline()


class Weight:
    """The most memory that a process had while this ran: what no file stands for, if the system
    tells it apart."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.before = self.most = _weight(pid)

    @property
    def growth(self) -> int:
        """Bytes above what it had when this was made."""
        return self.most - self.before

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.most = max(self.most, _weight(self._pid))

    def _watch(self) -> None:
        while not self._over.wait(LOOK_EVERY_S):
            self.most = max(self.most, _weight(self._pid))


def _weight(pid: int) -> int:
    found = memory(pid)
    return found.resident if found.anonymous is None else found.anonymous
