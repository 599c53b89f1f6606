"""What the applications have in common: a producer that waits for each acknowledgement, and a
consumer that reads small batches and commits after each.

What a client raises is `ClientRaised`: the name that its documentation has for it, and where the
application got it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

TOPIC = "orders"
GROUP = "billing"
TRANSACTIONAL_ID = "payments"
BATCH = 2
"""Records that a consumer is given at once."""

DEFAULT, PLAIN, IDEMPOTENT, TRANSACTIONAL = (
    *("default", "acks=all, not idempotent", "idempotent", "transactional"),
)
"""Kinds of producers."""


class ClientRaised(Exception):
    """A client has raised something, or told it to a callback."""

    def __init__(self, name: str, where: str) -> None:
        super().__init__(f"{name} to {where}")
        self.name = name
        self.where = where


class NoOutcome(Exception):
    """The time was over, and the application was told nothing: the client still tries."""


class ProducerApp(ABC):
    @abstractmethod
    def send(self, value: bytes, seconds: float) -> None:
        """Send one record, and wait until it is acknowledged. Raises ClientRaised, NoOutcome."""

    @abstractmethod
    def begin(self) -> None:
        """Begin a transaction. Raises ClientRaised."""

    @abstractmethod
    def commit(self, seconds: float) -> None:
        """Commit it. Raises ClientRaised, NoOutcome."""

    @abstractmethod
    def abort(self, seconds: float) -> None:
        """Abort it. Raises ClientRaised, NoOutcome."""

    @abstractmethod
    def close(self) -> None:
        """End it at once, whatever it still tries."""


class ConsumerApp(ABC):
    """One member of a group, which commits by hand."""

    @abstractmethod
    def poll(self, seconds: float) -> list[bytes]:
        """The next records, BATCH at most; none if there are none so soon. Raises ClientRaised,
        NoOutcome."""

    @abstractmethod
    def commit(self, seconds: float) -> None:
        """Commit what was read, and wait for the answer. Raises ClientRaised, NoOutcome."""

    @abstractmethod
    def close(self) -> None:
        """Close it."""


class Apps(ABC):
    name: str
    version: str

    @abstractmethod
    def producer(self, bootstrap: str, kind: str) -> ProducerApp:
        """Start a producer; a transactional one is ready to begin. Raises ClientRaised."""

    @abstractmethod
    def consumer(self, bootstrap: str) -> ConsumerApp:
        """Start a consumer of TOPIC in GROUP, from the beginning. Raises ClientRaised."""
