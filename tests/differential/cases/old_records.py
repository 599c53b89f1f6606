"""Section L: what releases up to 3.9 write of groups, and which levels of features they keep.

These run only where both brokers convert: `--kafka-version 3.9`.
"""

from __future__ import annotations

from typing import Any

from odradek.wire.api.describe_quorum import DescribeQuorumRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest

from ..ask import cluster as ask
from ..ask.batches import TIME
from ..ask.consumer_groups import delete_groups
from ..ask.groups import commit
from ..ask.topics import create
from ..engine.steps import Ask, Steps
from . import case
from .cluster_features import FEATURES, SAFE, UP
from .group_records import (
    how_a_classic_group_is_written,
    how_a_static_member_that_comes_back_is_written,
    how_conversions_are_written,
    log_of,
    refused_joins_are_not_written,
    what_transactions_write,
)


def stamped(when: int, **more: Any) -> OffsetCommitRequest:
    """A commit that says when it was made."""
    request = commit(("~t", 0, 5), **more)
    request.topics[0].partitions[0].commit_timestamp = when
    return request


@case("L25, F2")
def how_offsets_were_written() -> Steps:
    kept = [(version, ms) for version in (2, 3, 4) for ms in (-2, -1, 0, 60_000)]
    return [
        create(),
        *(Ask(commit(("~t", 0, version)), version) for version in range(1, 10)),
        *(Ask(stamped(when), 1) for when in (TIME, 0, -2)),
        *(Ask(commit(("~t", 0, 5), retention_time_ms=ms), version) for version, ms in kept),
        Ask(commit(("~t", 0, 5), generation=3), 9),
        Ask(commit(("~t", 0, 5), group="~h", generation=3), 9),
        *log_of("~g", "~h"),
        delete_groups(),
        *log_of(),
    ]


@case("L25, F3")
def how_classic_groups_were_written() -> Steps:
    return how_a_classic_group_is_written()


@case("L25, F3, G7")
def how_static_members_that_came_back_were_written() -> Steps:
    return how_a_static_member_that_comes_back_is_written()


@case("L25, F3")
def refused_joins_were_not_written() -> Steps:
    return refused_joins_are_not_written()


@case("L25, F4, F8")
def what_transactions_wrote() -> Steps:
    return what_transactions_write()


@case("L25, G26")
def consumer_groups_that_were_not_served() -> Steps:
    return how_conversions_are_written()


@case("L29, I12")
def levels_of_features_that_were_like_others() -> Steps:
    """That of the quorum's own version too, which changes nothing of the quorum."""
    topic = DescribeQuorumRequest.Topic
    quorum = DescribeQuorumRequest(
        topics=[
            topic(topic_name="__cluster_metadata", partitions=[topic.Partition(partition_index=0)])
        ]
    )
    name = "kraft.version"
    return [
        Ask(ask.features((name, 0, UP), ("nonsense", 0, UP), ("metadata.version", 21, UP)), 1),
        FEATURES,
        Ask(ask.features((name, 1, UP)), 1),
        FEATURES,
        Ask(quorum),
        Ask(ask.features((name, 0, UP)), 1),
        Ask(ask.features((name, 0, SAFE)), 1),
        FEATURES,
    ]
