"""An application of Kafka Streams, a Java class beside this file, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from odradek.compat.clients import wait_until
from odradek.compat.java.jars import classpath, java, resolve
from odradek.compat.java.process import JVM, QUIET, compiled
from odradek.compat.real_kafka import VERSION

STATE_S, ANSWER_S, CLOSE_S = 90.0, 30.0, 60.0


def archives() -> Path:
    """Those of Kafka Streams. Raises Unavailable."""
    wanted = [f"org.apache.kafka:kafka-streams:{VERSION}", "org.slf4j:slf4j-simple:1.7.36"]
    return resolve(f"kafka-streams-{VERSION}", wanted)


class Application:
    """One instance of an application, which reads its configs from its arguments."""

    def __init__(
        self, name: str, bootstrap: str, directory: Path, config: Mapping[str, Any]
    ) -> None:
        """`name`: of the class; `directory`: for its state, of each instance its own."""
        found = archives()
        source = Path(__file__).with_name(f"{name}.java")
        classes = compiled(name.lower(), VERSION, {source.name: source.read_text("utf-8")}, found)
        settings = {**config, "bootstrap.servers": bootstrap, "state.dir": directory}
        self.said: list[str] = []
        self._process = subprocess.Popen(
            [
                *(java(), *JVM, QUIET, "-cp", os.pathsep.join([str(classes), classpath(found)])),
                *(name, *(f"{each}={value}" for each, value in settings.items())),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said.append(line.strip())

    def await_running(self) -> None:
        """Wait until its partitions are assigned, and their stores restored."""
        wait_until(lambda: "state RUNNING" in self.said, f"it runs: {self.said}", STATE_S)

    def ask(self, *words: str) -> list[str]:
        """The words of its answer to a line of its input."""
        assert self._process.stdin is not None
        before = len(self.said)
        self._process.stdin.write(" ".join(words) + "\n")
        self._process.stdin.flush()

        def answers() -> list[str]:
            return [each for each in self.said[before:] if not each.startswith(("state", "error"))]

        wait_until(lambda: bool(answers()), f"an answer to {words}: {self.said}", ANSWER_S)
        return answers()[0].split()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(CLOSE_S) == 0
        self._reader.join()
        assert "closed" in self.said, self.said

    def kill(self) -> None:
        """End it at once, if it runs."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
