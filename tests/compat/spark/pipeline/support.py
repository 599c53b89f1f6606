"""What is written to the topic `orders`: a bit of everything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import confluent_kafka
from odradek import Emulator

TIME = 1_700_000_000_000


@dataclass(frozen=True)
class Filled:
    """A running broker and its data directory, which both have the same records."""

    kafka: Emulator
    directory: Path

    @property
    def address(self) -> str:
        return self.kafka.bootstrap_servers

    @property
    def topic(self) -> str:
        return f"{self.address}/orders"

    @property
    def path(self) -> str:
        """The place of the topic in the directory."""
        return f"{self.directory}/orders"


def fill(kafka: Emulator) -> None:
    """300 plain records in `orders`, then records of a committed and of an aborted transaction."""
    plain = confluent_kafka.Producer({**kafka.client_config("confluent"), "linger.ms": 1})
    for number in range(300):
        key = None if number % 7 == 0 else b"k%d" % (number % 50)
        value = None if number % 11 == 0 else bytes([number % 256]) * (number % 90)
        headers = [("n", str(number).encode()), ("n", None), ("é", b"\xff")] if number % 3 else None
        plain.produce("orders", value, key, number % 3, timestamp=TIME + number, headers=headers)
        if number % 20 == 0:
            plain.flush()
    assert plain.flush(30) == 0
    sure = confluent_kafka.Producer({**kafka.client_config("confluent"), "transactional.id": "t"})
    sure.init_transactions()
    for number, end in enumerate((sure.commit_transaction, sure.abort_transaction)):
        sure.begin_transaction()
        for partition in range(3):
            sure.produce(
                "orders", b"in %d" % number, b"t", partition, timestamp=TIME + 900 + number
            )
        assert sure.flush(30) == 0
        end()
