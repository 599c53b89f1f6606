"""OffsetDelete (semantics G28, KIP-496): offsets of topics that nobody in the group reads."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.offset_delete import OffsetDeleteRequest

from tests.requests.committed_offsets import commit, committed
from tests.requests.consumer_groups import beat
from tests.requests.groups import joined, leave_request, subscription, sync_request
from tests.support.cluster import Client
from tests.support.versions import first_and_last

(VERSION,) = first_and_last(OffsetDeleteRequest)


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    for name in ("t", "u"):
        cluster.create_topic(name, 2, {})
    cluster.groups.ensure_topic()


def delete(
    client: Client, *topics: tuple[str, list[int]], group: str = "g"
) -> tuple[Error, list[tuple[str, int, Error]]]:
    """The error of the whole; topic, partition and error of each, in the order of the answer."""
    Topic = OffsetDeleteRequest.Topic
    wanted = [
        Topic(name=name, partitions=[Topic.Partition(partition_index=n) for n in indexes])
        for name, indexes in topics
    ]
    answer = client.ask(OffsetDeleteRequest(group_id=group, topics=wanted), VERSION)
    return Error(answer.error_code), [
        (topic.name, part.partition_index, Error(part.error_code))
        for topic in answer.topics
        for part in topic.partitions
    ]


def test_offsets_go_and_what_was_never_committed_is_no_error(client: Client) -> None:
    assert commit(client, 5) is Error.NONE
    gone = [("t", 0, Error.NONE), ("t", 1, Error.NONE)]
    assert delete(client, ("t", [0, 1])) == (Error.NONE, gone)
    assert committed(client).committed_offset == -1


def test_what_is_named_twice_is_deleted_twice(cluster: Cluster, client: Client) -> None:
    commit(client, 5)
    logs = [each.log for each in cluster.topic("__consumer_offsets").partitions]
    before = sum(log.log_end_offset for log in logs)
    gone = [("t", 0, Error.NONE)] * 2
    assert delete(client, ("t", [0]), ("t", [0])) == (Error.NONE, gone)
    assert sum(log.log_end_offset for log in logs) == before + 2
    assert committed(client).committed_offset == -1


def test_what_does_not_exist_comes_first(client: Client) -> None:
    commit(client, 5)
    unknown = Error.UNKNOWN_TOPIC_OR_PARTITION
    assert delete(client, ("t", [0, 9]), ("none", [0])) == (
        Error.NONE,
        [("t", 9, unknown), ("t", 0, Error.NONE), ("none", 0, unknown)],
    )


@pytest.mark.parametrize(
    ("group", "error"), [("none", Error.GROUP_ID_NOT_FOUND), ("", Error.INVALID_GROUP_ID)]
)
def test_there_must_be_such_a_group(client: Client, group: str, error: Error) -> None:
    assert delete(client, ("t", [0]), group=group) == (error, [])


def test_a_topic_that_a_member_reads_is_kept(client: Client) -> None:
    member = stable_reader(client)
    assert delete(client, ("t", [0]), ("u", [0])) == (
        Error.NONE,
        [("t", 0, Error.GROUP_SUBSCRIBED_TO_TOPIC), ("u", 0, Error.NONE)],
    )
    client.ask(leave_request(member), 5)
    assert delete(client, ("t", [0])) == (Error.NONE, [("t", 0, Error.NONE)])


def stable_reader(client: Client) -> str:
    """A classic consumer of t, whose group is Stable; its id."""
    member = joined(client, metadata=subscription("t"))
    assert client.ask(sync_request(member), 3).error_code == 0
    return str(member.member_id)


def test_of_what_a_member_reads_that_does_not_say_it_nothing_is_known(client: Client) -> None:
    member = joined(client, metadata=b"?")
    assert client.ask(sync_request(member), 3).error_code == 0
    _, ((*_, error),) = delete(client, ("u", [0]))
    assert error is Error.GROUP_SUBSCRIBED_TO_TOPIC


def test_a_consumer_groups_topics_are_kept_too(client: Client) -> None:
    assert beat(client).error_code == 0
    _, answers = delete(client, ("t", [0]), ("u", [0]))
    assert [error for *_, error in answers] == [Error.GROUP_SUBSCRIBED_TO_TOPIC, Error.NONE]
