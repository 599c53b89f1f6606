"""A data directory of our broker whose every byte is known, to be damaged and audited.

Topic `t`: segments 0, 5 and 10, up to offset 12 (tests/storage/support/known_log.py). Topic `tx`:
segments with committed and aborted transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from odradek.compat.spark.pipeline.audit.joining import Audit, Run, audit_directory
from odradek.compat.spark.pipeline.audit.plan import plan_audit
from odradek.emulator import Emulator
from odradek.emulator.metadata.topic_repair import known_topics
from odradek.storage import LogDirectory
from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Directory
from odradek.storage.log import Log
from odradek.storage.naming import KAFKA

from tests.storage.support.known_log import CONFIG, fill
from tests.storage.support.logs import append, end_transaction

NODE = 1


def run(
    task: Callable[[Any], Any], pieces: Sequence[Any], size: int | None = None
) -> Iterator[tuple[int, Any]]:
    """An engine that works right here, backwards: results come in any order."""
    for number in reversed(range(len(pieces))):
        yield number, task(pieces[number])


def audit(path: Path | str) -> Audit:
    """The audit of a place."""
    return audit_by(path, run)


def audit_by(path: Path | str, engine: Run) -> Audit:
    """The audit of a place by an engine."""
    plan = plan_audit(str(path), 3_600_000)
    assert plan is not None
    return audit_directory(plan, engine)


def build(path: Path) -> Path:
    """Fill a new data directory, and stop cleanly."""
    with Emulator(data_dir=path, topics={"t": 1, "tx": 1}):
        pass
    ids = known_topics(Directory(path), KAFKA, NODE)
    directory = LogDirectory.open(path, node_id=NODE)
    fill(directory.open_log("t", 0, ids["t"], CONFIG, 0))
    transact(directory.open_log("tx", 0, ids["tx"], LogConfig(segment_bytes=1000), 0))
    directory.close()
    return path


def transact(log: Log) -> None:
    """Producers 1 and 2 in turn, transactions that overlap; every third aborts."""
    sequences = {1: 0, 2: 0}
    for number in range(12):
        producer_id = number % 2 + 1
        append(
            *(log, b"%d" % number, bytes(60)),
            producer_id=producer_id,
            sequence=sequences[producer_id],
            transactional=True,
        )
        sequences[producer_id] += 2
        if number:
            end_transaction(log, 3 - producer_id, commit=number % 3 > 0)
