"""Kafka's own Java classes for messages and record batches, asked from Python.

    with JavaWire("4.3.1") as java:
        filled = java.fill("FetchRequest", version=12, seed=3)
        java.read("FetchRequest", 12, filled.plain).again == filled.plain

The rules:

- One Java process (java/process.py) serves one JavaWire; JavaWire.java lists its commands.
- What Kafka's classes refuse is `Refused`, with what Java said.
"""

from __future__ import annotations

import zipfile
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..jars import jars
from ..process import ANSWER_TIMEOUT_S, JavaProcess, from_base64, to_base64

# Records moved into this package in Kafka 4.2; for older versions its import is removed.
_RECORDS = "org.apache.kafka.common.record.internal"


class Refused(Exception):
    """Kafka's classes did not do it; the text is Java's."""


class Filled(NamedTuple):
    plain: bytes
    """Without unknown tagged fields."""
    tagged: bytes
    """With unknown tagged fields in every struct; equal to `plain` in versions without tags."""
    values: Any
    """Its fields, by Kafka's own conversion to JSON."""


class Read(NamedTuple):
    again: bytes
    """The same message, written by Java."""
    left: int
    """Bytes left after the message."""
    values: Any
    """Its fields, by Kafka's own conversion to JSON."""


class JavaRecord(NamedTuple):
    """A record of a batch; times in ms."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class JavaWire(JavaProcess):
    """One Java process with the classes of one Kafka version. Raises Unavailable from `start`."""

    def __init__(self, version: str) -> None:
        super().__init__(version, "JavaWire", Path(__file__).parent)

    def texts(self) -> dict[str, str]:
        """The sources, without an import of what this version does not have."""
        texts = super().texts()
        if _has_package(jars(self.version) / f"kafka-clients-{self.version}.jar", _RECORDS):
            return texts
        return {k: text.replace(f"import {_RECORDS}.*;\n", "") for k, text in texts.items()}

    def ask(self, timeout: float = ANSWER_TIMEOUT_S, **command: Any) -> dict[str, Any]:
        """Send one command and return its answer. Raises Refused; EOFError, TimeoutError."""
        answer = super().ask(timeout, **command)
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
        """A message with values drawn from the seed; with seed 0 nothing is null or empty."""
        answer = self.ask(do="fill", name=name, version=version, seed=seed)
        return Filled(b64decode(answer["plain"]), b64decode(answer["tagged"]), answer["values"])

    def read(self, name: str, version: int, data: bytes) -> Read:
        """Let Java read a message and write it again."""
        answer = self.ask(do="read", name=name, version=version, bytes=to_base64(data))
        return Read(b64decode(answer["again"]), answer["left"], answer["values"])

    def refuse(self, api_key: int, version: int, request: bytes, code: int) -> bytes | None:
        """The response by which Kafka refuses all of a request, None where there is none."""
        found = self.ask(
            do="refuse", api=api_key, version=version, bytes=to_base64(request), code=code
        )
        return from_base64(found.get("bytes"))

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
                "key": to_base64(record.key),
                "value": to_base64(record.value),
                "headers": [(name, to_base64(content)) for name, content in record.headers],
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
        found = self.ask(do="records", bytes=to_base64(data))["batches"]
        return [(batch, [_record(row) for row in batch.pop("records")]) for batch in found]

    def marker(self, **fields: Any) -> bytes:
        """Let Java write the batch that ends a transaction; Batches.java names the fields."""
        return b64decode(self.ask(do="marker", **fields)["bytes"])


def _record(row: dict[str, Any]) -> JavaRecord:
    headers = tuple((name, from_base64(content)) for name, content in row["headers"])
    key, value = from_base64(row["key"]), from_base64(row["value"])
    return JavaRecord(row["offset"], row["timestamp"], key, value, headers)


def _has_package(archive: Path, package: str) -> bool:
    with zipfile.ZipFile(archive) as jar:
        prefix = package.replace(".", "/") + "/"
        return any(name.startswith(prefix) for name in jar.namelist())
