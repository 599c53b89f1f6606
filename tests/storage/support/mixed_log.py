"""A log with batches of every kind, for what Kafka itself says of it."""

from __future__ import annotations

import random
from pathlib import Path

from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Directory
from odradek.storage.log import Log

from tests.storage.support.logs import TOPIC_ID, append, end_transaction, home

NOW_MS = 1_700_000_000_000
BATCHES = 1500


def write_mixed(path: Path, topic_id: bytes = TOPIC_ID) -> Path:
    """A log of several segments with plain, idempotent and transactional batches of all sizes."""
    choose = random.Random(1)
    config = LogConfig(segment_bytes=100_000)
    log = Log.open(
        Directory(path), "t", 0, topic_id=topic_id, config=config, now_ms=NOW_MS, clean=False
    )
    sequence, now_ms = 0, NOW_MS
    for _ in range(BATCHES):
        kind = choose.random()
        now_ms += choose.randint(-50, 60)
        if kind < 0.5:
            values = [choose.randbytes(choose.randint(0, 300)) for _ in range(choose.randint(1, 4))]
            append(log, *values, timestamps=[now_ms + choose.randint(-30, 30) for _ in values])
        elif kind < 0.9:
            transaction = {"producer_id": 1, "sequence": sequence, "transactional": True}
            append(log, b"t", timestamps=[now_ms], **transaction)  # type: ignore[arg-type]
            sequence += 1
        else:
            end_transaction(log, 1, commit=choose.random() < 0.5)
    assert len(log.segments) > 3
    log.close()
    return home(path)
