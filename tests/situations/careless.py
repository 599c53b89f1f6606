"""Applications without a client, which make the mistakes that the table is about: so that it is
known that they are seen."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.requests.committed_offsets import commit_all
from tests.requests.fetch import fetch
from tests.requests.produce import batch, produce
from tests.situations.apps.app import BATCH, GROUP, TOPIC, Apps, ConsumerApp, ProducerApp
from tests.support.connection import Connection
from tests.support.consumer import delivered

OnLoss = Callable[[Callable[[], None]], None]


def forgets(again: Callable[[], None]) -> None:
    """A request whose answer is lost was done, it is said."""


def repeats(again: Callable[[], None]) -> None:
    """It is sent again, though it may have been carried out."""
    again()


class Producer(ProducerApp):
    """Sends over a connection of its own each time."""

    def __init__(self, bootstrap: str, on_loss: OnLoss) -> None:
        self._bootstrap = bootstrap
        self._on_loss = on_loss

    def send(self, value: bytes, seconds: float) -> None:
        def once() -> None:
            with Connection(self._bootstrap) as connection:
                produce(connection, batch(value, time=int(time.time() * 1000)), topic=TOPIC)

        try:
            once()
        except (EOFError, OSError):
            self._on_loss(once)

    def begin(self) -> None:
        """There are no transactions here."""

    def commit(self, seconds: float) -> None:
        """Nor here."""

    def abort(self, seconds: float) -> None:
        """Nor here."""

    def close(self) -> None:
        """Nothing is open."""


class Consumer(ConsumerApp):
    """Reads partition 0 without being a member, goes on by `step` after each batch, and commits
    that."""

    def __init__(self, bootstrap: str, step: int) -> None:
        self._connection = Connection(bootstrap)
        self._step = step
        self._at = 0

    def poll(self, seconds: float) -> list[bytes]:
        records = bytes(fetch(self._connection, self._at, topic=TOPIC).records or b"")
        found, _ = delivered(records, [], self._at)
        self._at += self._step if found else 0
        return [each or b"" for each in found[:BATCH]]

    def commit(self, seconds: float) -> None:
        self._connection.ask(commit_all((TOPIC, 0, self._at), group=GROUP), 8)

    def close(self) -> None:
        self._connection.__exit__(None, None, None)


class Careless(Apps):
    """These."""

    name = "careless"
    version = "0"

    def __init__(self, on_loss: OnLoss = repeats, step: int = BATCH) -> None:
        self._on_loss = on_loss
        self._step = step

    def producer(self, bootstrap: str, kind: str) -> ProducerApp:
        return Producer(bootstrap, self._on_loss)

    def consumer(self, bootstrap: str) -> ConsumerApp:
        return Consumer(bootstrap, self._step)
