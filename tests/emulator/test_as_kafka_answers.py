"""Single answers that the differential engine found to be unlike Apache Kafka's."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import NO_ID
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.batch import checksum

from tests.differential.ask.groups import commit, offsets_of
from tests.differential.ask.records import (
    fetch,
    fetch_all,
    list_offsets,
    produce,
    produce_all,
    wanted,
)
from tests.requests.produce import batch
from tests.support.clock import NOW
from tests.support.cluster import Client


@pytest.fixture(autouse=True)
def topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 2, {})


def rows(answer: Any) -> list[tuple[str, int, int]]:
    """Topic, partition and error of each partition in an answer, in its order."""
    topics = answer.responses if hasattr(answer, "responses") else answer.topics
    return [
        (
            getattr(topic, "name", "") or getattr(topic, "topic", ""),
            getattr(part, "index", getattr(part, "partition_index", -1)),
            part.error_code,
        )
        for topic in topics
        for part in getattr(topic, "partition_responses", getattr(topic, "partitions", ()))
    ]


def produced(client: Client, request: Any, version: int = 9) -> Any:
    return client.ask(request, version).responses[0].partition_responses[0]


def test_a_partition_named_under_two_topic_entries_gets_the_last_batch(client: Client) -> None:
    request = produce_all(
        ("t", 0, batch(b"first")), ("t", 1, batch(b"x")), ("t", 0, batch(b"last"))
    )
    assert rows(client.ask(request, 9)) == [("t", 0, 0), ("t", 1, 0)]
    assert client.cluster.partition("t", 0).log_end_offset == 1


def test_the_error_of_an_earlier_entry_is_answered_though_the_last_is_stored(
    client: Client,
) -> None:
    request = produce_all(("t", 0, b""), ("t", 0, batch(b"good")))
    assert rows(client.ask(request, 9)) == [("t", 0, 87)]
    assert client.cluster.partition("t", 0).log_end_offset == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (bytes(30), "Record size 0 is less than the minimum record overhead (14)"),
        (
            bytes(8) + b"\0\0\0\x40" + bytes(4) + b"\5" + bytes(64),
            "Invalid magic found in record: 5",
        ),
    ],
)
def test_data_that_begins_with_no_batch_refuses_the_whole_request(
    client: Client, data: bytes, message: str
) -> None:
    answer = client.ask(produce_all(("t", 0, batch(b"good")), ("none", 0, data)), 9)
    assert rows(answer) == [("t", 0, 2), ("none", 0, 2)]
    assert answer.responses[0].partition_responses[0].error_message == message
    assert client.cluster.partition("t", 0).log_end_offset == 0


@pytest.mark.parametrize(("version", "log_start"), [(6, -1), (7, 0)])
def test_a_codec_that_does_not_exist_is_found_earlier_before_version_7(
    client: Client, version: int, log_start: int
) -> None:
    broken = batch(b"x")
    broken[22] = 5
    broken[17:21] = checksum(broken, 0, len(broken)).to_bytes(4, "big")
    answer = produced(client, produce(broken, "t"), version)
    assert (answer.error_code, answer.log_start_offset) == (-1, log_start)


def test_before_version_7_a_codec_that_does_not_exist_refuses_the_whole_request(
    client: Client,
) -> None:
    broken = batch(b"x")
    broken[22] = 7
    request = produce_all(("t", 0, batch(b"good")), ("t", 1, broken), ("none", 0, b""))
    assert rows(client.ask(request, 6)) == [("t", 0, -1), ("t", 1, -1), ("none", 0, -1)]
    assert client.cluster.partition("t", 0).log_end_offset == 0


def test_a_record_that_is_refused_is_told_why(cluster: Cluster, client: Client) -> None:
    cluster.create_topic("c", 1, {"cleanup.policy": "compact"})
    answer = produced(client, produce(batch(b"x", key=None), "c"))
    assert answer.record_errors[0].batch_index_error_message == (
        "Compacted topic cannot accept message without key in topic partition c-0"
    )
    cluster.create_topic("b", 1, {"message.timestamp.before.max.ms": "1000"})
    answer = produced(client, produce(batch(b"x", time=NOW - 5000), "b"))
    assert answer.record_errors[0].batch_index_error_message == (
        f"Timestamp {NOW - 5000} of message with offset 0 is out of range. The timestamp should be"
        f" within [{NOW - 1000}, {NOW + 3_600_000}]"
    )
    cluster.create_topic("l", 1, {"message.timestamp.type": "LogAppendTime"})
    answer = produced(client, produce(batch(b"x", log_append_time=NOW), "l"))
    assert answer.record_errors[0].batch_index_error_message == (
        f"Invalid timestamp type in message DefaultRecord(offset=0, timestamp={NOW}, key=1 bytes,"
        " value=1 bytes). Producer should not set timestamp type to LogAppendTime."
    )


def test_a_batch_of_half_a_producer_cannot_be_recompressed(
    cluster: Cluster, client: Client
) -> None:
    cluster.create_topic("z", 1, {"compression.type": "gzip"})
    for producer_id, epoch, sequence in ((7, -1, 0), (-2, -1, 0), (-2, 0, -1)):
        incomplete = batch(
            b"x", producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence
        )
        assert produced(client, produce(incomplete, "z")).error_code == -1


def test_what_does_not_exist_is_answered_last_in_a_fetch(client: Client) -> None:
    answer = client.ask(fetch_all(("none", [wanted()]), ("t", [wanted(), wanted(0, 9)])), 12)
    assert rows(answer) == [("t", 0, 0), ("none", 0, 3), ("t", 9, 3)]


def test_only_a_partition_that_is_not_looked_for_has_an_empty_list_of_aborts(
    client: Client,
) -> None:
    unknown = client.ask(fetch(name="none"), 13).responses[0].partitions[0]
    assert (unknown.error_code, unknown.aborted_transactions) == (100, [])
    beyond = client.ask(fetch(9, "t", isolation_level=1), 12).responses[0].partitions[0]
    assert (beyond.error_code, beyond.aborted_transactions) == (1, None)


def test_an_isolation_level_that_does_not_exist_refuses_the_whole_fetch(client: Client) -> None:
    answer = client.ask(fetch(name="t", isolation_level=2), 12)
    assert (answer.error_code, rows(answer)) == (-1, [("t", 0, -1)])
    topic_id = client.cluster.topic("t").id
    by_id = FetchRequest.Topic(topic_id=topic_id, partitions=[wanted()])
    refused = FetchRequest(max_wait_ms=0, min_bytes=0, isolation_level=2, topics=[by_id])
    answer = client.ask(refused, 13)
    assert (answer.error_code, answer.responses) == (-1, [])


def test_a_stranger_replica_that_names_the_epoch_is_told_to_wait(client: Client) -> None:
    def error(epoch: int) -> int:
        answer = client.ask(fetch(name="t", replica_id=7, current_leader_epoch=epoch), 12)
        code: int = answer.responses[0].partitions[0].error_code
        return code

    assert (error(-1), error(0), error(5)) == (6, 75, 75)


def test_an_offset_is_looked_at_before_the_limits(client: Client) -> None:
    def error(offset: int, limit: int) -> int:
        answer = client.ask(fetch(offset, "t", partition_max_bytes=limit), 12)
        code: int = answer.responses[0].partitions[0].error_code
        return code

    client.ask(produce(batch(b"x"), "t"), 9)
    assert [error(0, -1), error(1, -1), error(2, -1), error(2, 0)] == [-1, 0, 1, 1]


def test_a_new_session_forgets_nothing(client: Client) -> None:
    forgotten = [FetchRequest.ForgottenTopic(topic="t", partitions=[0])]
    opening = fetch(name="t", session_epoch=0, forgotten_topics_data=forgotten)
    assert rows(client.ask(opening, 12)) == [("t", 0, 0)]


def test_a_session_that_is_emptied_is_served_as_none(client: Client) -> None:
    session = client.ask(fetch(name="t", session_epoch=0), 12).session_id
    forgotten = [FetchRequest.ForgottenTopic(topic="t", partitions=[0])]
    request = fetch(name="t", session_id=session, session_epoch=1, forgotten_topics_data=forgotten)
    answer = client.ask(request, 12)
    assert (answer.session_id, rows(answer)) == (0, [("t", 0, 0)])


def test_the_first_answer_of_a_session_does_not_turn_its_order(client: Client) -> None:
    client.ask(produce(batch(b"x"), "t"), 9)
    both = fetch_all(("t", [wanted(), wanted(0, 1)]), session_epoch=0)
    session = client.ask(both, 12).session_id
    failing = fetch(9, "t", 1, session_id=session, session_epoch=1)
    assert rows(client.ask(failing, 12)) == [("t", 0, 0), ("t", 1, 1)]


def test_times_that_were_not_given_do_not_lower_the_largest_time(client: Client) -> None:
    client.ask(produce(batch(b"x", time=-5), "t"), 9)
    data = client.ask(fetch(name="t"), 12).responses[0].partitions[0].records
    assert int.from_bytes(bytes(data[35:43]), "big", signed=True) == -1


def test_listing_judges_the_request_before_the_partition(client: Client) -> None:
    assert rows(client.ask(list_offsets(-5, name="none"), 6)) == [("none", 0, 35)]
    assert rows(client.ask(list_offsets(-1, name="t", epoch=-2), 6)) == [("t", 0, 74)]
    twice = client.ask(list_offsets(-1, -2, name="t"), 6)
    assert (len(twice.topics), rows(twice)) == (1, [("t", 0, 42)])
    odd = client.ask(list_offsets(-1, -2, name="t", isolation=2), 6)
    assert rows(odd) == [("t", 0, -1), ("t", 0, -1)]


def test_topics_with_a_refused_partition_are_answered_first_in_a_commit(client: Client) -> None:
    client.cluster.groups.ensure_topic()
    request = commit(("t", 0, 1), ("none", 0, 1), ("t", 9, 1), group="g")
    assert rows(client.ask(request, 8)) == [("none", 0, 3), ("t", 9, 3), ("t", 0, 0)]
    assert [topic.name for topic in client.ask(request, 8).topics] == ["none", "t"]


def test_committed_offsets_are_answered_as_asked_and_unknown_ids_last(client: Client) -> None:
    client.cluster.groups.ensure_topic()
    answer = client.ask(offsets_of("g", [("t", []), ("u", [1, 0])]), 5)
    assert [(t.name, len(t.partitions)) for t in answer.topics] == [("t", 0), ("u", 2)]
    request = offsets_of("g", [("", [0]), ("", [0])])
    topics = request.groups[0].topics
    assert topics is not None
    topics[1].topic_id = client.cluster.topic("t").id
    assert [t.partitions[0].error_code for t in client.ask(request, 10).groups[0].topics] == [
        0,
        100,
    ]


def test_a_producer_id_without_an_epoch_is_refused(client: Client) -> None:
    request = InitProducerIdRequest(
        transactional_id=None, transaction_timeout_ms=1, producer_id=5, producer_epoch=-1
    )
    assert client.ask(request, 3).error_code == 42


def test_one_unknown_kind_of_resource_refuses_the_whole_description(client: Client) -> None:
    resource = DescribeConfigsRequest.Resource
    resources = [
        resource(resource_type=kind, resource_name="t", configuration_keys=None) for kind in (2, 3)
    ]
    answer = client.ask(DescribeConfigsRequest(resources=resources), 4)
    assert [result.error_code for result in answer.results] == [42, 42]


def test_a_page_leaves_out_bad_names_before_its_cursor(client: Client) -> None:
    topic = DescribeTopicPartitionsRequest.Topic
    cursor = DescribeTopicPartitionsRequest.Cursor(topic_name="t", partition_index=0)
    names = [topic(name=name) for name in ("", "a b", "t")]
    answer = client.ask(DescribeTopicPartitionsRequest(topics=names, cursor=cursor), 0)
    assert [topic.name for topic in answer.topics] == ["t"]


def test_an_empty_name_is_an_error_of_the_whole_only_without_a_cursor(client: Client) -> None:
    topics = [DescribeTopicPartitionsRequest.Topic(name="")]
    cursor = DescribeTopicPartitionsRequest.Cursor(topic_name="", partition_index=0)
    whole = client.ask(DescribeTopicPartitionsRequest(topics=topics), 0)
    single = client.ask(DescribeTopicPartitionsRequest(topics=topics, cursor=cursor), 0)
    assert [a.topics[0].error_code for a in (whole, single)] == [-1, 17]


def test_without_time_only_what_needs_no_look_is_refused_by_itself(client: Client) -> None:
    def delete(*names: str) -> list[int]:
        request = DeleteTopicsRequest(topic_names=list(names), timeout_ms=0)
        return [each.error_code for each in client.ask(request, 5).responses]

    def grow(*names: str) -> list[int]:
        topics = [CreatePartitionsRequest.Topic(name=n, count=5, assignments=None) for n in names]
        request = CreatePartitionsRequest(topics=topics, timeout_ms=0, validate_only=False)
        return [each.error_code for each in client.ask(request, 3).results]

    def make(*names: str) -> list[int]:
        made = CreateTopicsRequest.Topic
        topics = [
            made(name=n, num_partitions=1, replication_factor=1, assignments=[], configs=[])
            for n in names
        ]
        request = CreateTopicsRequest(topics=topics, timeout_ms=0)
        return [each.error_code for each in client.ask(request, 7).topics]

    for ask in (delete, grow, make):
        assert ask("x", "x") == [42]
        assert ask("x", "x", "t") == [7, 7, 7]
    neither = DeleteTopicsRequest(
        topics=[DeleteTopicsRequest.Topic(name=None, topic_id=NO_ID)], timeout_ms=0
    )
    assert client.ask(neither, 6).responses[0].error_code == 42


def test_brokers_of_an_assignment_are_judged_in_their_order(client: Client) -> None:
    part = CreatePartitionsRequest.Topic
    asked = part(name="t", count=3, assignments=[part.Assignment(broker_ids=[1, 2, 1])])
    request = CreatePartitionsRequest(topics=[asked], timeout_ms=5000, validate_only=False)
    assert client.ask(request, 3).results[0].error_message == (
        "The manual partition assignment includes the broker 1 more than once."
    )
