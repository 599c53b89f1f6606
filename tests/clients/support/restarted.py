"""Three brokers that are restarted in turn."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from odradek import Emulator

CONFIG = {
    "default.replication.factor": "3",
    "group.initial.rebalance.delay.ms": "0",
    # Members of groups of the new protocol hear of a change by their heartbeat.
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "500",
}
BETWEEN_S, AWAY_S = 5.0, 0.3


def restarted_in_turn() -> Iterator[Emulator]:
    """They run, and one after the other is restarted, until this generator goes on."""
    over = threading.Event()

    def restart(kafka: Emulator) -> None:
        while True:
            for broker in kafka.brokers:
                if over.wait(BETWEEN_S):
                    return
                broker.stop()
                if over.wait(AWAY_S):
                    return
                broker.start()

    with Emulator(CONFIG, brokers=3) as kafka:
        thread = threading.Thread(target=restart, args=(kafka,))
        thread.start()
        try:
            yield kafka
        finally:
            over.set()
            thread.join()
