"""Clients of other languages with the common verbs: a program for each language, in its folder.

A program is set up once from its registry (../applications/install.py) and answers a line of JSON
for each; go/main.go says which verbs there are. One process of it serves all verbs of a client but
those of consumers, which have a process each.

Positions do not move over markers of transactions here. So the end that `consume` reads to is that
of the records which a reader at this isolation level is given, as `wire_client` reads them.
"""

from __future__ import annotations

import atexit
import copy
import json
import os
import select
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Self

from ..applications.application import asked_version
from ..applications.install import install
from ..java.process import from_base64, to_base64
from ..unavailable import Unavailable
from ..wire_client.reading import partition_count, read
from ..wire_client.remote import RemoteCluster
from .time_limits import TIMEOUT_S
from .verbs import (
    HEARTBEAT_MS,
    SESSION_TIMEOUT_MS,
    Acks,
    Client,
    Codec,
    Consumer,
    Isolation,
    NewRecord,
    Record,
)

_ANSWER_S = 2 * TIMEOUT_S  # the program's own limit is shorter, and says more


class Library(NamedTuple):
    """One client: whose program it is in, and what it has."""

    language: str
    package: str
    protocols: tuple[str, ...] = ("classic",)
    lacks: tuple[str, ...] = ()
    """What it has not: "idempotence", "transactions", "oauthbearer"."""
    sends_null_header_values: bool = True
    keeps_empty: bool = True


LIBRARIES = {
    "confluent-kafka-go": Library(
        "go", "github.com/confluentinc/confluent-kafka-go/v2", ("classic", "consumer")
    ),
    "franz-go": Library("go", "github.com/twmb/franz-go", ("classic", "consumer")),
    "kafka-go": Library(
        "go",
        "github.com/segmentio/kafka-go",
        lacks=("idempotence", "transactions", "oauthbearer"),
        sends_null_header_values=False,
        keeps_empty=False,
    ),
    "kafkajs": Library("node", "kafkajs", sends_null_header_values=False),
    "rdkafka": Library("rust", "rdkafka", ("classic", "consumer")),
    "sarama": Library("go", "github.com/IBM/sarama"),
}
_COMMANDS = {
    "go": ["{program}"],
    "node": ["{node}", "{home}/app.js"],
    "rust": ["{program}"],
}
_SETTINGS = {  # librdkafka's names of what is needed to log in
    "security.protocol": "protocol",
    "sasl.mechanism": "mechanism",
    "sasl.username": "user",
    "sasl.password": "password",
    "ssl.ca.pem": "ca",
    "ssl.certificate.pem": "certificate",
    "ssl.key.pem": "key",
}


class ProgramError(Exception):
    """What a program says that went wrong, in its library's words."""


class _Sources(NamedTuple):
    """A program, as it is set up."""

    name: str
    folder: Path
    language: str
    archives: list[str]


@cache
def _command(language: str) -> list[str]:
    """Sets the program up. Raises Unavailable."""
    folder = Path(__file__).parent / language
    words = install(_Sources(f"client-{language}", folder, language, []))
    return [each.format(**words) for each in _COMMANDS[language]]


class _Process:
    """A program that runs for one library."""

    def __init__(self, name: str) -> None:
        command = [*_command(LIBRARIES[name].language), name]
        self._name, self._lock = name, Lock()
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self.close)

    def ask(self, verb: str, **words: Any) -> dict[str, Any]:
        """Its answer. Raises ProgramError, TimeoutError, EOFError."""
        with self._lock:
            stdin, stdout = self._process.stdin, self._process.stdout
            assert stdin is not None
            assert stdout is not None
            stdin.write(json.dumps({"do": verb, **words}).encode() + b"\n")
            stdin.flush()
            if not select.select([stdout], [], [], _ANSWER_S)[0]:
                self.close()
                raise TimeoutError(f"{self._name}: {verb} has no answer in {_ANSWER_S:.0f} s")
            line = stdout.readline()
        if not line:
            raise EOFError(f"{self._name} ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ProgramError(f"{self._name}: {verb}: {answer['error']}")
        return answer

    @property
    def has_ended(self) -> bool:
        """Whether it runs no more."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Kill it; it has nothing to save."""
        atexit.unregister(self.close)
        self._process.kill()
        self._process.wait()


_shared: dict[tuple[str, int], _Process] = {}


def _process_of(name: str) -> _Process:
    """The process of a library for all verbs but a consumer's: one in each of ours, and another
    where it has ended."""
    key = name, os.getpid()
    if key not in _shared or _shared[key].has_ended:
        _shared[key] = _Process(name)
    return _shared[key]


class ProgramConsumer(Consumer):
    """A consumer in a process of its own."""

    def __init__(self, name: str, asked: Mapping[str, Any]) -> None:
        self._process = _Process(name)
        self._process.ask("consumer", **asked)

    def poll(self, seconds: float, max_records: int = 500) -> list[Record]:
        rows = self._process.ask("poll", ms=int(seconds * 1000), max=max_records)["records"]
        return [_record(row) for row in rows]

    def positions(self) -> dict[int, int]:
        return _offsets(self._process.ask("positions"))

    def commit(self) -> None:
        self._process.ask("commit")

    def close(self) -> None:
        with closing(self._process):
            self._process.ask("close")


class Program(Client):
    """The adapter; see Client for the verbs."""

    def __init__(self, name: str) -> None:
        """`name`: one of LIBRARIES. Raises Unavailable."""
        self._library = LIBRARIES[name]
        _command(self._library.language)  # or say at once why there is none
        self.name = name  # type: ignore[misc]
        self.protocols = self._library.protocols  # type: ignore[misc]
        self.sends_null_header_values = self._library.sends_null_header_values  # type: ignore[misc]
        self.keeps_empty = self._library.keeps_empty  # type: ignore[misc]
        self._security: dict[str, str] = {}

    @property
    def version(self) -> str:
        return asked_version(self._library.package, Path(__file__).parent / self._library.language)

    def logging_in(self, settings: Mapping[str, Any], token: str = "") -> Self:
        """This client with these settings of librdkafka, or this token for OAUTHBEARER. Raises
        Unavailable if it has no such mechanism."""
        other = copy.copy(self)
        found = {ours: settings[name] for name, ours in _SETTINGS.items() if name in settings}
        if found.get("mechanism") == "OAUTHBEARER":
            self._needs("oauthbearer")
            found |= {"token": token, "user": settings["sasl.oauthbearer.config"].split("=")[1]}
        other._security = found
        return other

    def produce(
        self,
        bootstrap: str,
        topic: str,
        records: Iterable[NewRecord],
        *,
        acks: Acks = "all",
        compression: Codec | None = None,
        idempotent: bool = False,
        partition: int | None = None,
        transactional_id: str | None = None,
        abort: bool = False,
    ) -> list[tuple[int, int]]:
        if idempotent:
            self._needs("idempotence")
        if transactional_id is not None:
            self._needs("transactions")
        words = {
            "topic": topic,
            "records": [_row(record) for record in records],
            "acks": -1 if acks == "all" else acks,
            "compression": compression or "",
            "idempotent": idempotent,
            "partition": partition,
            "transactional_id": transactional_id or "",
            "abort": abort,
        }
        places = self._ask("produce", bootstrap, **words)["places"]
        return [(where, offset) for where, offset in places]

    def consumer(
        self,
        bootstrap: str,
        topic: str,
        *,
        group: str | None = None,
        from_beginning: bool = True,
        isolation: Isolation = "read_uncommitted",
    ) -> Consumer:
        words = {
            "topic": topic,
            "group": group or "",
            "protocol": self.protocol,
            "beginning": from_beginning,
            "committed": isolation == "read_committed",
            "session_ms": SESSION_TIMEOUT_MS,
            "heartbeat_ms": HEARTBEAT_MS,
        }
        return ProgramConsumer(self.name, {**self._at(bootstrap), **words})

    def committed(self, bootstrap: str, group: str, topic: str) -> dict[int, int]:
        return _offsets(self._ask("committed", bootstrap, group=group, topic=topic))

    def list_topics(self, bootstrap: str) -> set[str]:
        return set(self._ask("topics", bootstrap)["topics"])

    def partitions(self, bootstrap: str, topic: str) -> list[int]:
        return list(self._ask("partitions", bootstrap, topic=topic)["partitions"])

    def end_offsets(self, bootstrap: str, topic: str) -> dict[int, int]:
        return _offsets(self._ask("offsets", bootstrap, topic=topic, timestamp=-1))

    def offsets_for_time(
        self, bootstrap: str, topic: str, timestamp_ms: int
    ) -> dict[int, int | None]:
        found = _offsets(self._ask("offsets", bootstrap, topic=topic, timestamp=timestamp_ms))
        return {place: offset if offset >= 0 else None for place, offset in found.items()}

    def _create_topic(
        self, bootstrap: str, topic: str, partitions: int, configs: dict[str, str]
    ) -> None:
        words = {"topic": topic, "partitions": partitions, "configs": configs}
        self._ask("create_topic", bootstrap, **words)

    def _delete_topic(self, bootstrap: str, topic: str) -> None:
        self._ask("delete_topic", bootstrap, topic=topic)

    def _read_ends(self, bootstrap: str, topic: str, isolation: Isolation) -> dict[int, int]:
        with closing(RemoteCluster(bootstrap)) as source:
            found = read(source, topic, range(partition_count(source, topic)))
            return {
                number: records[-1].offset + 1 if (records := each.visible(isolation)) else 0
                for number, each in found.items()
            }

    def _ask(self, verb: str, bootstrap: str, **words: Any) -> dict[str, Any]:
        return _process_of(self.name).ask(verb, **self._at(bootstrap), **words)

    def _at(self, bootstrap: str) -> dict[str, Any]:
        return {"bootstrap": bootstrap, "security": self._security}

    def _needs(self, what: str) -> None:
        if what in self._library.lacks:
            raise Unavailable(f"{self.name} {self.version} has no {what}.")


def _offsets(answer: Mapping[str, Any]) -> dict[int, int]:
    return {int(partition): offset for partition, offset in answer["offsets"].items()}


def _row(record: NewRecord) -> dict[str, Any]:
    return {
        "timestamp": record.timestamp,
        "key": to_base64(record.key),
        "value": to_base64(record.value),
        "headers": [{"name": name, "value": to_base64(value)} for name, value in record.headers],
    }


def _record(row: Mapping[str, Any]) -> Record:
    headers = tuple((each["name"], from_base64(each["value"])) for each in row["headers"])
    key, value = from_base64(row["key"]), from_base64(row["value"])
    return Record(row["partition"], row["offset"], row["timestamp"], key, value, headers)
