"""The APIs of the share coordinator, about one partition of topic t and group g."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from odradek.emulator.cluster import Cluster
from odradek.wire.api.delete_share_group_state import DeleteShareGroupStateRequest
from odradek.wire.api.initialize_share_group_state import InitializeShareGroupStateRequest
from odradek.wire.api.read_share_group_state import ReadShareGroupStateRequest
from odradek.wire.api.read_share_group_state_summary import ReadShareGroupStateSummaryRequest
from odradek.wire.api.write_share_group_state import WriteShareGroupStateRequest

from tests.requests.asker import Asker

Batches = Sequence[tuple[int, int, int, int]]
"""First and last offset, delivery state, delivery count."""


def state_topic(cluster: Cluster) -> bytes:
    """The id of a new topic t of two partitions; share coordinators are there."""
    cluster.share_coordinators.ensure_topic()
    return cluster.create_topic("t", 2, {}).id


def ask_state(
    client: Asker, kind: Any, version: int, topic_id: bytes, group: str = "g", **fields: Any
) -> Any:
    """What is answered for one partition; None if nothing is."""
    partition = kind.Topic.Partition(**{"partition": 0, **fields})
    topic = kind.Topic(topic_id=topic_id, partitions=[partition])
    results = client.ask(kind(group_id=group, topics=[topic]), version).results
    return results[0].partitions[0] if results else None


def initialize(client: Asker, topic_id: bytes, **more: Any) -> Any:
    """InitializeShareGroupState, in state epoch 1 at offset 0 unless told otherwise."""
    fields = {"state_epoch": 1, "start_offset": 0, **more}
    return ask_state(client, InitializeShareGroupStateRequest, 0, topic_id, **fields)


def write_state(
    client: Asker, topic_id: bytes, batches: Batches = (), version: int = 1, **more: Any
) -> Any:
    """WriteShareGroupState, in state epoch 1 and leader epoch 0 unless told otherwise."""
    batch = WriteShareGroupStateRequest.Topic.Partition.StateBatch
    fields = {
        "state_epoch": 1,
        "leader_epoch": 0,
        "start_offset": 0,
        "state_batches": [
            batch(first_offset=f, last_offset=la, delivery_state=s, delivery_count=c)
            for f, la, s, c in batches
        ],
        **more,
    }
    return ask_state(client, WriteShareGroupStateRequest, version, topic_id, **fields)


def read_state(client: Asker, topic_id: bytes, leader_epoch: int = 0, **more: Any) -> Any:
    """ReadShareGroupState."""
    fields = {"leader_epoch": leader_epoch, **more}
    return ask_state(client, ReadShareGroupStateRequest, 0, topic_id, **fields)


def summary(client: Asker, topic_id: bytes, version: int = 1, **more: Any) -> Any:
    """ReadShareGroupStateSummary."""
    fields = {"leader_epoch": 0, **more}
    return ask_state(client, ReadShareGroupStateSummaryRequest, version, topic_id, **fields)


def delete_state(client: Asker, topic_id: bytes, **more: Any) -> Any:
    """DeleteShareGroupState."""
    return ask_state(client, DeleteShareGroupStateRequest, 0, topic_id, **more)
