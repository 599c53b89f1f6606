"""What a power cut leaves of a cluster whose configs ask for flushes."""

from __future__ import annotations

from random import Random

import pytest
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.batch import batches
from odradek.wire.records import read_records

from tests.requests.committed_offsets import commit, committed
from tests.requests.produce import batch, produce
from tests.support.cluster import client_of, open_cluster

EVERY_RECORD = {"log_flush_interval_messages": "1", "offsets_topic_num_partitions": "1"}
SEEDS = [None, *range(10)]


def cut(disk: MemoryDisk, seed: int | None) -> Cluster:
    after = disk.crash(None if seed is None else Random(seed))
    return open_cluster(after.directory(), **EVERY_RECORD)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_flushed_is_there_with_its_topic_and_what_groups_committed(
    seed: int | None,
) -> None:
    disk = MemoryDisk()
    cluster = open_cluster(disk.directory(), **EVERY_RECORD)
    cluster.create_topic("t", 1, {"segment.bytes": "1048576"})
    client = client_of(cluster)
    client.ask(FindCoordinatorRequest(key="g"), 2)
    for number in range(5):
        assert produce(client, batch(b"%d" % number + bytes(300_000))).error_code == 0
        assert commit(client, number) == 0
    cluster.log_manager.flusher.drain()

    again = cut(disk, seed)

    log = again.partition("t", 0).log
    found = []
    while log.log_start_offset + len(found) < log.log_end_offset:
        data = log.read(len(found), 1 << 20)
        found += [one.value for at, _ in batches(data) for one in read_records(data, at)]
    assert found == [b"%d" % number + bytes(300_000) for number in range(5)]
    assert committed(client_of(again)).committed_offset == 4
    again.close()
    cluster.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_broker_starts_on_whatever_a_power_cut_leaves(seed: int | None) -> None:
    disk = MemoryDisk()
    cluster = open_cluster(disk.directory(), **EVERY_RECORD)
    cluster.create_topic("t", 3, {})
    client = client_of(cluster)
    produce(client, batch(b"flushed"))
    cluster.log_manager.flusher.drain()
    cluster.create_topic("later", 1, {})
    for _ in range(3):
        produce(client, batch(b"x" * 100))

    again = cut(disk, seed)

    assert again.partition("t", 0).log_end_offset >= 1
    assert produce(client_of(again), batch(b"more")).error_code == 0
    again.close()
    cluster.close()
