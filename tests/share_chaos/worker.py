"""A share consumer of confluent-kafka: `python -m tests.share_chaos.worker FILE SETTINGS`.

It works until its standard input ends, and then leaves the group. FILE gets what it was told, line
by line, before it goes on, so that a kill loses nothing of it:

    got PARTITION OFFSET DELIVERY       a record was delivered to the application
    asked PARTITION OFFSET TYPE         the acknowledgement is about to be sent
    done PARTITION OFFSET TYPE          the broker has taken it
    refused PARTITION OFFSET TYPE       the broker has not: somebody else has the record by now
    unknown PARTITION OFFSET TYPE       the client cannot tell
    failed TEXT                         another error

ShareWorker.java is the same with Kafka's client.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO

POISON_EACH = 50
"""Which records are poison: those whose number is a multiple of this."""
_NAPS, _NAP_S = 0.2, 0.3


class Worker:
    """One share consumer, with explicit acknowledgement."""

    def __init__(self, file: TextIO, settings: dict[str, Any]) -> None:
        import confluent_kafka

        self._file = file
        self._random = random.Random(settings["seed"])
        self._calm: bool = settings["calm"]
        self._types = confluent_kafka.AcknowledgeType
        self._consumer = confluent_kafka.ShareConsumer(
            {
                "bootstrap.servers": settings["bootstrap"],
                "group.id": settings["group"],
                "share.acknowledgement.mode": "explicit",
                "log_level": 0,
            }
        )
        self._consumer.set_acknowledgement_commit_callback(self._acknowledged)
        self._consumer.subscribe([settings["topic"]])
        self._asked: dict[tuple[int, int], str] = {}
        self._is_over = threading.Event()

    def run(self) -> None:
        threading.Thread(target=self._await_end, daemon=True).start()
        while not self._is_over.is_set():
            try:
                self._round()
            except Exception as error:
                self._file.write(f"failed {error!r}\n")
                self._is_over.wait(0.2)
        self._consumer.close()

    def _await_end(self) -> None:
        sys.stdin.read()
        self._is_over.set()

    def _round(self) -> None:
        messages = [each for each in self._consumer.poll(0.3) if each.error() is None]
        self._file.writelines(
            f"got {each.partition()} {each.offset()} {each.delivery_count()}\n" for each in messages
        )
        if not self._calm and messages and self._random.random() < _NAPS:
            time.sleep(self._random.random() * _NAP_S)
        lines = []
        for each in messages:
            kind = self._kind(int(each.value()))
            self._asked[each.partition(), each.offset()] = kind
            lines.append(f"asked {each.partition()} {each.offset()} {kind}\n")
            self._consumer.acknowledge(each, getattr(self._types, kind))
        self._file.write("".join(lines))
        if messages:
            self._consumer.commit_sync(10.0)

    def _kind(self, number: int) -> str:
        if number % POISON_EACH == 0:
            return "RELEASE"
        drawn = 1.0 if self._calm else self._random.random()
        return "RELEASE" if drawn < 0.1 else "REJECT" if drawn < 0.15 else "ACCEPT"

    def _acknowledged(self, offsets: dict[Any, set[int]], error: Any) -> None:
        word = "done"
        if error is not None:
            name = error.args[0].name()
            word = "refused" if name == "INVALID_RECORD_STATE" else "unknown"
            self._file.write(f"failed {name}\n")
        for place, numbers in offsets.items():
            for offset in numbers:
                kind = self._asked.get((place.partition, offset))
                self._file.write(f"{word} {place.partition} {offset} {kind}\n")


if __name__ == "__main__":
    with Path(sys.argv[1]).open("w", buffering=1, encoding="utf-8") as file:
        Worker(file, json.loads(sys.argv[2])).run()
