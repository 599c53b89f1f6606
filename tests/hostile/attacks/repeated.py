"""The same thing asked many times in one request, whose answer is far larger than the question."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from odradek.wire import Request
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest

from tests.hostile.attacks import attack
from tests.hostile.attacks.sockets import metadata_of
from tests.hostile.support.clients import Hostile, frame
from tests.hostile.support.setups import (
    LARGE,
    VICTIM,
    coordinators,
    large_records,
    one_topic,
    thousand_partitions,
)
from tests.hostile.support.target import Target
from tests.requests.fetch import asked, fetch_request
from tests.requests.groups import join_request, sync_request

TOPIC_RESOURCE = 2


def ask_and_read(target: Target, request: Request, version: int) -> None:
    """Ask, and read the answer away."""
    with Hostile(target.address) as hostile:
        hostile.send(frame(request, version))
        hostile.read(1)


@attack(test=600, full=20_000, setup=one_topic, memory_max_mb=8)
def configs_of_one_topic(target: Target, count: int) -> None:
    """DescribeConfigs of the same topic, again and again."""
    resource = DescribeConfigsRequest.Resource(
        resource_type=TOPIC_RESOURCE, resource_name=VICTIM, configuration_keys=None
    )
    ask_and_read(target, DescribeConfigsRequest(resources=[resource] * count), 4)


def a_group_of_much_metadata(target: Target, count: int) -> None:
    """A member of which there is much to tell."""
    coordinators(target, count)
    with Hostile(target.address) as member:
        asking = partial(
            join_request, metadata=bytes(40_000), group_id=VICTIM, session_timeout_ms=300_000
        )
        first = member.ask(asking(), 7)
        second = member.ask(asking(first.member_id), 7)
        synced = member.ask(sync_request(second, bytes(40_000), group_id=VICTIM), 3)
        assert synced.error_code == 0


@attack(test=300, full=5_000, setup=a_group_of_much_metadata, memory_max_mb=10)
def descriptions_of_one_group(target: Target, count: int) -> None:
    """DescribeGroups of the same group, again and again."""
    ask_and_read(target, DescribeGroupsRequest(groups=[VICTIM] * count), 5)


@attack(test=8_000, full=200_000, memory_max_mb=10)
def fetch_sessions_of_unknown_partitions(target: Target, count: int) -> None:
    """Sessions that have to remember what there is not."""
    request = fetch_request(*map(asked, range(count)), topic="unknown", session_epoch=0)
    with ExitStack() as stack:
        for _ in range(3):
            hostile = stack.enter_context(Hostile(target.address))
            hostile.send(frame(request, 12))
            hostile.read(1)


@attack(test=20_000, full=100_000, setup=one_topic)
def metadata_of_one_topic(target: Target, count: int) -> None:
    """Metadata of the same topic, again and again."""
    ask_and_read(target, metadata_of(*[VICTIM] * count), 9)


@attack(test=100, full=1_000, setup=thousand_partitions)
def metadata_of_one_large_topic(target: Target, count: int) -> None:
    """The same of a topic of a thousand partitions."""
    ask_and_read(target, metadata_of(*[VICTIM] * count), 9)


@attack(test=100_000, full=200_000, setup=one_topic)
def offsets_of_one_partition(target: Target, count: int) -> None:
    """ListOffsets of the same partition, again and again; its frame is decoded in slices."""
    partition = ListOffsetsRequest.Topic.Partition(partition_index=0, timestamp=-1)
    topic = ListOffsetsRequest.Topic(name=VICTIM, partitions=[partition] * count)
    ask_and_read(target, ListOffsetsRequest(replica_id=-1, topics=[topic]), 7)


@attack(test=20_000, full=200_000, setup=coordinators)
def committed_offsets_of_one_partition(target: Target, count: int) -> None:
    """OffsetFetch of the same partition, again and again."""
    topic = OffsetFetchRequest.Group.Topic(name=VICTIM, partition_indexes=[0] * count)
    group = OffsetFetchRequest.Group(group_id=VICTIM, topics=[topic])
    ask_and_read(target, OffsetFetchRequest(groups=[group]), 8)


@attack(test=10_000, full=100_000, setup=coordinators)
def coordinators_of_one_group(target: Target, count: int) -> None:
    """FindCoordinator of the same group, again and again."""
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=[VICTIM] * count)
    ask_and_read(target, request, 4)


@attack(test=500, full=20_000, setup=large_records)
def records_of_one_partition(target: Target, count: int) -> None:
    """Fetch of the same partition, again and again, each time for all it has."""
    request = fetch_request(
        *[asked(max_bytes=55 * LARGE)] * count, topic=VICTIM, max_bytes=2**31 - 1
    )
    ask_and_read(target, request, 4)
