"""The log of a partition is opened when it is first used, unless something of it is on disk."""

from __future__ import annotations

import pytest
from odradek.storage import MemoryDisk
from odradek.wire import Error, Refused

from tests.requests.groups import joined
from tests.requests.produce import batch, produce
from tests.support.cluster import client_of, open_cluster


def test_only_logs_with_something_on_disk_are_opened_at_the_start(disk: MemoryDisk) -> None:
    cluster = open_cluster(disk)
    cluster.create_topic("t", 3, {})
    assert produce(client_of(cluster), batch(b"x"), topic="t", partition=1).error_code == 0
    cluster.close()
    again = open_cluster(disk)
    partitions = again.topic("t").partitions
    assert [each.is_log_open for each in partitions] == [False, True, False]
    assert [each.log_end_offset for each in partitions] == [0, 1, 0]
    assert [each.is_log_open for each in partitions] == [True] * 3
    again.close()


def test_background_work_opens_no_log() -> None:
    cluster = open_cluster()
    cluster.create_topic("t", 2, {"cleanup.policy": "compact"})
    cluster.advance(600_000)
    assert not any(each.is_log_open for each in cluster.topic("t").partitions)
    cluster.close()


def test_a_group_opens_the_log_of_its_own_partition_alone() -> None:
    cluster = open_cluster()
    cluster.groups.ensure_topic()
    assert joined(client_of(cluster)).error_code == 0
    opened = [each.is_log_open for each in cluster.topic("__consumer_offsets").partitions]
    assert (len(opened), sum(opened)) == (50, 1)
    cluster.close()


def test_the_log_of_a_deleted_topic_is_not_opened() -> None:
    cluster = open_cluster()
    topic = cluster.create_topic("t", 1, {})
    cluster.topics.delete(topic)
    with pytest.raises(Refused) as refused:
        _ = topic.partitions[0].log_end_offset
    assert refused.value.error is Error.UNKNOWN_TOPIC_OR_PARTITION
    cluster.create_topic("t", 1, {})
    assert produce(client_of(cluster), batch(b"x"), topic="t").error_code == 0
    cluster.close()


def test_the_last_run_of_a_directory_writes_nothing_at_its_end() -> None:
    """Thousands of partitions of a directory that is removed next need no clean stop."""
    disk = MemoryDisk()
    cluster = open_cluster(disk.directory(), log_flush_interval_ms="1000")
    cluster.create_topic("t", 20, {})
    for index in range(20):
        assert produce(client_of(cluster), batch(b"x"), topic="t", partition=index).error_code == 0
    changes = disk.changes
    cluster.close(is_last=True)
    assert disk.changes == changes
    again = open_cluster(disk.directory())  # what it left is what a kill leaves, unlocked
    assert not again.log_dir.clean
    assert [each.log_end_offset for each in again.topic("t").partitions] == [1] * 20
    again.close()
    assert disk.changes > changes
