"""Kafka's own Java client, controlled from Python.

    with JavaClients("4.3.1") as java:
        producer = java.producer({"bootstrap.servers": address})
        producer.do("send", topic="orders", records=[...])

One JVM holds any number of producers, consumers and admins; each has a thread of its own there, so
several threads here may use several of them at once. JavaClient.java lists the verbs. What the
client throws is raised as `JavaError`, with the name of its class.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import Any

from ..process import JavaProcess

ANSWER_TIMEOUT_S = 90.0


class JavaError(Exception):
    """An exception of the Java client: `kind` is the class, as in "ProducerFencedException"."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind


class JavaThing:
    """A producer, consumer or admin in the JVM."""

    def __init__(self, clients: JavaClients, name: str) -> None:
        self._clients = clients
        self.name = name

    def do(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Carry out a verb. Raises JavaError, TimeoutError, EOFError."""
        return self._clients.tell(self.name, verb, **arguments)

    def close(self, ms: int = 10_000) -> None:
        """Close it; a consumer leaves its group."""
        self.do("close", ms=ms)


class JavaClients(JavaProcess):
    """A JVM with the clients of one Kafka version. Raises Unavailable from `start`."""

    def __init__(self, version: str) -> None:
        super().__init__(version, "JavaClient", Path(__file__).parent)
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._writing = threading.Lock()

    def start(self) -> JavaClients:
        super().start()
        assert self._process is not None
        threading.Thread(target=self._read, args=(self._process,), daemon=True).start()
        return self

    def producer(self, config: Mapping[str, Any]) -> JavaThing:
        """Make a producer. Configs by Kafka's names; values are converted to text."""
        return self._make("producer", config)

    def consumer(self, config: Mapping[str, Any]) -> JavaThing:
        return self._make("consumer", config)

    def admin(self, config: Mapping[str, Any]) -> JavaThing:
        return self._make("admin", config)

    def tell(self, name: str, verb: str, **arguments: Any) -> dict[str, Any]:
        """Send a command and wait for its answer, while other threads do the same."""
        process = self._process
        assert process is not None, "not started"
        assert process.stdin is not None
        number = next(self._numbers)
        answer: Future[dict[str, Any]] = Future()
        command = {"id": number, "on": name, "do": verb, **arguments}
        with self._writing:
            self._waiting[number] = answer
            process.stdin.write(json.dumps(command).encode() + b"\n")
            process.stdin.flush()
        try:
            found = answer.result(ANSWER_TIMEOUT_S)
        except FutureTimeoutError:
            raise TimeoutError(f"{verb} of {name} took {ANSWER_TIMEOUT_S:.0f} s") from None
        finally:
            self._waiting.pop(number, None)
        if "error" in found:
            raise JavaError(found["error"], found["message"])
        return found

    def _make(self, kind: str, config: Mapping[str, Any]) -> JavaThing:
        thing = JavaThing(self, f"{kind}-{next(self._numbers)}")
        thing.do(kind, config={key: str(value) for key, value in config.items()})
        return thing

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answer: dict[str, Any] = json.loads(line)
            waiting = self._waiting.get(answer["id"])
            if waiting is not None:
                waiting.set_result(answer)
        for waiting in list(self._waiting.values()):
            waiting.set_exception(EOFError("Java ended"))
