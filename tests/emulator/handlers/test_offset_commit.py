"""OffsetCommit (semantics F5, G10): what is remembered, in every version, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.offset_commit import OffsetCommitRequest

from tests.requests.committed_offsets import commit, commit_all, commit_request, committed
from tests.requests.groups import joined, stable
from tests.support.cluster import Client
from tests.support.versions import first_and_last

VERSIONS = range(first_and_last(OffsetCommitRequest)[0], first_and_last(OffsetCommitRequest)[1] + 1)


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    cluster.create_topic("t", 2, {})
    cluster.groups.ensure_topic()


def codes(client: Client, request: OffsetCommitRequest, version: int = 9) -> list[Any]:
    """Topic, partition and error of each partition, in the order of the answer."""
    return [
        (topic.name, part.partition_index, part.error_code)
        for topic in client.ask(request, version).topics
        for part in topic.partitions
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_an_offset_is_remembered_in_every_version(
    cluster: Cluster, client: Client, version: int
) -> None:
    topic_id = cluster.topic("t").id
    error = commit(client, 42, topic_id=topic_id, metadata="here", version=version)
    assert error is Error.NONE
    found = committed(client)
    assert (found.committed_offset, found.metadata, found.error_code) == (42, "here", 0)


def test_what_does_not_exist_comes_first_and_does_not_keep_the_rest(client: Client) -> None:
    request = commit_all(("t", 0, 7), ("none", 0, 1), ("t", 9, 1))
    assert codes(client, request) == [("none", 0, 3), ("t", 9, 3), ("t", 0, 0)]
    assert [topic.name for topic in client.ask(request, 8).topics] == ["none", "t"]
    assert committed(client).committed_offset == 7


def test_an_unknown_topic_id_has_an_error_of_its_own(client: Client) -> None:
    request = commit_request(7, topic_id=b"x" * 16)
    answer = client.ask(request, 10)
    assert answer.topics[0].topic_id == b"x" * 16
    assert answer.topics[0].partitions[0].error_code == Error.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize("offset", [0, -1, -7])
def test_any_offset_is_taken(client: Client, offset: int) -> None:
    assert commit(client, offset) is Error.NONE
    assert committed(client).committed_offset == offset


def test_metadata_has_a_length_in_characters(client: Client) -> None:
    assert commit(client, 1, metadata="é" * 4096) is Error.NONE
    assert commit(client, 2, metadata="é" * 4097) is Error.OFFSET_METADATA_TOO_LARGE
    assert committed(client).committed_offset == 1


@pytest.mark.parametrize(
    ("version", "error"), [(8, Error.ILLEGAL_GENERATION), (9, Error.GROUP_ID_NOT_FOUND)]
)
def test_a_generation_needs_a_group(client: Client, version: int, error: Error) -> None:
    more = {"member_id": "m", "generation_id_or_member_epoch": 1}
    assert commit(client, 1, version=version, **more) is error


@pytest.mark.parametrize(
    ("generation", "member", "error"),
    [
        (1, "its own", Error.NONE),
        (2, "its own", Error.ILLEGAL_GENERATION),
        (-1, "its own", Error.ILLEGAL_GENERATION),
        (-1, "", Error.UNKNOWN_MEMBER_ID),
        (1, "", Error.UNKNOWN_MEMBER_ID),
        (1, "another", Error.UNKNOWN_MEMBER_ID),
    ],
)
def test_in_a_group_with_members_only_members_commit(
    client: Client, generation: int, member: str, error: Error
) -> None:
    member_id = stable(client).member_id if member == "its own" else member
    if member != "its own":
        stable(client)
    more = {"member_id": member_id, "generation_id_or_member_epoch": generation}
    assert commit(client, 1, version=9, **more) is error


def test_before_everybody_has_synced_nobody_commits(client: Client) -> None:
    member = joined(client)
    more: dict[str, Any] = {"member_id": member.member_id, "generation_id_or_member_epoch": 1}
    assert commit(client, 1, **more) is Error.REBALANCE_IN_PROGRESS
    more["generation_id_or_member_epoch"] = 2
    assert commit(client, 1, **more) is Error.ILLEGAL_GENERATION
