"""Pipe: what a loop needs of a client, and how a client's errors are told apart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from odradek import Emulator

SOURCE, TARGET, GROUP, NAME = "orders", "receipts", "billing", "billing-1"
BATCH = 3
POLL_S = 0.1
SESSION_MS = 6000
STEP_S = 10.0
"""How long a step may take before the pipe is made anew."""


class Failed(Exception):
    """A step has failed: the transaction is to be aborted."""


class Broken(Exception):
    """A step has failed for good: the pipe is to be made anew, as a process that is restarted."""


class Batch(NamedTuple):
    """What was read."""

    values: list[bytes]
    positions: dict[int, int]
    """Behind what was read, by partition."""


class Pipe(ABC):
    """A consumer and a producer. A step raises Failed or Broken."""

    def __init__(self, kafka: Emulator, *, transactional: bool, idempotent: bool) -> None:
        self.kafka = kafka
        self.transactional = transactional
        self.idempotent = idempotent

    @classmethod
    def prepare(cls, kafka: Emulator) -> None:
        """What is done once, before the first of them starts."""
        return

    @abstractmethod
    def start(self) -> None:
        """Connect, end what an earlier one of the same name has left open, and subscribe."""

    @abstractmethod
    def poll(self) -> Batch | None:
        """The next records, if any come soon."""

    @abstractmethod
    def begin(self) -> None:
        """Begin a transaction."""

    @abstractmethod
    def send(self, values: list[bytes]) -> None:
        """Send records; without a transaction, wait until they are acknowledged."""

    @abstractmethod
    def send_offsets(self, positions: dict[int, int]) -> None:
        """Commit positions in the transaction."""

    @abstractmethod
    def commit(self) -> None:
        """Commit the transaction."""

    @abstractmethod
    def abort(self) -> None:
        """Abort it."""

    @abstractmethod
    def commit_offsets(self, positions: dict[int, int]) -> None:
        """Commit positions by the consumer."""

    @abstractmethod
    def rewind(self) -> None:
        """Read again from what is committed."""

    @abstractmethod
    def stop(self) -> None:
        """Close both."""

    @abstractmethod
    def drop(self) -> None:
        """Let go of both, whatever state they are in. Raises nothing."""
