"""Three brokers that are restarted in turn."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Protocol

from odradek import Emulator
from odradek.compat.real_kafka import RealCluster

CONFIG = {
    "default.replication.factor": "3",
    "group.initial.rebalance.delay.ms": "0",
    # Members of groups of the new protocol hear of a change by their heartbeat.
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "500",
}
# A real broker is away for seconds, in which topics of three replicas cannot be created.
REAL_CONFIG = {**CONFIG, "default.replication.factor": "2"}
BETWEEN_S, AWAY_S = 5.0, 0.3


class Restarted(Protocol):
    def start(self) -> object:
        """Come back at the same address."""

    def stop(self) -> None:
        """Take leave, and end."""


def restarted_in_turn(kind: str = "odradek") -> Iterator[str]:
    """The address of brokers of Odradek, or of a real Kafka ("real"), that run and are restarted
    one after the other, until this generator goes on. Raises Unavailable."""
    over = threading.Event()

    def restart(brokers: Sequence[Restarted]) -> None:
        while True:
            for broker in brokers:
                if over.wait(BETWEEN_S):
                    return
                broker.stop()
                if over.wait(AWAY_S):
                    return
                broker.start()

    with (
        RealCluster(config=REAL_CONFIG) if kind == "real" else Emulator(CONFIG, brokers=3) as kafka
    ):
        brokers = kafka.brokers if isinstance(kafka, Emulator) else kafka.nodes.values()
        thread = threading.Thread(target=restart, args=(list(brokers),))
        thread.start()
        try:
            yield kafka.bootstrap_servers
        finally:
            over.set()
            thread.join()
