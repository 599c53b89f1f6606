"""Retention and flushing, when nobody asks: by the cluster's clock, seen by clients."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.emulator.cluster import Cluster
from odradek.storage import LogView
from odradek.storage.checkpoints import RECOVERY_POINTS
from odradek.wire import Error

from tests.requests.fetch import fetch, values
from tests.requests.offsets import EARLIEST, delete_before, look_up
from tests.requests.produce import batch, produce, produce_request
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of, open_cluster
from tests.support.slow_disk import Disk

ONE = len(batch(b"0"))
SEGMENTS = {"internal.segment.bytes": str(2 * ONE), "retention.ms": "-1"}
"""Two batches of one record fill a segment, and nothing goes by time."""
SECOND, MINUTE, DAY, WEEK = 1000, 60_000, 86_400_000, 7 * 86_400_000


def topic(cluster: Cluster, name: str = "t", **configs: str) -> None:
    named = {key.replace("_", "."): text for key, text in configs.items()}
    cluster.create_topic(name, 1, SEGMENTS | named)


def fill_unasked(cluster: Cluster, count: int, name: str = "t") -> None:
    """Write without waiting for an answer."""
    client = client_of(cluster)
    for number in range(count):
        client.send(produce_request(batch(b"%d" % number), name, acks=0), 9)


def fill(cluster: Cluster, count: int = 5, name: str = "t") -> None:
    for number in range(count):
        records = batch(b"%d" % number, time=cluster.clock.now())
        assert produce(client_of(cluster), records, topic=name).error_code == 0


def bases(cluster: Cluster, name: str = "t") -> list[int]:
    return [segment.base_offset for segment in cluster.partition(name, 0).log.segments]


def earliest(client: Client) -> tuple[int, int]:
    found = look_up(client, EARLIEST)
    return found.error_code, found.offset


def logs(path: Path) -> list[str]:
    return sorted(one.name for one in (path / "t-0").glob("*.log*"))


# Retention.


def test_a_week_later_old_segments_are_gone_for_clients_and_after_a_restart(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    client = client_of(cluster)
    topic(cluster, retention_ms=str(WEEK))
    fill(cluster, 4)
    cluster.advance(DAY)
    fill(cluster, 3)
    assert bases(cluster) == [0, 2, 4, 6]

    cluster.advance(WEEK - DAY + 10 * MINUTE)

    assert bases(cluster) == [4, 6]
    for offset in (0, 3):
        answer = fetch(client, offset)
        assert answer.error_code == Error.OFFSET_OUT_OF_RANGE
        assert answer.log_start_offset == -1
    answer = fetch(client, 4)
    assert (values(answer)[0], answer.log_start_offset) == (b"0", 4)
    assert earliest(client) == (0, 4)
    assert logs(tmp_path) == [f"{base:020d}.log" for base in (4, 6)]
    cluster.close()

    again = open_cluster(tmp_path, now=cluster.clock.now())
    assert earliest(client_of(again)) == (0, 4)
    assert fetch(client_of(again), 3).error_code == Error.OFFSET_OUT_OF_RANGE
    again.advance(WEEK)
    partition = again.partition("t", 0)
    assert (partition.log_start_offset, partition.log_end_offset) == (7, 7), "even the newest went"
    assert fetch(client_of(again), 7).error_code == 0
    again.close()

    last = open_cluster(tmp_path, now=again.clock.now())
    assert earliest(client_of(last)) == (0, 7)
    assert produce(client_of(last), batch(b"x")).base_offset == 7
    last.close()


def test_it_runs_after_half_a_minute_then_every_five_minutes(cluster: Cluster) -> None:
    topic(cluster, retention_bytes="0")
    fill(cluster)
    cluster.advance(30 * SECOND - 1)
    assert bases(cluster) == [0, 2, 4]
    cluster.advance(1)
    assert bases(cluster) == [5]
    fill(cluster)
    cluster.advance(5 * MINUTE - 1)
    assert bases(cluster) == [5, 7, 9]
    cluster.advance(1)
    assert bases(cluster) == [10]


def test_when_it_runs_is_configured(tmp_path: Path) -> None:
    cluster = open_cluster(
        tmp_path, log_initial_task_delay_ms="7", log_retention_check_interval_ms="100"
    )
    topic(cluster, retention_bytes="0")
    fill(cluster, 1)
    cluster.advance(7)
    fill(cluster, 1)
    assert bases(cluster) == [1]
    cluster.advance(100)
    assert bases(cluster) == [2]
    cluster.close()


def test_files_are_unlinked_a_minute_after_their_segment_went(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic(cluster, retention_bytes=str(ONE))
    fill(cluster)
    cluster.advance(30 * SECOND)
    gone = [f"{base:020d}.log.deleted" for base in (0, 2)]
    assert logs(tmp_path / "data") == [*gone, f"{4:020d}.log"]
    cluster.advance(MINUTE - 1)
    assert len(logs(tmp_path / "data")) == 3
    cluster.advance(1)
    assert logs(tmp_path / "data") == [f"{4:020d}.log"]


def test_a_changed_config_counts_at_the_next_run(cluster: Cluster) -> None:
    topic(cluster)
    fill(cluster)
    cluster.advance(30 * SECOND)
    assert bases(cluster) == [0, 2, 4]
    cluster.topics.set_configs(cluster.topic("t"), SEGMENTS | {"retention.bytes": "0"})
    cluster.advance(5 * MINUTE)
    assert bases(cluster) == [5]


def test_a_brokers_default_counts_for_topics_that_set_nothing(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path, log_retention_ms=str(MINUTE))
    cluster.create_topic("t", 1, {})
    fill(cluster, 1)
    cluster.advance(30 * SECOND)
    assert cluster.partition("t", 0).log_start_offset == 0
    cluster.advance(5 * MINUTE)
    assert cluster.partition("t", 0).log_start_offset == 1
    cluster.close()


def test_deleted_records_take_their_segments_with_them(cluster: Cluster, client: Client) -> None:
    topic(cluster)
    fill(cluster)
    delete_before(client, 3)
    assert bases(cluster) == [0, 2, 4]
    cluster.advance(30 * SECOND)
    assert bases(cluster) == [2, 4]
    assert earliest(client) == (0, 3)


def test_a_compacted_topic_loses_nothing_by_time_or_size(cluster: Cluster) -> None:
    topic(cluster, cleanup_policy="compact", retention_ms="1", retention_bytes="0")
    topic(cluster, "both", cleanup_policy="compact,delete", retention_ms="1")
    fill(cluster)
    fill(cluster, name="both")
    cluster.advance(30 * SECOND)
    assert bases(cluster) == [0, 2, 4]
    assert bases(cluster, "both") == [5]


def test_a_topic_deleted_and_made_again_in_the_meantime_is_left_alone(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic(cluster, retention_bytes="0")
    fill(cluster)
    cluster.advance(30 * SECOND)
    cluster.topics.delete(cluster.topic("t"))
    topic(cluster, retention_bytes="0")
    fill(cluster)
    assert cluster.log_manager.delete_old_segments() == 3
    cluster.advance(MINUTE - 1)
    assert len(logs(tmp_path / "data")) == 4, "its own files have their own minute"
    cluster.advance(1)
    assert len(logs(tmp_path / "data")) == 1


def test_a_policy_of_ones_own_decides(tmp_path: Path) -> None:
    from odradek.emulator.base.clock import ManualClock
    from odradek.emulator.base.node import Node
    from odradek.emulator.config.configs import BrokerConfig

    def one_segment_of_t(log: LogView, now_ms: int) -> int:
        return len(log.segments) - 1 if log.topic == "t" else 0

    cluster = Cluster(
        BrokerConfig(),
        data_dir=tmp_path,
        brokers=[Node(1, "localhost", 9092)],
        clock=ManualClock(NOW),
        retention=one_segment_of_t,
    )
    topic(cluster)
    topic(cluster, "other", retention_bytes="0")
    fill(cluster)
    fill(cluster, name="other")
    cluster.advance(30 * SECOND)
    assert bases(cluster) == [4]
    assert bases(cluster, "other") == [0, 2, 4]
    cluster.close()


def test_a_policy_that_fails_is_named_and_stops_nothing(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    topic(cluster, "a")
    topic(cluster, "b")
    fill(cluster, name="a")
    fill(cluster, name="b")

    def fails_for_a(log: LogView, now_ms: int) -> int:
        return {"b": 1}[log.topic]

    cluster.log_manager.retention = fails_for_a
    cluster.advance(30 * SECOND)
    assert bases(cluster, "a") == [0, 2, 4]
    assert bases(cluster, "b") == [2, 4]
    assert "<a-0>: the retention policy failed" in caplog.text
    cluster.advance(5 * MINUTE)
    assert bases(cluster, "b") == [4]


def test_a_failing_disk_is_named_and_stops_nothing(
    cluster: Cluster, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic(cluster, retention_bytes="0")
    fill(cluster)

    def fail(old: str, new: str) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(cluster.partition("t", 0).log._home.files, "rename", fail)
        cluster.advance(30 * SECOND)
    assert "t-0: [Errno 5] Input/output error" in caplog.text
    assert values(fetch(client_of(cluster), 0))[0] == b"0"
    cluster.advance(5 * MINUTE)
    assert bases(cluster) == [5]


# Flushing.


def recovery_point(cluster: Cluster, name: str = "t") -> int:
    return cluster.partition(name, 0).log.recovery_point


def flusher_threads() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "odradek-flush"]


def test_by_default_there_is_no_flush_and_no_thread(cluster: Cluster) -> None:
    topic(cluster)
    fill(cluster, 1)
    cluster.advance(DAY)
    assert recovery_point(cluster) == 0
    assert flusher_threads() == []


def test_after_so_many_messages_the_disk_has_them(cluster: Cluster, disk: Disk) -> None:
    topic(cluster, flush_messages="3")
    fill(cluster, 2)
    cluster.log_manager.flusher.drain()
    assert disk.threads == set()
    fill(cluster, 1)
    cluster.log_manager.flusher.drain()
    assert recovery_point(cluster) == 3
    assert disk.threads == {"odradek-flush"}, "the broker did not wait"


def test_the_oldest_message_waits_no_longer_than_configured(cluster: Cluster, disk: Disk) -> None:
    topic(cluster, flush_ms="1000")
    fill(cluster, 1)
    cluster.advance(999)
    fill(cluster, 1)
    assert disk.threads == set()
    cluster.advance(1)
    cluster.log_manager.flusher.drain()
    assert recovery_point(cluster) == 2
    timers = len(cluster.timers)
    cluster.advance(10 * SECOND)
    assert len(cluster.timers) == timers, "a clean log needs no timer"


def test_the_broker_goes_on_while_the_disk_is_busy(cluster: Cluster, disk: Disk) -> None:
    topic(cluster, flush_messages="1")
    topic(cluster, "other", flush_messages="1")
    disk.go.clear()
    fill_unasked(cluster, 3)
    fill_unasked(cluster, 1, "other")
    assert recovery_point(cluster) == 0
    assert values(fetch(client_of(cluster), 0)) == [b"0", b"1"]
    disk.go.set()
    cluster.log_manager.flusher.drain()
    assert recovery_point(cluster) == 3, "what came meanwhile was flushed too"
    assert recovery_point(cluster, "other") == 1
    assert len(flusher_threads()) == 1


def test_a_stop_flushes_what_waits_and_leaves_no_thread(tmp_path: Path, disk: Disk) -> None:
    cluster = open_cluster(tmp_path)
    topic(cluster, flush_messages="100")
    topic(cluster, "never")
    fill(cluster, 1)
    cluster.close()
    assert disk.threads == {"odradek-flush"}
    assert flusher_threads() == []
    assert "t 0 1\n" in (tmp_path / RECOVERY_POINTS).read_text()


def test_a_deleted_topic_is_no_trouble_to_the_flusher(
    cluster: Cluster, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    topic(cluster, flush_ms="1000", flush_messages="2")
    disk.go.clear()
    fill_unasked(cluster, 3)
    cluster.topics.delete(cluster.topic("t"))
    disk.go.set()
    cluster.advance(MINUTE)
    cluster.log_manager.flusher.drain()
    assert caplog.text == ""


def test_a_failed_flush_is_named_and_refuses_what_comes_after(
    tmp_path: Path, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = open_cluster(tmp_path)
    topic(cluster, flush_messages="1")
    topic(cluster, "other", flush_messages="1")
    disk.error = OSError(5, "Input/output error")
    answer = produce(client_of(cluster), batch(b"0"))
    assert (answer.error_code, answer.base_offset) == (Error.KAFKA_STORAGE_ERROR, -1)
    assert answer.error_message == "t-0: [Errno 5] Input/output error"
    assert "t-0: [Errno 5] Input/output error" in caplog.text
    disk.error = None
    client = client_of(cluster)
    assert produce(client, batch(b"x")).error_code == Error.KAFKA_STORAGE_ERROR
    assert produce(client, batch(b"x"), topic="other").error_code == 0
    assert values(fetch(client, 0)) == [b"0"]
    with pytest.raises(Exception, match=r"t-0: .*Input/output error"):
        cluster.close()
    assert flusher_threads() == []

    again = open_cluster(tmp_path)
    assert produce(client_of(again), batch(b"y")).base_offset == 1
    again.close()


def test_a_served_broker_moves_the_recovery_point_by_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR)
    threads = threading.active_count()
    with Emulator() as kafka:
        kafka.create_topic("t", configs={"flush.messages": 1})
        seen = threading.Event()

        def watch(cluster: Cluster) -> None:
            flusher = cluster.log_manager.flusher
            collect = flusher.collect

            def collected() -> None:
                collect()
                if recovery_point(cluster) == 1:
                    seen.set()

            flusher.collect = collected  # type: ignore[method-assign]

        kafka.run(watch)
        kafka.run(lambda cluster: fill_unasked(cluster, 1))
        assert seen.wait(30)
    assert threading.active_count() == threads
    assert caplog.text == ""
