"""WriteShareGroupState (semantics N24, N25): what has changed, and its records."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.internal_topics import SHARE_GROUP_STATE
from odradek.emulator.share.state import StateRecord, Update, decoded
from odradek.storage import MemoryDisk
from odradek.wire import Error
from odradek.wire.api.write_share_group_state import WriteShareGroupStateRequest
from odradek.wire.records import read_records

from tests.requests.share_states import initialize, read_state, state_topic, summary, write_state
from tests.support.cluster import Client, open_cluster
from tests.support.versions import first_and_last


def _written(cluster: Cluster) -> list[StateRecord]:
    return [
        decoded(record)
        for partition in cluster.topic(SHARE_GROUP_STATE).partitions
        for _, chunk, pos in partition.log.reader.batches_from(partition.log_start_offset)
        for record in read_records(chunk, pos)
    ]


@pytest.mark.parametrize("version", first_and_last(WriteShareGroupStateRequest))
def test_batches_are_laid_over_each_other(cluster: Cluster, client: Client, version: int) -> None:
    topic_id = state_topic(cluster)
    initialize(client, topic_id)
    write_state(client, topic_id, [(0, 9, 0, 1)], version)
    more = {"delivery_complete_count": 3} if version >= 1 else {}
    assert write_state(client, topic_id, [(2, 4, 2, 2)], version, **more).error_code == 0
    found = [
        (each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
        for each in read_state(client, topic_id).state_batches
    ]
    assert found == [(0, 1, 0, 1), (2, 4, 2, 2), (5, 9, 0, 1)]
    assert summary(client, topic_id).delivery_complete_count == (3 if version >= 1 else -1)


def test_who_may_not_write(cluster: Cluster, client: Client) -> None:
    topic_id = state_topic(cluster)
    assert write_state(client, topic_id).error_code == Error.INVALID_REQUEST
    initialize(client, topic_id, state_epoch=5)
    older = write_state(client, topic_id, state_epoch=4)
    assert older.error_code == Error.FENCED_STATE_EPOCH
    assert write_state(client, topic_id, state_epoch=6).error_code == 0


def test_a_snapshot_follows_so_many_updates(disk: MemoryDisk) -> None:
    cluster = open_cluster(disk, share_coordinator_snapshot_update_records_per_snapshot="2")
    client = Client(cluster)
    topic_id = state_topic(cluster)
    initialize(client, topic_id)
    for offset in range(4):
        write_state(client, topic_id, [(offset, offset, 2, 1)], start_offset=offset)
    kinds = [isinstance(record.value, Update) for record in _written(cluster)]
    assert kinds == [False, True, True, False, True]
    before = read_state(client, topic_id)
    cluster.close()
    again = open_cluster(disk)
    assert read_state(Client(again), topic_id) == before
    again.close()


def test_what_is_redundant_is_deleted(cluster: Cluster, client: Client) -> None:
    topic_id = state_topic(cluster)
    for epoch in range(3):
        initialize(client, topic_id, state_epoch=epoch)
    cluster.advance(300_000)
    assert len(_written(cluster)) == 2, "the last, and a snapshot since nothing was written"
    cluster.advance(300_000)
    starts = {each.log_start_offset for each in cluster.topic(SHARE_GROUP_STATE).partitions}
    assert starts == {0, 3}
