"""The broker is killed again and again under an application that reads, transforms and writes in
transactions: every result is there once, and in order."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from odradek.compat import Client, NewRecord
from odradek.compat import client as client_named

from tests.clients.support.broker_process import Served
from tests.clients.support.transactional_apps import POLL_S, TRANSFORMERS, Confluent, Transformer

pytestmark = [pytest.mark.client, pytest.mark.slow]

KILLS = int(os.environ.get("ODRADEK_KILLS", "0"))
"""How often the broker is killed; 0 for a few times, under two of the clients."""
# kafka-python may lose its AddPartitionsToTxn with the connection, and then never send a record.
APPLICATIONS = ("aiokafka", "confluent-kafka", "java") if KILLS else ("confluent-kafka", "java")
VALUES = [b"value-%d" % number for number in range(20_000)]
RESULTS = [value.upper() for value in VALUES]
TIMEOUT_S = 60.0 + 20.0 * KILLS
CONFIGS = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
}


class Killer:
    """Kills the broker at random moments; each time it has come back, it waits for work."""

    def __init__(self, served: Served, kills: int, seed: int) -> None:
        self.ended = 0  # transactions
        self.left = kills
        self._served = served
        self._random = random.Random(seed)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def join(self) -> None:
        self._thread.join(TIMEOUT_S)
        assert not self._thread.is_alive()
        assert self.left == 0

    def _run(self) -> None:
        while self.left:
            before = self.ended
            while self.ended < before + 5:
                time.sleep(0.01)
            time.sleep(self._random.uniform(0, 0.2))
            self._served.kill()
            self._served.start()
            self.left -= 1


class Steady(Confluent):
    """Reads on as long as it commits: librdkafka takes half a second to read from a new place."""

    position: int | None = None

    def take(self, count: int) -> tuple[list[bytes], int]:
        if self.position is None:
            return super().take(count)
        messages: list[Any] = []
        end = time.monotonic() + TIMEOUT_S
        while len(messages) < count and time.monotonic() < end:
            messages += self.consumer.consume(count - len(messages), POLL_S)
        assert len(messages) == count
        assert messages[0].offset() == self.position
        return [message.value() for message in messages], messages[-1].offset() + 1

    def write(self, values: list[bytes], position: int) -> None:
        super().write(values, position)
        self.position = position

    def end(self, commit: bool) -> None:
        super().end(commit)
        if not commit:
            self.position = None


def transformer(client: str) -> type[Transformer]:
    if client == "confluent-kafka":
        return Steady
    if client != "java":
        return TRANSFORMERS[client]
    from tests.clients.support.java_transactional_app import JavaTransformer

    return JavaTransformer


class Successors:
    """One instance of an application after another under one transactional id, until the broker has
    been killed often enough. `least`: so many records have been taken over at least."""

    def __init__(self, kind: type[Transformer], bootstrap: str) -> None:
        self.least = 0
        self.errors: list[str] = []
        self._kind, self._bootstrap = kind, bootstrap
        self._current: Transformer | None = None
        self._random = random.Random(8)

    def run(self, killer: Killer) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while killer.left:
            assert time.monotonic() < deadline, self.errors
            try:
                self.one(self._random.random() < 0.8)
                killer.ended += 1
            except AssertionError:
                raise
            except Exception as error:  # whatever it is, the next instance takes over
                self.errors.append(repr(error))
                self.close()

    def one(self, commit: bool) -> None:
        """One transaction."""
        if self._current is None:
            names = "transformer", "group", "source", "target"
            self._current = self._kind(self._bootstrap, *names)
        values, position = self._current.take(self._random.randint(1, 5))
        self._current.write([value.upper() for value in values], position)
        self._current.end(commit)
        if commit:
            self.least = position

    def close(self) -> None:
        current, self._current = self._current, None
        if current is not None:
            current.close()


@pytest.mark.parametrize("name", APPLICATIONS)
def test_every_result_is_there_once(name: str, tmp_path: Path) -> None:
    client = client_named(name)
    with Served(tmp_path / "data", CONFIGS) as served:
        bootstrap = served.bootstrap_servers
        prepare(client, bootstrap)
        application = Successors(transformer(name), bootstrap)
        killer = Killer(served, KILLS or 4, 8)
        application.run(killer)
        killer.join()
        application.one(commit=True)
        application.close()
        found = client.consume(bootstrap, "target", isolation="read_committed")
        results = [record.value for record in found]
        assert len(results) >= application.least > killer.ended / 2
        assert results == RESULTS[: len(results)]
        assert client.committed(bootstrap, "group", "source") == {0: len(results)}


def prepare(client: Client, bootstrap: str) -> None:
    for topic in ("source", "target"):
        client.create_topic(bootstrap, topic)
    client.produce(bootstrap, "source", [NewRecord(value) for value in VALUES], partition=0)
