"""Stage: one application in one situation, and everything that is known of it afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from odradek import Emulator

from tests.situations.apps.app import (
    TOPIC,
    Apps,
    ClientRaised,
    ConsumerApp,
    NoOutcome,
    ProducerApp,
)

LIMIT_S = 30.0
"""So long is waited for an application, from the situation on."""
MOST_RAISED = 20


@dataclass
class Sent:
    """One record that an application has sent."""

    value: bytes
    seconds: float
    raised: ClientRaised | None = None
    is_settled: bool = True
    """Whether the application was told what became of it."""


@dataclass
class Story:
    """What an application did, and what it was told."""

    sent: list[Sent] = field(default_factory=list)
    raised: list[ClientRaised] = field(default_factory=list)
    """Other than of one record, in this order."""
    read: list[bytes] = field(default_factory=list)
    seconds: float = 0.0
    """From the situation until all was well, or the time was over."""


class Stage:
    """A broker, the applications of a client, and what happens."""

    def __init__(self, kafka: Emulator, apps: Apps) -> None:
        self.kafka = kafka
        self.apps = apps
        self.story = Story()
        self.expected: list[bytes] = []
        """What a consumer should have read."""

    @property
    def bootstrap(self) -> str:
        return self.kafka.bootstrap_servers

    def send(self, producer: ProducerApp, value: bytes, limit_s: float = LIMIT_S) -> bool:
        """Have one record sent; return whether it was acknowledged."""
        begin = time.monotonic()
        sent = Sent(value, 0.0)
        try:
            producer.send(value, limit_s)
        except ClientRaised as error:
            sent.raised = error
        except NoOutcome:
            sent.is_settled = False
        sent.seconds = time.monotonic() - begin
        self.story.sent.append(sent)
        return sent.raised is None and sent.is_settled

    def tries(self, step: Callable[[], object], where: str) -> bool:
        """Have the application do something; return whether nothing was raised."""
        try:
            step()
        except ClientRaised as error:
            self.story.raised.append(error)
        except NoOutcome:
            self.story.raised.append(ClientRaised(f"nothing within {LIMIT_S:.0f} s", where))
        else:
            return True
        return False

    def has_read_all(self) -> bool:
        return set(self.expected) <= set(self.story.read)

    def consume(
        self,
        consumer: ConsumerApp,
        begins: Callable[[], object] | None = None,
        *,
        after_batches: int = 0,
        work_s: float = 0.0,
    ) -> None:
        """Read and commit, batch by batch; after so many batches the situation begins, between the
        batch and its commit. Without `begins` it has begun."""
        batches, begun = 0, time.monotonic() if begins is None else None
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end and len(self.story.raised) < MOST_RAISED:
            found: list[bytes] = []
            self.tries(lambda: found.extend(consumer.poll(1.0)), "poll()")  # noqa: B023
            if not found:
                if begun is not None and self.has_read_all():
                    break
                continue
            self.story.read += found
            batches += 1
            if begins is not None and batches == after_batches:
                begins()
                begun = time.monotonic()
                end = begun + LIMIT_S
            if work_s and batches == max(1, after_batches):
                time.sleep(work_s)
            self.tries(lambda: consumer.commit(LIMIT_S), "commit()")
            if begun is not None and self.has_read_all():
                break
        self.story.seconds = time.monotonic() - (begun or end)

    def log(self) -> list[bytes]:
        """What readers of committed records find in the topic."""
        return [each or b"" for each in self.kafka.topic(TOPIC).values()]

    def skipped(self) -> int:
        """How many records the group has gone past without having read them."""
        read = set(self.story.read)
        offsets = self.kafka.group("billing").offsets()
        return sum(
            each.value not in read and each.offset < offsets.get((TOPIC, each.partition), 0)
            for each in self.kafka.topic(TOPIC).records()
        )
