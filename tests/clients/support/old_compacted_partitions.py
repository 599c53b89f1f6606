"""Compacted partitions with messages of magic 0 and 1 in them: written, and compacted by us.

Each has a seed. A real Kafka cleans it while it runs; then we compact a copy as of that moment,
which a delete horizon gives away, and both must have the same left. The newest message that may be
cleaned has a key and a value: where it loses everything Kafka's cleaner gives the partition up.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

from odradek.compat.clients import wait_until
from odradek.storage.checkpoints import CLEANED_OFFSETS, read_offsets, read_partition_metadata
from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Directory
from odradek.storage.log import Log
from odradek.wire.legacy.as_batches import logged_batches, read_logged
from odradek.wire.legacy.message_sets import build_message, build_set
from odradek.wire.records import build_batch

from tests.support.old_segments import T
from tests.support.placed_segments import place

SEEDS = 5
NAMES = [f"keyed-{seed}" for seed in range(SEEDS)]
SEGMENT_BYTES = 600
RETENTION_MS = 3_600_000
LONG_AGO_S = 1_700_000_000
CONFIGS = {
    "cleanup.policy": "compact",
    "delete.retention.ms": str(RETENTION_MS),
    "min.cleanable.dirty.ratio": "0",
}


def configs_of(version: str) -> dict[str, str]:
    """Those of such a topic. Since 4.0 only a back door lets segments be so small."""
    name = "segment.bytes" if version.startswith("3.") else "internal.segment.bytes"
    return {**CONFIGS, name: str(SEGMENT_BYTES)}


class Keyed:
    """One partition below a data directory."""

    def __init__(self, seed: int) -> None:
        self.topic = NAMES[seed]
        self.end = 0
        self.newest = 0
        """The base of the segment that is not cleaned."""
        self._choose = random.Random(seed)

    def write(self, path: Path, count: int) -> None:
        """Add segments, all but the last written long ago, and remove all indexes."""
        home = path / f"{self.topic}-0"
        for each in [*home.glob("*index"), *home.glob("*.deleted"), *home.glob("*.snapshot")]:
            each.unlink()
        active = max(home.glob("*.log"), default=None)
        if active is not None and not active.stat().st_size:
            active.unlink()
        for _ in range(count):
            self.newest = self.end
            place(path, self.topic, {self.newest: self._segment()})
        step = self._choose.choice([100, RETENTION_MS // 1000, 2 * RETENTION_MS // 1000])
        for number, log in enumerate(sorted(home.glob("*.log"))):
            if number < 2:
                os.utime(log, (LONG_AGO_S + number * step,) * 2)

    def _segment(self) -> bytes:
        parts = [self._entry() for _ in range(self._choose.randint(0, 6))]
        last = build_message((self._next(), T, b"last", b"v"), self._choose.choice([0, 1]))
        return b"".join([*parts, last])

    def _entry(self) -> bytes:
        choose, magic = self._choose, self._choose.choice([0, 1])
        kind = choose.random()
        if kind < 0.4:
            return build_message(self._message(), magic, 8 * (magic and choose.random() < 0.3))
        if kind < 0.85:
            messages = [self._message() for _ in range(choose.randint(1, 5))]
            append_time = T + 77 if choose.random() < 0.3 else None
            codec = choose.choice([1, 2, 3])
            return build_set(messages, magic, codec=codec, log_append_time=append_time)
        key = b"key %d" % choose.randrange(14)
        records = [(T + choose.randint(0, 9), key, b"v", ()) for _ in range(choose.randint(1, 4))]
        base, self.end = self.end, self.end + len(records)
        codec = choose.choice([0, 1])
        return bytes(build_batch(records, base_offset=base, codec=codec, leader_epoch=0))

    def _message(self) -> tuple[int, int, bytes | None, bytes | None]:
        choose = self._choose
        key = None if choose.random() < 0.08 else b"key %d" % choose.randrange(14)
        value = None if choose.random() < 0.25 else choose.randbytes(choose.choice([0, 3, 40]))
        time_ms = T + choose.randint(-500, 500)
        offset = self._next()
        self.end += choose.choice([0, 0, 0, 2])
        return offset, time_ms, key, value

    def _next(self) -> int:
        self.end += 1
        return self.end - 1

    def compact(self, ours: Path, theirs: Path, cleaned: int | None, version: str) -> None:
        """Do in `ours` what Kafka has done in `theirs`."""
        horizons = [
            header.base_timestamp - RETENTION_MS
            for log in (theirs / f"{self.topic}-0").glob("*.log")
            for _, header in logged_batches(log.read_bytes())
            if header.has_delete_horizon
        ]
        metadata = (ours / f"{self.topic}-0" / "partition.metadata").read_bytes()
        config = LogConfig(
            segment_bytes=SEGMENT_BYTES,
            cleanup_policy=frozenset({"compact"}),
            delete_retention_ms=RETENTION_MS,
            min_cleanable_dirty_ratio=0.0,
            keeps_old_formats=version.startswith("3."),
        )
        log = Log.open(
            *(Directory(ours), self.topic, 0),
            topic_id=read_partition_metadata(metadata),
            config=config,
            now_ms=int(time.time() * 1000),
            clean=False,
        )
        log.compactor.cleaned_offset = cleaned
        log.compactor.compact(max(horizons, default=T))
        log.close()
        assert log.compactor.cleaned_offset == self.newest
        assert log.notices == []


def await_cleaner(path: Path, keyed: list[Keyed]) -> None:
    """Wait until Kafka has cleaned all that it may."""

    def is_done() -> bool:
        file = path / CLEANED_OFFSETS
        found = read_offsets(file.read_bytes(), file.name)
        return all(found.get((one.topic, 0)) == one.newest for one in keyed)

    wait_until(is_done, "the cleaner has cleaned")


def left(path: Path) -> dict[str, Any]:
    """What is in the segments: entries byte by byte, compressed ones by what is in them."""
    found: dict[str, Any] = {}
    for topic in NAMES:
        for log in sorted((path / f"{topic}-0").glob("*.log")):
            data = log.read_bytes()
            found[f"{topic}/{log.name}"] = [
                (header._replace(crc=0, batch_length=0), read_logged(data, at))
                if header.codec
                else data[at : at + header.size]
                for at, header in logged_batches(data)
            ]
    return found
