"""Kafka's own Java classes for messages and record batches, asked from Python.

    with JavaWire("4.3.1") as java:
        filled = java.fill("FetchRequest", version=12, seed=3)
        java.read("FetchRequest", 12, filled.plain).again == filled.plain

The rules:

- Three small Java files beside this one are compiled against the archives of that version, once
  (java_process.py).
- One Java process serves one JavaWire. Commands and answers are lines of JSON (JavaWire.java says
  which); it ends when its standard input does, so it never outlives this process.
- Whatever is missing (a JDK, Maven, a network) is `Unavailable`; what Kafka's classes refuse is
  `Refused`, with what Java said.
"""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from ..jars import classpath, jars, java
from ..java_process import compiled

SOURCES = ("JavaWire.java", "Filler.java", "Batches.java")
STOP_TIMEOUT_S = 10.0
JVM = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]

# Records moved into this package in Kafka 4.2; before, the line that imports it must go.
_RECORDS = "org.apache.kafka.common.record.internal"


class Refused(Exception):
    """Kafka's classes did not do it; the text is Java's."""


class Filled(NamedTuple):
    """A message made up by Java."""

    plain: bytes
    """Without unknown tagged fields."""
    tagged: bytes
    """The same message with some in every struct; equal to `plain` in versions without tags."""
    values: Any
    """Its fields, by Kafka's own conversion to JSON."""


class Read(NamedTuple):
    """What Java made of some bytes."""

    again: bytes
    """The same message, written by Java."""
    left: int
    """Bytes behind the message."""
    values: Any
    """Its fields, by Kafka's own conversion to JSON."""


class JavaRecord(NamedTuple):
    """A record of a batch; times in ms."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class JavaWire:
    """One Java process with the classes of one Kafka version. Raises Unavailable from `start`."""

    def __init__(self, version: str) -> None:
        self.version = version
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> JavaWire:
        """Compile what needs to be compiled, and start Java."""
        path = os.pathsep.join([str(_classes(self.version)), classpath(jars(self.version))])
        self._process = subprocess.Popen(
            [java(), *JVM, "-cp", path, "JavaWire"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        return self

    def close(self) -> None:
        """End the process; it has nothing to lose."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate(timeout=STOP_TIMEOUT_S)

    def __enter__(self) -> JavaWire:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def ask(self, **command: Any) -> dict[str, Any]:
        """Send one command and return its answer. Raises Refused, or EOFError if Java is gone."""
        process = self._process
        assert process is not None, "not started"
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(command) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise EOFError(f"Java ended with status {process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer

    def apis(self) -> dict[int, tuple[str, set[str]]]:
        """Every API: its key, its name, and the kinds of listeners that serve it."""
        answer = self.ask(do="apis")["apis"]
        return {api["key"]: (api["name"], set(api["listeners"])) for api in answer}

    def versions(self, name: str) -> range:
        """The versions that Kafka's class for this message has; none without such a class."""
        answer = self.ask(do="versions", name=name)
        return range(answer["first"], answer["last"] + 1) if answer else range(0)

    def fill(self, name: str, version: int, seed: int) -> Filled:
        """A message with every field of the version made up from the seed. 0 leaves nothing out."""
        answer = self.ask(do="fill", name=name, version=version, seed=seed)
        return Filled(b64decode(answer["plain"]), b64decode(answer["tagged"]), answer["values"])

    def read(self, name: str, version: int, data: bytes) -> Read:
        """Let Java read a message and write it again."""
        answer = self.ask(do="read", name=name, version=version, bytes=_text(data))
        return Read(b64decode(answer["again"]), answer["left"], answer["values"])

    def build(
        self,
        records: Sequence[JavaRecord],
        *,
        magic: int = 2,
        codec: str = "none",
        base_offset: int = 0,
        log_append_time: int = -1,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
        transactional: bool = False,
        leader_epoch: int = -1,
    ) -> bytes:
        """Let Java write a batch, or a message set of magic 0 or 1."""
        rows = [
            {
                "offset": record.offset,
                "timestamp": record.timestamp,
                "key": _text(record.key),
                "value": _text(record.value),
                "headers": [(name, _text(content)) for name, content in record.headers],
            }
            for record in records
        ]
        answer = self.ask(
            do="build",
            records=rows,
            magic=magic,
            codec=codec,
            base_offset=base_offset,
            log_append_time=log_append_time,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            transactional=transactional,
            leader_epoch=leader_epoch,
        )
        return b64decode(answer["bytes"])

    def batches(self, data: bytes) -> list[tuple[dict[str, Any], list[JavaRecord]]]:
        """Let Java check and read every batch: its header's fields, and its records."""
        found = self.ask(do="records", bytes=_text(data))["batches"]
        return [(batch, [_record(row) for row in batch.pop("records")]) for batch in found]

    def marker(self, **fields: Any) -> bytes:
        """Let Java write the batch that ends a transaction; Batches.java names the fields."""
        return b64decode(self.ask(do="marker", **fields)["bytes"])


def _record(row: dict[str, Any]) -> JavaRecord:
    headers = tuple((name, _bytes(content)) for name, content in row["headers"])
    key, value = _bytes(row["key"]), _bytes(row["value"])
    return JavaRecord(row["offset"], row["timestamp"], key, value, headers)


def _text(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


def _classes(version: str) -> Path:
    """The directory of the compiled classes for that Kafka version. Raises Unavailable."""
    archives = jars(version)
    here = Path(__file__).parent
    texts = {name: (here / name).read_text(encoding="utf-8") for name in SOURCES}
    if not _has_package(archives / f"kafka-clients-{version}.jar", _RECORDS):
        texts = {k: text.replace(f"import {_RECORDS}.*;\n", "") for k, text in texts.items()}
    return compiled("java-wire", version, texts)


def _has_package(archive: Path, package: str) -> bool:
    with zipfile.ZipFile(archive) as jar:
        prefix = package.replace(".", "/") + "/"
        return any(name.startswith(prefix) for name in jar.namelist())
