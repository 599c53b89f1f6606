"""WordCount.java in a process of its own."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path
from typing import Any

from odradek.compat.clients import wait_until
from odradek.compat.java.jars import classpath, java, resolve
from odradek.compat.java.process import JVM, QUIET, compiled
from odradek.compat.real_kafka import VERSION

SOURCE = Path(__file__).with_name("WordCount.java")
STATE_S, CLOSE_S = 90.0, 60.0
CONFIG: dict[str, Any] = {
    "application.id": "word-count",
    "processing.guarantee": "exactly_once_v2",
    "replication.factor": 3,
    "commit.interval.ms": 100,
    "statestore.cache.max.bytes": 0,  # each count is written, not only the last of an interval
    "auto.offset.reset": "earliest",
    "producer.transaction.timeout.ms": 10_000,
    "main.consumer.session.timeout.ms": 6000,
    "main.consumer.heartbeat.interval.ms": 500,
}


def archives() -> Path:
    """Those of Kafka Streams. Raises Unavailable."""
    wanted = [f"org.apache.kafka:kafka-streams:{VERSION}", "org.slf4j:slf4j-simple:1.7.36"]
    return resolve(f"kafka-streams-{VERSION}", wanted)


class WordCount:
    """One instance of the application."""

    def __init__(self, bootstrap: str, directory: Path) -> None:
        """`directory`: for its state; each instance has one of its own."""
        found = archives()
        texts = {SOURCE.name: SOURCE.read_text("utf-8")}
        classes = compiled("wordcount", VERSION, texts, found)
        config = {**CONFIG, "bootstrap.servers": bootstrap, "state.dir": directory}
        self.said: list[str] = []
        self._process = subprocess.Popen(
            [
                *(java(), *JVM, QUIET, "-cp", os.pathsep.join([str(classes), classpath(found)])),
                *("WordCount", *(f"{name}={value}" for name, value in config.items())),
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

    def close(self) -> None:
        """Let it leave its group in good order."""
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
