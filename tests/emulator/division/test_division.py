"""A request divided: what is refused, what goes on, and in which order an answer has both."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.division.division import (
    ASKED_ANYWAY,
    ITEM,
    ORDERS,
    Refusal,
    divide,
)
from odradek.emulator.division.entries import Entry
from odradek.emulator.division.places import TOPIC, Part, answered, asked
from odradek.emulator.handlers.registry import SERVED
from odradek.wire import Error, Request
from odradek.wire.api import response_class
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from odradek.wire.api.metadata import MetadataRequest, MetadataResponse
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_delete import OffsetDeleteRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.schema import Struct

from tests.support.looped import for_each
from tests.wire.support.messages import full

FAILED, OTHER = Error.POLICY_VIOLATION, Error.REQUEST_TIMED_OUT
UNKNOWN = Error.UNKNOWN_TOPIC_OR_PARTITION


def no_name(topic_id: bytes) -> str:
    return topic_id.hex()


def structs(part: Part) -> set[str]:
    found = {part.struct.__qualname__} if part.struct is not None else set()
    return found.union(*(structs(below) for _, below in part.lists))


def lists(part: Part) -> set[str]:
    own = "" if part.struct is None else part.struct.__qualname__
    return {f"{own}.{name}" for name, _ in part.lists}.union(*(lists(b) for _, b in part.lists))


def test_the_tables_name_what_there_is() -> None:
    requests = [
        (each.request, version)
        for each in SERVED.values()
        for version in range(each.request.first_version, each.request.last_version + 1)
    ]
    asks = set().union(*(lists(asked(request, version)) for request, version in requests))
    answers = set().union(
        *(structs(answered(response_class(r.api_key), version)) for r, version in requests)
    )
    assert ASKED_ANYWAY - asks == set()
    assert ORDERS.keys() - answers == set()


# Which of two things that were asked for is refused, and how their answers stand then.
REFUSED_FIRST, REFUSED_LAST, IN_PLACE = "first", "last", "in place"
ORDER = {
    IN_PLACE: """
        AlterConfigs CreateAcls DeleteAcls DescribeProducers DescribeShareGroupOffsets
        DescribeTransactions FindCoordinator IncrementalAlterConfigs OffsetFetch
    """,
    REFUSED_FIRST: """
        ConsumerGroupDescribe DescribeGroups OffsetCommit OffsetDelete ShareGroupDescribe
        StreamsGroupDescribe TxnOffsetCommit
    """,
    REFUSED_LAST: """
        AlterShareGroupOffsets CreatePartitions CreateTopics DeleteGroups DeleteRecords
        DeleteShareGroupOffsets DeleteTopics DescribeConfigs ListOffsets Metadata
        OffsetForLeaderEpoch Produce ShareAcknowledge
    """,
}
BY_API = {api: order for order, names in ORDER.items() for api in names.split()}
"""As Kafka 4.3.1 answers who may do one of the two."""


def codes(item: Any, place: Part) -> list[int]:
    """The errors of an answer's smallest parts, in their order."""
    if not place.lists:
        return [getattr(item, place.code)]
    ((name, below),) = place.lists[:1]
    found = [code for each in getattr(item, name) for code in codes(each, below)]
    return found or ([getattr(item, place.code)] if place.code else [])


def a_request(api: str) -> tuple[Any, int]:
    request = next(e.request for e in SERVED.values() if e.request.__name__ == f"{api}Request")
    made: Any = full(request, request.last_version)
    if isinstance(made, MetadataRequest):
        for topic in made.topics or ():
            topic.name = None
    return made, request.last_version


@for_each("api", list(BY_API))
def test_an_answer_has_both_in_kafkas_order(api: str) -> None:
    request, version = a_request(api)
    place = answered(response_class(request.api_key), version)
    kind: type[Struct] = type(request)
    (list_name, *_) = (name for name, _ in asked(kind, version).lists)
    first, second = getattr(request, list_name)
    for refused, is_first in ((first, True), (second, False)):
        has_code = bool(place.lists[0][1].code)  # else its partitions have them
        refuse = {1: _this(refused)} if has_code else _below(refused)
        division = divide(request, version, no_name, refuse)
        assert division is not None
        assert division.rest is not None
        served = divide(division.rest, version, no_name, lambda entry: Refusal(OTHER))
        assert served is not None
        answer = served.answer()
        division.join(answer, beside_errors=True)
        comes_first = BY_API[api] == REFUSED_FIRST or (BY_API[api] == IN_PLACE and is_first)
        order = list(dict.fromkeys(codes(answer, place)))
        assert order == ([FAILED, OTHER] if comes_first else [OTHER, FAILED]), api


def _this(item: Any) -> Any:
    return lambda entry: Refusal(FAILED) if entry[ITEM] is item else None


def _below(item: Any) -> Any:
    name = getattr(item, "topic", None) or getattr(item, "topic_name", None)
    name = name or getattr(item, "name", None) or item.topic_id.hex()
    return lambda entry: Refusal(FAILED) if entry[TOPIC] == name else None


def list_offsets(*asked: tuple[str, list[int]]) -> ListOffsetsRequest:
    Topic = ListOffsetsRequest.Topic
    return ListOffsetsRequest(
        replica_id=-1,
        topics=[
            Topic(
                name=name,
                partitions=[Topic.Partition(partition_index=i, timestamp=-1) for i in indexes],
            )
            for name, indexes in asked
        ],
    )


def test_the_rest_of_a_topic_goes_on_and_has_one_place_in_the_answer() -> None:
    request = list_offsets(("a", [0, 1]), ("b", []), ("c", [0]))
    division = divide(
        request, 7, no_name, lambda e: Refusal(FAILED) if e.get("partition") == 0 else None
    )
    assert division is not None
    assert division.rest == list_offsets(("a", [1]), ("b", []))
    Topic = ListOffsetsResponse.Topic
    own = ListOffsetsResponse(
        topics=[
            Topic(name="a", partitions=[Topic.Partition(partition_index=1, offset=7)]),
            Topic(name="b", partitions=[]),
        ]
    )
    division.join(own)
    found = [
        (t.name, [(p.partition_index, p.error_code) for p in t.partitions]) for t in own.topics
    ]
    assert found == [("a", [(1, 0), (0, FAILED)]), ("b", []), ("c", [(0, FAILED)])]


def test_a_topic_without_partitions_is_refused_where_kafka_answers_by_topics() -> None:
    request = list_offsets(("a", []))
    division = divide(request, 7, no_name, lambda entry: Refusal(FAILED))
    assert division is not None
    assert division.rest is None
    assert [topic.name for topic in division.answer().topics] == ["a"]
    topics = [ProduceRequest.Topic(name="a", partition_data=[])]
    produced = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=topics)
    assert divide(produced, 9, no_name, lambda entry: Refusal(FAILED)) is None


def test_what_is_refused_says_what_it_is_about_and_what_is_added() -> None:
    request = DeleteTopicsRequest(
        topics=[DeleteTopicsRequest.Topic(name=None, topic_id=bytes([7] * 16))], timeout_ms=1000
    )
    also = {"name": "seven"}
    division = divide(request, 6, no_name, lambda entry: Refusal(FAILED, "no", also))
    assert division is not None
    (topic,) = division.answer().responses
    assert (topic.name, topic.topic_id) == ("seven", bytes([7] * 16))
    assert (topic.error_code, topic.error_message) == (FAILED, "no")


@pytest.mark.parametrize(
    ("request_", "version", "left"),
    [
        (full(OffsetDeleteRequest, 0), 0, True),
        (full(OffsetCommitRequest, 8), 8, False),
        (full(OffsetFetchRequest, 9), 9, True),
    ],
    ids=["OffsetDelete", "OffsetCommit", "OffsetFetch"],
)
def test_the_group_is_asked_where_nothing_else_is_left(
    request_: Request, version: int, left: bool
) -> None:
    division = divide(request_, version, no_name, lambda entry: Refusal(FAILED))
    assert division is not None
    assert (division.rest is not None) == left


def test_a_group_with_an_error_stands_alone_unless_a_test_refuses() -> None:
    request = full(OffsetFetchRequest, 9)
    division = divide(request, 9, no_name, lambda entry: Refusal(FAILED))
    assert division is not None
    groups = [
        OffsetFetchResponse.Group(group_id=g.group_id, topics=[], error_code=OTHER)
        for g in request.groups
    ]
    own = OffsetFetchResponse(groups=groups)
    division.join(own)
    assert [len(group.topics) for group in own.groups] == [0, 0]
    division.join(own, beside_errors=True)
    assert [len(group.topics) for group in own.groups] == [2, 2]


def test_all_topics_take_the_place_of_none_where_none_means_all() -> None:
    request = MetadataRequest(topics=[MetadataRequest.Topic(name="a")])
    division = divide(request, 0, no_name, lambda entry: Refusal(FAILED))
    assert division is not None
    assert isinstance(division.rest, MetadataRequest)
    assert division.rest.topics == []
    Topic = MetadataResponse.Topic
    topics = [Topic(name=name, partitions=[]) for name in ("b", "a")]
    own = MetadataResponse(brokers=[], topics=topics)
    division.join(own)
    assert [(topic.name, topic.error_code) for topic in own.topics] == [("a", FAILED)]


def test_topics_that_are_not_there_stand_with_those_that_are_refused() -> None:
    """As a commit of offsets is answered: first what fails, in the order of the request."""
    request = full(OffsetCommitRequest, 9)
    Topic = OffsetCommitRequest.Topic
    partition = request.topics[0].partitions[0]
    request.topics = [Topic(name=name, partitions=[partition]) for name in "abcda"]

    def refuse(entry: Entry) -> Refusal | None:
        return Refusal(FAILED) if entry[TOPIC] == "c" else None

    division = divide(request, 9, no_name, refuse)
    assert division is not None
    served = divide(
        division.rest or request,
        9,
        no_name,
        lambda entry: Refusal(UNKNOWN if entry[TOPIC] == "d" else OTHER),
    )
    assert served is not None
    answer = served.answer()
    division.join(answer)
    found = [(topic.name, [p.error_code for p in topic.partitions]) for topic in answer.topics]
    assert found == [("c", [FAILED]), ("d", [UNKNOWN]), ("a", [OTHER, OTHER]), ("b", [OTHER])]
