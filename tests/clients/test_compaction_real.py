"""The same directories, compacted by a real Kafka and by us: the same bytes come out.

Logs are written here: plain, idempotent and transactional batches of few keys, tombstones, records
without keys, all codecs, both kinds of timestamps. A real broker compacts them, then we compact a
copy as of the moment when it did, which a delete horizon gives away. Then more is written, and both
do it again: now with horizons, emptied batches and markers of emptied transactions there.
"""

from __future__ import annotations

import random
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek.compat.real_kafka import RealKafka
from odradek.storage.checkpoints import CLEANED_OFFSETS, read_offsets, read_partition_metadata
from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Directory
from odradek.storage.log import Log
from odradek.wire.batch import batches, read_header
from odradek.wire.records import build_batch, end_transaction_batch, read_records

from tests.requests.topics import create_topics, new_topic
from tests.support.connection import BrokerAt

pytestmark = [pytest.mark.real, pytest.mark.slow]

DUMP = "org.apache.kafka.tools.DumpLogSegments"
SEEDS = 5
"""Each is a partition of both topics."""
RETENTIONS_MS = {"soon": 1, "later": 86_400_000, "full": 86_400_000}
"""The topics, and what their tombstones wait for. Of "full" there is one partition, with more keys
than the map takes."""
SEGMENT_BYTES = {"soon": 3000, "later": 3000, "full": 100_000}
BUFFER_BYTES = (1 << 20) + 24  # the least that Kafka takes is just below
KEYS_MAX = int(BUFFER_BYTES // 24 * 0.9)
BROKER = {
    "log.cleaner.backoff.ms": "100",
    "log.retention.check.interval.ms": "3600000",
    "log.cleaner.dedupe.buffer.size": str(BUFFER_BYTES),
}


class Writer:
    """Appends what a seed says to a log, as several producers would."""

    def __init__(self, log: Log, seed: int, now_ms: int) -> None:
        self.log = log
        self.choose = random.Random(seed)
        self.now_ms = now_ms
        self.sequences = {
            pid: (state.last_sequence + 1, state.epoch)
            for pid, state in log.producers.states.items()
        }
        self.open = {pid for pid, s in log.producers.states.items() if s.txn_first_offset >= 0}

    def write(self, count: int) -> None:
        for _ in range(count):
            kind = self.choose.random()
            if kind < 0.35:
                self.batch(-1, transactional=False)
            elif kind < 0.5:
                self.batch(self.choose.randint(1, 3), transactional=False)
            elif kind < 0.85:
                self.batch(self.choose.randint(11, 14), transactional=True)
            elif self.open:
                self.end(self.choose.choice(sorted(self.open)), self.choose.random() < 0.5)
        for producer_id in sorted(self.open)[self.choose.randint(0, 2) :]:
            self.end(producer_id, self.choose.random() < 0.5)

    def write_keys(self, keys: int) -> None:
        """Two records of each key."""
        for first in (*range(0, keys, 100), *range(0, keys, 100), 0):
            batch = build_batch(
                [(self.now_ms, b"%d" % key, b"v", ()) for key in range(first, first + 100)],
                base_offset=self.log.log_end_offset,
                leader_epoch=0,
            )
            self.log.append(batch, read_header(batch), self.now_ms)
        self.log.begin_segment(self.now_ms)
        self.batch(-1, transactional=False)

    def batch(self, producer_id: int, *, transactional: bool) -> None:
        choose = self.choose
        sequence, epoch = self.sequences.get(producer_id, (0, 0))
        count = choose.randint(1, 6)
        stamped = choose.choice([None, None, None, self.now_ms])
        batch = build_batch(
            [self.record() for _ in range(count)],
            base_offset=self.log.log_end_offset,
            leader_epoch=0,
            codec=choose.choice([0, 0, 0, 1, 2, 3, 4]),
            producer_id=producer_id,
            producer_epoch=epoch if producer_id >= 0 else -1,
            base_sequence=sequence if producer_id >= 0 else -1,
            transactional=transactional,
            log_append_time=stamped,
        )
        self.log.append(batch, read_header(batch), self.now_ms)
        if producer_id >= 0:
            self.sequences[producer_id] = sequence + count, epoch
        if transactional:
            self.open.add(producer_id)

    def record(self) -> tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]:
        choose = self.choose
        self.now_ms += choose.randint(-3, 5)
        key = None if choose.random() < 0.05 else b"key %d" % choose.randrange(40)
        value = None if choose.random() < 0.15 else choose.randbytes(choose.choice([0, 5, 90]))
        headers: list[tuple[str, bytes | None]] = [("h", None)] if choose.random() < 0.1 else []
        if key and choose.random() < 0.1:
            key *= 20
        return self.now_ms, key, value, headers

    def end(self, producer_id: int, commit: bool) -> None:
        sequence, epoch = self.sequences[producer_id]
        if self.choose.random() < 0.5:  # as with transaction version 2
            sequence, epoch = 0, epoch + 1
        marker = end_transaction_batch(
            commit,
            base_offset=self.log.log_end_offset,
            timestamp=self.now_ms,
            producer_id=producer_id,
            producer_epoch=epoch,
            coordinator_epoch=0,
            leader_epoch=0,
        )
        self.log.append(marker, read_header(marker), self.now_ms)
        self.sequences[producer_id] = sequence, epoch
        self.open.discard(producer_id)


class Pair:
    def __init__(self, theirs: Path, ours: Path) -> None:
        topic, _, partition = theirs.name.rpartition("-")
        self.key = topic, int(partition)
        self.theirs, self.ours = theirs, ours
        self.topic_id = read_partition_metadata((theirs / "partition.metadata").read_bytes())
        self.config = LogConfig(
            segment_bytes=SEGMENT_BYTES[topic],
            cleanup_policy=frozenset({"compact"}),
            delete_retention_ms=RETENTIONS_MS[topic],
            min_cleanable_dirty_ratio=0.0,
        )

    def open(self) -> Log:
        return Log.open(
            *(Directory(self.ours.parent), *self.key),
            topic_id=self.topic_id,
            config=self.config,
            now_ms=0,
            clean=False,
        )

    def write(self, count: int, *, fresh: bool) -> None:
        """Write to a copy of what they have, and give them that."""
        shutil.rmtree(self.ours, ignore_errors=True)
        if not fresh:
            kept = shutil.ignore_patterns("*.deleted", "*index")
            shutil.copytree(self.theirs, self.ours, ignore=kept)
        log = self.open()
        writer = Writer(log, sum(self.key[0].encode()) + self.key[1], int(time.time() * 1000))
        if self.key[0] == "full":
            writer.write_keys(KEYS_MAX * 3 // 2 if fresh else 30)
        else:
            writer.write(count)
        log.close()
        self.expected = log.compactor.plan(0).end
        assert len(log.segments) > 4 or not fresh
        shutil.rmtree(self.theirs)
        shutil.copytree(self.ours, self.theirs)
        for path in self.theirs.iterdir():
            if path.suffix == ".deleted":
                path.unlink()

    def compact(self, cleaned: int | None) -> None:
        """Compact ours as of the moment when they did theirs."""
        log = self.open()
        log.compactor.cleaned_offset = cleaned
        horizons = [
            header.base_timestamp - self.config.delete_retention_ms
            for path in sorted(self.theirs.glob("*.log"))
            for _, header in batches(path.read_bytes())
            if header.has_delete_horizon
        ]
        now_ms = max(horizons, default=0)
        rounds = [log.compactor.compact(now_ms, buffer_bytes=BUFFER_BYTES).first_dirty_offset]
        while log.compactor.cleaned_offset != self.expected:
            rounds.append(
                log.compactor.compact(now_ms, buffer_bytes=BUFFER_BYTES).first_dirty_offset
            )
        assert rounds == sorted(set(rounds))
        if self.key[0] == "full" and cleaned is None:
            assert len(rounds) > 2
        log.close()
        assert log.compactor.cleaned_offset == self.expected

    def compare(self) -> None:
        ours, theirs = (
            {path.name: path.read_bytes() for path in where.iterdir() if not _is_left(path.name)}
            for where in (self.ours, self.theirs)
        )
        assert sorted(ours) == sorted(theirs)
        for name, content in theirs.items():
            where = f"{self.theirs.name}/{name}"
            if name.endswith(".log"):
                assert shown(ours[name]) == shown(content), where
            elif name.endswith("index"):
                # Codecs of other libraries give other sizes, and so other entries.
                same = len(ours[name.partition(".")[0] + ".log"]) == len(
                    theirs[name.partition(".")[0] + ".log"]
                )
                if same or name.endswith(".txnindex"):
                    assert ours[name] == content, where


def _is_left(name: str) -> bool:
    """What says nothing of a compaction: other files, and what is about to go."""
    return re.fullmatch(r"\d{20}\.(log|index|timeindex|txnindex|snapshot)", name) is None


def shown(content: bytes) -> list[object]:
    """Batches byte by byte, compressed ones by what is in them."""
    found: list[object] = []
    for at, header in batches(content):
        if header.codec:
            found.append((header._replace(crc=0, batch_length=0), read_records(content, at)))
        else:
            found.append((header, content[at : at + header.size]))
    return found


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[RealKafka]:
    with RealKafka(config=BROKER, data_dir=tmp_path / "kafka") as kafka:
        yield kafka


def partitions(topic: str) -> int:
    return 1 if topic == "full" else SEEDS


def create(kafka: RealKafka) -> None:
    topics = []
    for topic, retention_ms in RETENTIONS_MS.items():
        configs = {
            "cleanup.policy": "compact",
            "internal.segment.bytes": str(SEGMENT_BYTES[topic]),
            "delete.retention.ms": str(retention_ms),
            "min.cleanable.dirty.ratio": "0",
        }
        topics.append(new_topic(topic, partitions(topic), configs))
    create_topics(BrokerAt(kafka.bootstrap_servers), *topics)


def cleaned_offsets(kafka: RealKafka) -> dict[tuple[str, int], int]:
    path = kafka.data_dir / CLEANED_OFFSETS
    return read_offsets(path.read_bytes(), path.name)


def wait_until_cleaned(kafka: RealKafka, pairs: list[Pair]) -> None:
    wanted = {pair.key: pair.expected for pair in pairs}
    for _ in range(300):
        found = cleaned_offsets(kafka)
        if all(found.get(key) == offset for key, offset in wanted.items()):
            return
        time.sleep(0.1)
    pytest.fail(f"not cleaned: {wanted} {cleaned_offsets(kafka)}\n{kafka.log[-3000:]}")


@pytest.mark.long
def test_both_leave_the_same_bytes(kafka: RealKafka, tmp_path: Path) -> None:
    create(kafka)
    kafka.stop()
    folders = [kafka.data_dir / f"{t}-{n}" for t in RETENTIONS_MS for n in range(partitions(t))]
    pairs = [Pair(folder, tmp_path / "ours" / folder.name) for folder in folders]
    for fresh in (True, False, False):
        before = cleaned_offsets(kafka)
        for pair in pairs:
            pair.write(120, fresh=fresh)
        for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
            (kafka.data_dir / name).unlink()
        (kafka.data_dir / ".kafka_cleanshutdown").unlink()
        kafka.start()
        wait_until_cleaned(kafka, pairs)
        kafka.stop()
        for pair in pairs:
            pair.compact(before.get(pair.key))
            pair.compare()
    files = [str(path) for pair in pairs for path in sorted(pair.ours.iterdir())]
    names = ",".join(name for name in files if not _is_left(Path(name).name))
    done = kafka.tool(DUMP, "--deep-iteration", "--files", names)
    assert done.returncode == 0
    assert "isvalid: false" not in done.stdout
    assert re.search("mismatch|out of order|exception", done.stderr, re.I) is None
