"""A data directory of our broker whose every byte is known, to be damaged and audited.

Topic `t`: segments 0, 5 and 10, up to offset 12 (tests/storage/support/known_log.py). Topic `tx`:
segments with committed and aborted transactions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from odradek import Emulator
from odradek.compat.spark.pipeline.audit.joining import Audit, Run, audit_directory, plan_audit
from odradek.emulator.metadata.topic_repair import known_topics
from odradek.storage import LogDirectory
from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Directory
from odradek.storage.log import Log
from odradek.storage.naming import KAFKA
from odradek.wire.batch import batches

from tests.storage.support.known_log import CONFIG, fill
from tests.storage.support.logs import append, end_transaction

NODE = 1
NOW = 1_700_000_000_000
CONFIG_OF_MORE = LogConfig(segment_bytes=1060, index_interval_bytes=170)


def run(
    task: Callable[[Any], Any], pieces: Sequence[Any], size: int | None = None
) -> Iterator[tuple[int, Any]]:
    """An engine that works right here, backwards: results come in any order."""
    for number in reversed(range(len(pieces))):
        yield number, task(pieces[number])


def audit(path: Path | str) -> Audit:
    return audit_by(path, run)


def audit_by(path: Path | str, engine: Run) -> Audit:
    """The audit of a place by an engine."""
    plan = plan_audit(str(path), 3_600_000)
    assert plan is not None
    return audit_directory(plan, engine)


def build(path: Path, more: Mapping[str, Callable[[Log], object]] | None = None) -> Path:
    """Fill a new data directory, and stop cleanly. `more`: what fills further topics; there is a
    group with commits then, too."""
    with Emulator(
        {"offsets.topic.num.partitions": "1"}, data_dir=path, topics=["t", "tx", *(more or ())]
    ) as kafka:
        for offset in (3, 4) if more else ():
            kafka.group("g").commit({("t", 0): offset})
    ids = known_topics(Directory(path), KAFKA, NODE)
    directory = LogDirectory.open(path, node_id=NODE)
    if more:
        directory.open_log("__consumer_offsets", 0, ids["__consumer_offsets"], LogConfig(), 0)
    fill(directory.open_log("t", 0, ids["t"], CONFIG, 0))
    transact(directory.open_log("tx", 0, ids["tx"], LogConfig(segment_bytes=1000), 0))
    for name, fill_it in (more or {}).items():
        fill_it(directory.open_log(name, 0, ids[name], CONFIG_OF_MORE, 0))
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


def stored(path: Path, *segments: Iterable[bytes | bytearray]) -> Path:
    """A partition's directory with these segments, and nothing beside them."""
    home = path / "orders-0"
    home.mkdir(parents=True)
    for each in segments:
        data = b"".join(each)
        base = next(batches(data))[1].base_offset
        (home / f"{base:020d}.log").write_bytes(data)
        (home / f"{base:020d}.index").touch()
        last = max((head.max_timestamp, -head.last_offset) for _, head in batches(data))
        time = struct.pack(">qi", last[0], -last[1] - base)
        (home / f"{base:020d}.timeindex").write_bytes(time)
    return home
