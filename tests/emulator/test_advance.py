"""A clock that is moved far leaves out checks that would find nothing, and nothing else."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek import Emulator, ManualClock
from odradek.emulator.base.logger import log
from odradek.emulator.cluster import Cluster
from odradek.emulator.maintenance.log_manager import LogManager
from odradek.emulator.partitions.partition import Partition
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.committed_offsets import commit
from tests.requests.groups import stable
from tests.requests.produce import batch, produce
from tests.support.clock import NOW
from tests.support.cluster import client_of, open_cluster
from tests.support.transactional_producer import TxnClient

SECOND, MINUTE, HOUR = 1000, 60_000, 3_600_000
STEP_MS = 5 * SECOND
"""Less than any interval, so that every check is run every time."""
CONFIGS = {
    "offsets_topic_num_partitions": "3",
    "transaction_state_log_num_partitions": "2",
    "offsets_retention_minutes": "90",
    "producer_id_expiration_ms": str(40 * MINUTE),
    "transactional_id_expiration_ms": str(2 * HOUR),
    "metadata_log_max_snapshot_interval_ms": str(50 * MINUTE),
    "metadata_max_retention_ms": str(70 * MINUTE),
    "log_cleaner_backoff_ms": "15000",
}
Happening = tuple[int, str]


def filled(cluster: Cluster) -> None:
    """Something of everything that time ends."""
    client = client_of(cluster)
    cluster.create_topic("old", 2, {"retention.ms": str(HOUR), "segment.bytes": "1048576"})
    lags = {"min.compaction.lag.ms": str(30 * MINUTE), "max.compaction.lag.ms": str(2 * HOUR)}
    cluster.create_topic("table", 1, {"cleanup.policy": "compact", "segment.ms": "60000", **lags})
    both = {"cleanup.policy": "compact,delete", "retention.ms": str(3 * HOUR)}
    cluster.create_topic("both", 1, {**both, "segment.ms": "60000"})
    for number in range(4):
        now = cluster.clock.now()
        for index in (0, 1):
            produce(client, batch(bytes(600_000), time=now), topic="old", partition=index)
        for name in ("table", "both"):
            assert produce(client, batch(b"x", time=now), topic=name).error_code == 0
        numbered = {"producer_epoch": 0, "base_sequence": 0}
        data = batch(b"x", time=now, producer_id=900 + number, **numbered)  # type: ignore[arg-type]
        assert produce(client, data, topic="old").error_code == 0
        cluster.advance(7 * MINUTE)
    client.ask(FindCoordinatorRequest(key="g"), 2)
    stable(client)
    assert commit(client_of(cluster), 3, topic="old", group="alone") is Error.NONE
    assert TxnClient(cluster).begin().write(b"x", topic="old") is Error.NONE
    cluster.create_topic("soon gone".replace(" ", "-"), 3, {})
    cluster.topics.delete(cluster.topic("soon-gone"))


def happenings(
    path: Path, move: Callable[[Cluster], object], monkeypatch: pytest.MonkeyPatch
) -> tuple[list[Happening], list[str]]:
    """What happened, and when; and the files at the end."""
    found: list[Happening] = []
    append = Partition.append
    path.mkdir()
    cluster = open_cluster(path, **CONFIGS)
    filled(cluster)

    def appended(partition: Partition, data: bytearray, *rest: object) -> int:
        found.append((cluster.clock.now() - NOW, f"{partition!r} gets {len(data)} bytes"))
        return append(partition, data, *rest)  # type: ignore[arg-type]

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append((cluster.clock.now() - NOW, record.getMessage()))

    heard, level = Heard(), log.level
    log.addHandler(heard)
    log.setLevel(logging.INFO)
    with monkeypatch.context() as patched:
        patched.setattr(Partition, "append", appended)
        move(cluster)
    log.removeHandler(heard)
    log.setLevel(level)
    files = sorted(f"{file.relative_to(path)} {file.stat().st_size}" for file in path.rglob("*"))
    files = [re.sub(r"\.[0-9a-f]{32}-delete", "-delete", file) for file in files]
    logs = cluster.log_dir.logs.items()
    states = [f"{key} {sorted(stored.producers.states)}" for key, stored in logs]
    assert cluster.clock.now() == NOW + 28 * MINUTE + 8 * HOUR
    cluster.close()
    return found, [*files, *states]


def in_steps(cluster: Cluster) -> None:
    for _ in range(8 * HOUR // STEP_MS):
        cluster.advance(STEP_MS)


def test_what_happens_on_the_way_is_what_would_have_happened_without_leaving_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visited = happenings(tmp_path / "steps", in_steps, monkeypatch)
    skipped = happenings(tmp_path / "far", lambda one: one.advance(8 * HOUR), monkeypatch)

    assert skipped == visited
    times = {time for time, _ in visited[0]}
    assert len(times) > 8
    for part in ("segments deleted", "compacted", "metadata snapshot", "__consumer_offsets"):
        assert any(part in text for _, text in visited[0]), part


def test_a_check_that_finds_nothing_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    run = LogManager.run

    def counted(manager: LogManager, now: int) -> bool:
        runs.append(now - NOW)
        return run(manager, now)

    monkeypatch.setattr(LogManager, "run", counted)
    cluster = open_cluster()
    cluster.create_topic("t", 1, {"retention.ms": str(10 * HOUR)})
    produce(client_of(cluster), batch(b"x", time=NOW))
    cluster.advance(20 * HOUR)
    first = 30 * SECOND
    assert runs[0] == first
    assert first + 10 * HOUR - 30 * SECOND in runs or 10 * HOUR + first in runs
    assert len(runs) < 8
    cluster.close()


def test_a_policy_of_ones_own_is_asked_each_time() -> None:
    asked: list[int] = []
    cluster = open_cluster()
    cluster.log_manager.retention = lambda log, now: asked.append(now - NOW) or 0
    cluster.create_topic("t", 1, {})
    produce(client_of(cluster), batch(b"x", time=NOW))
    cluster.advance(HOUR)
    assert asked == [30 * SECOND + number * 5 * MINUTE for number in range(12)]
    cluster.close()


def test_the_clock_can_be_moved_again_and_again() -> None:
    clock = ManualClock(NOW)
    with Emulator(clock=clock, topics={"t": 1}) as kafka:
        for _ in range(3):
            kafka.advance(ms=HOUR)
        kafka.advance(0)
        with pytest.raises(ValueError, match="back by 1 ms"):
            kafka.advance(ms=-1)
    assert clock.now() == NOW + 3 * HOUR
