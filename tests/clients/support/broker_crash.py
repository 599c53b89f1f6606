"""How a broker ends that nobody stopped: killed with records on their way, half a batch left over.

A kill alone tears nothing, for what a process wrote the system keeps; so that is done by hand.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from odradek.wire.batch import batches

from tests.clients.support.filled_directory import QUIET, Content, Filled

confluent = pytest.importorskip("confluent_kafka")


def write_until_killed(address: str, kill: Callable[[], None], filled: Filled) -> None:
    """Have an idempotent producer write, and kill the broker with records on their way."""
    producer = confluent.Producer(
        {**QUIET, "bootstrap.servers": address, "enable.idempotence": True,
         "linger.ms": 1, "batch.num.messages": 20, "compression.type": "lz4"}
    )  # fmt: skip
    seen = 0

    def delivered(content: Content, error: Any, message: Any) -> None:
        nonlocal seen
        if error is None:
            seen += 1
            filled.acknowledged["codecs", 1, message.offset()] = content, None

    for number in itertools.count():
        content: Content = (None, b"%d" % number * 50, ())
        producer.produce("codecs", content[1], None, 1,
                         lambda e, m, c=content: delivered(c, e, m))  # fmt: skip
        producer.poll(0)
        if seen >= 2_000:
            break
        if number > seen + 3_000:
            producer.poll(0.05)
    kill()
    producer.purge()
    producer.flush(1.0)


def tear(directory: Path) -> None:
    """Leave half a batch at the end of each partition's newest segment, as a crash may."""
    for partition in ("codecs-0", "transacted-0", "compacted-0"):
        for log in sorted(directory.glob(f"{partition}/*.log"))[-1:]:
            content = log.read_bytes()
            found = list(batches(content))
            if found:
                position, header = found[-1]
                torn = bytearray(content[position : position + header.size])
                torn[:8] = (header.last_offset + 1).to_bytes(8, "big")
                with log.open("ab") as file:
                    file.write(torn[: len(torn) * 2 // 3])
