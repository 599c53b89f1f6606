"""Share coordinators: whether they are loaded."""

from __future__ import annotations

import time
from itertools import count

from odradek.emulator.base.java_order import partition_for
from odradek.emulator.share.state import SharePartitionKey
from odradek.wire import Error
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.read_share_group_state import ReadShareGroupStateRequest
from odradek.wire.api.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from odradek.wire.api.update_features import UpdateFeaturesRequest

from ..ask.consumer_groups import SETTLED_S
from ..ask.group_records import PARTITIONS
from ..ask.share_groups import INITIALIZED_S
from ..engine.asker import Asker

_SHARE = 2
_numbers = count()
_TOPIC_ID = bytes(15) + b"w"


def _one_per_partition() -> list[str]:
    """Groups of which each partition of `__share_group_state` keeps one."""
    found: dict[int, str] = {}
    for number in count():
        group = f"warm-{number}"
        found.setdefault(
            partition_for(SharePartitionKey(group, _TOPIC_ID, 0).text, PARTITIONS), group
        )
        if len(found) == PARTITIONS:
            return list(found.values())
    return []


_GROUPS = _one_per_partition()


def _enable(asker: Asker) -> None:
    """4.1 has share groups for whoever asks for them."""
    who = ApiVersionsRequest(client_software_name="odradek", client_software_version="1")
    if any(each.name == "share.version" for each in asker.ask(who, 3).finalized_features):
        return
    update = UpdateFeaturesRequest.FeatureUpdate(feature="share.version", max_version_level=1)
    asker.ask(UpdateFeaturesRequest(feature_updates=[update]), 1)


def is_warm(asker: Asker) -> bool:
    """Whether the share coordinator has loaded every partition, if there are share groups. Looking
    for the coordinator creates its topic."""
    if not asker.serves(ReadShareGroupStateRequest):
        return True
    _enable(asker)
    key = SharePartitionKey(_GROUPS[0], _TOPIC_ID, 0).text
    found = asker.ask(FindCoordinatorRequest(key_type=_SHARE, coordinator_keys=[key]), 6)
    if found.coordinators[0].error_code:
        return False
    topic = ReadShareGroupStateRequest.Topic
    partition = topic.Partition(partition=0, leader_epoch=-1)
    topics = [topic(topic_id=_TOPIC_ID, partitions=[partition])]
    for group in _GROUPS:
        answer = asker.ask(ReadShareGroupStateRequest(group_id=group, topics=topics), 0)
        if answer.results[0].partitions[0].error_code != Error.INVALID_REQUEST:
            return False
    return _gets_partitions(asker)


def _gets_partitions(asker: Asker) -> bool:
    """Whether a new group gets partitions soon: some of the first take a real broker seconds."""
    name = f"warm-shares-{next(_numbers)}"
    topic = CreateTopicsRequest.Topic(
        name=name, num_partitions=2, replication_factor=1, assignments=[], configs=[]
    )
    asker.ask(CreateTopicsRequest(topics=[topic], timeout_ms=9000), 5)
    time.sleep(SETTLED_S)
    beat = ShareGroupHeartbeatRequest(
        group_id=name, member_id=name, member_epoch=0, subscribed_topic_names=[name]
    )
    answer = asker.ask(beat, 1)
    deadline = time.monotonic() + INITIALIZED_S / 2
    while not _has_partitions(answer) and time.monotonic() < deadline:
        time.sleep(0.02)
        beat = ShareGroupHeartbeatRequest(
            group_id=name, member_id=name, member_epoch=answer.member_epoch
        )
        answer = asker.ask(beat, 1)
    asker.ask(DeleteTopicsRequest(topic_names=[name], timeout_ms=9000), 5)
    return _has_partitions(answer)


def _has_partitions(answer: ShareGroupHeartbeatResponse) -> bool:
    return answer.assignment is not None and bool(answer.assignment.topic_partitions)
