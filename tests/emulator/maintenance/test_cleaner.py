"""The cleaner, when nobody asks and when somebody does: by the cluster's clock, seen by clients."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.cluster import Cluster
from odradek.storage.checkpoints import CLEANED_OFFSETS, read_offsets
from odradek.storage.compaction.run import Compaction
from odradek.storage.disk.memory import MemoryDisk
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.batch import read_header
from odradek.wire.records import build_batch, read_records

from tests.requests.committed_offsets import commit, committed
from tests.support.cluster import client_of, open_cluster

SECOND, DAY = 1000, 86_400_000
CONFIGS = {"cleanup.policy": "compact", "internal.segment.bytes": "1", "retention.ms": "-1"}
"""Each batch is a segment of its own."""


def topic(cluster: Cluster, name: str = "t", **configs: str) -> None:
    named = {key.replace("_", "."): text for key, text in configs.items()}
    cluster.create_topic(name, 1, CONFIGS | named)


def write(cluster: Cluster, *pairs: tuple[str, str | None], name: str = "t") -> None:
    now = cluster.clock.now()
    for key, value in pairs:
        record = (now, key.encode(), None if value is None else value.encode(), ())
        batch = build_batch([record])
        cluster.partition(name, 0).append(batch, read_header(batch), now)


def values(cluster: Cluster, name: str = "t") -> list[tuple[int, str, str | None]]:
    """What a consumer gets who begins at the log start."""
    log, found = cluster.partition(name, 0).log, []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        data = bytes(log.read(offset, 1))
        for one in read_records(data):
            assert one.key is not None
            value = None if one.value is None else one.value.decode()
            found.append((one.offset, one.key.decode(), value))
        offset = int.from_bytes(data[:8], "big") + int.from_bytes(data[23:27], "big") + 1
    return found


def checkpoint(path: Path) -> dict[tuple[str, int], int]:
    return read_offsets((path / CLEANED_OFFSETS).read_bytes(), CLEANED_OFFSETS)


def test_dirty_logs_are_compacted_every_fifteen_seconds(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    topic(cluster)
    write(cluster, ("a", "1"), ("b", "1"), ("a", "2"), ("a", "3"))
    cluster.advance(15 * SECOND - 1)
    assert len(values(cluster)) == 4
    cluster.advance(1)
    assert values(cluster) == [(1, "b", "1"), (2, "a", "2"), (3, "a", "3")]
    assert checkpoint(tmp_path) == {("t", 0): 3}
    names = [path.name for path in (tmp_path / "t-0").iterdir()]
    assert any(name.endswith(".deleted") for name in names)
    cluster.advance(60 * SECOND)
    assert not any(path.name.endswith(".deleted") for path in (tmp_path / "t-0").iterdir())
    cluster.close()

    again = open_cluster(tmp_path, now=cluster.clock.now())
    assert len(values(again)) == 3
    assert again.partition("t", 0).log.compactor.cleaned_offset == 3
    write(again, ("a", "4"), ("a", "5"), ("a", "6"))
    again.advance(15 * SECOND)
    assert values(again) == [(1, "b", "1"), (5, "a", "5"), (6, "a", "6")]
    again.close()


def test_how_often_and_how_dirty_is_configured(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path, log_cleaner_backoff_ms="500")
    topic(cluster, min_cleanable_dirty_ratio="0.7")
    topic(cluster, "other", cleanup_policy="delete")
    for name in ("t", "other"):
        write(cluster, ("a", "1"), ("a", "2"), name=name)
    cluster.advance(500)
    cleaned = lambda name: cluster.partition(name, 0).log.compactor.cleaned_offset  # noqa: E731
    assert (cleaned("t"), cleaned("other")) == (1, None)
    write(cluster, ("a", "3"), ("b", "3"))
    cluster.advance(500)
    assert cleaned("t") == 1, "two thirds of it are dirty"
    write(cluster, ("c", "3"))
    cluster.advance(500)
    assert cleaned("t") == 4, "three quarters were"
    cluster.close()


def test_it_can_be_switched_off_and_still_be_asked(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path, log_cleaner_enable="false")
    topic(cluster)
    write(cluster, ("a", "1"), ("a", "2"))
    cluster.advance(DAY)
    assert len(values(cluster)) == 2
    assert cluster.log_manager.cleaner.compact_all() == 1
    assert values(cluster) == [(1, "a", "2")]
    cluster.close()


def test_tombstones_go_with_the_next_compaction_after_their_time(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    topic(cluster, delete_retention_ms="1000")
    write(cluster, ("a", "1"), ("a", None), ("b", "1"))
    cluster.advance(15 * SECOND)
    assert values(cluster) == [(1, "a", None), (2, "b", "1")]
    write(cluster, ("b", "2"), ("b", "3"))
    cluster.advance(DAY)
    assert values(cluster) == [(3, "b", "2"), (4, "b", "3")]
    cluster.close()


def test_compact_and_delete_both_act(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cluster = open_cluster(tmp_path)
    topic(cluster, cleanup_policy="compact,delete", retention_ms="20000")
    write(cluster, ("a", "1"), ("a", "2"), ("b", "1"), ("c", "1"))
    cluster.advance(15 * SECOND)
    assert values(cluster) == [(1, "a", "2"), (2, "b", "1"), (3, "c", "1")]
    cluster.advance(15 * SECOND)
    assert cluster.partition("t", 0).log_start_offset == 4
    write(cluster, ("a", "3"), ("a", "4"), ("a", "5"))
    cluster.advance(15 * SECOND)
    assert values(cluster)[-2:] == [(5, "a", "4"), (6, "a", "5")]
    assert caplog.records == []  # that retention passes the cleaner is nothing to speak of
    cluster.close()


def test_a_damaged_log_is_left_alone_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = open_cluster(tmp_path)
    for name in ("bad", "good"):
        topic(cluster, name)
        write(cluster, ("a", "1"), ("a", "2"), ("a", "3"), name=name)
    file = tmp_path / "bad-0" / "00000000000000000001.log"
    data = bytearray(file.read_bytes())
    data[-2] ^= 1
    file.write_bytes(data)
    with caplog.at_level(logging.ERROR, logger="odradek"):
        cluster.advance(60 * SECOND)
    assert [record.getMessage()[:8] for record in caplog.records] == ["<bad-0> "]
    assert len(values(cluster, "good")) == 2
    assert cluster.partition("bad", 0).log.compactor.cleaned_offset is None
    cluster.close()


def test_a_checkpoint_beyond_the_log_is_not_believed(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    topic(cluster)
    write(cluster, ("a", "1"), ("a", "2"))
    cluster.close()
    (tmp_path / CLEANED_OFFSETS).write_text("0\n1\nt 0 99\n")
    cluster = open_cluster(tmp_path)
    cluster.advance(15 * SECOND)
    assert checkpoint(tmp_path) == {("t", 0): 1}
    cluster.close()


def test_a_deleted_topic_leaves_the_checkpoint(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    topic(cluster)
    write(cluster, ("a", "1"), ("a", "2"))
    cluster.advance(15 * SECOND)
    cluster.topics.delete(cluster.topic("t"))
    cluster.advance(DAY)
    assert checkpoint(tmp_path) == {}
    cluster.close()


def test_offsets_that_groups_committed_outlive_it(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    cluster.create_topic("t", 2, {})
    client = client_of(cluster)
    client.ask(FindCoordinatorRequest(key="g"), 2)
    for offset in range(300):
        assert commit(client, offset, partition=1) == 0
    offsets = [
        partition
        for partition in cluster.topic("__consumer_offsets").partitions
        if partition.log.size
    ]
    before = sum(partition.log.size for partition in offsets)
    assert cluster.log_manager.cleaner.compact_all() == 1
    assert sum(partition.log.size for partition in offsets) < before / 50
    assert committed(client, partition=1).committed_offset == 299
    cluster.close()

    again = open_cluster(tmp_path, now=cluster.clock.now())
    assert committed(client_of(again), partition=1).committed_offset == 299
    again.close()


# With a server: in another thread.


def emulator(**more: Any) -> Emulator:
    return Emulator({"log.cleaner.backoff.ms": 20}, **more)


def test_under_the_systems_clock_another_thread_does_it(tmp_path: Path) -> None:
    with emulator(data_dir=tmp_path) as kafka:
        kafka.run(topic)
        kafka.run(lambda cluster: write(cluster, *[("a", str(n)) for n in range(50)]))
        deadline = threading.Event()
        for _ in range(500):
            if len(kafka.run(values)) == 2:
                break
            deadline.wait(0.02)
        assert kafka.run(values) == [(48, "a", "48"), (49, "a", "49")]
        names = [thread.name for thread in threading.enumerate()]
        assert "odradek-cleaner" in names
    assert "odradek-cleaner" not in [thread.name for thread in threading.enumerate()]
    assert checkpoint(tmp_path)["t", 0] == 49


@pytest.mark.parametrize("config", [{}, {"clock": ManualClock(0)}])
def test_a_defect_leaves_one_log_alone_and_the_cleaner_running(
    config: dict[str, Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = Compaction.run

    def broken(compaction: Compaction) -> None:
        if compaction.task.config.delete_retention_ms == 1000:
            raise RuntimeError("broken")
        run(compaction)

    monkeypatch.setattr(Compaction, "run", broken)
    with emulator(**config) as kafka:
        kafka.run(lambda cluster: topic(cluster, delete_retention_ms="1000"))
        kafka.run(lambda cluster: topic(cluster, "u"))
        pairs = [("a", str(n)) for n in range(5)]
        kafka.run(lambda cluster: write(cluster, *pairs))
        kafka.run(lambda cluster: write(cluster, *pairs, name="u"))
        if config:
            kafka.advance(seconds=1)
        deadline = time.monotonic() + 30
        while len(kafka.run(lambda cluster: values(cluster, "u"))) > 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert len(kafka.run(values)) == 5
        kafka.run(lambda cluster: write(cluster, ("a", "6")))
    failures = [record for record in caplog.records if record.exc_info]
    assert [record.getMessage() for record in failures] == ["<t-0> could not be compacted"]


@pytest.mark.slow
def test_writers_do_not_notice_it() -> None:
    with emulator() as kafka:
        kafka.run(topic)
        newest = {}
        for number in range(300):
            key = f"k{number * 7 % 13}"
            newest[key] = str(number)
            kafka.run(lambda cluster, key=key, n=number: write(cluster, (key, str(n))))  # type: ignore[misc]
            if number % 50 == 0:
                found = {key: value for _, key, value in kafka.run(values)}
                assert found == newest
        assert {key: value for _, key, value in kafka.run(values)} == newest
        assert (
            kafka.run(lambda cluster: cluster.partition("t", 0).log.compactor.cleaned_offset)
            is not None
        )


@pytest.mark.parametrize("more", [{}, {"clock": ManualClock()}, {"disk": MemoryDisk()}])
def test_a_tester_asks_for_it(more: dict[str, Any]) -> None:
    with Emulator(**more) as kafka:
        kafka.create_topic("t", configs={"cleanup.policy": "compact"})
        kafka.create_topic("plain")
        kafka.create_topic("empty", configs={"cleanup.policy": "compact"})
        kafka.run(lambda cluster: write(cluster, ("a", "1"), ("b", "1"), ("a", "2")))
        assert kafka.compact() == 1
        assert kafka.run(values) == [(1, "b", "1"), (2, "a", "2")]
        kafka.run(lambda cluster: write(cluster, ("a", "3")))
        assert kafka.compact() == 1
        assert kafka.run(values) == [(1, "b", "1"), (3, "a", "3")]
