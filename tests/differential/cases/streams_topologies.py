"""Section N: the topics of a streams group's topology: which are missing, made, and checked."""

from __future__ import annotations

from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.metadata import MetadataRequest

from ..ask.consumer_groups import SETTLED_S, known_topic
from ..ask.streams_groups import (
    CREATED_S,
    TopicInfo,
    Topology,
    describe_streams,
    enters,
    internal,
    plain,
    rounds,
    stateful,
    stream_beat,
    stream_depart,
    stream_enter,
    streams_group,
    subtopology,
    tells,
    topology,
    words,
)
from ..ask.topics import create
from ..engine.steps import Ask, Sleep, Step, Steps
from . import case
from .streams_groups import log_of

_TOPIC = 2


def metadata(*names: str) -> Step:
    """Whether the topics are there, and their partitions."""
    topics = [MetadataRequest.Topic(name=name) for name in names]
    return Ask(MetadataRequest(topics=topics, allow_auto_topic_creation=False), 9)


def gone(name: str = "~t") -> Steps:
    """A topic is deleted, and the coordinator learns of it."""
    return [Ask(DeleteTopicsRequest(topic_names=[name], timeout_ms=9000), 5), Sleep(SETTLED_S)]


def grown(name: str, count: int) -> Steps:
    """A topic gets more partitions, and the coordinator learns of it."""
    topic = CreatePartitionsRequest.Topic(name=name, count=count, assignments=None)
    request = CreatePartitionsRequest(topics=[topic], timeout_ms=9000, validate_only=False)
    return [Ask(request), Sleep(SETTLED_S)]


def configs_of(name: str) -> Step:
    resource = DescribeConfigsRequest.Resource(
        resource_type=_TOPIC,
        resource_name=name,
        configuration_keys=["cleanup.policy", "retention.ms", "segment.bytes"],
    )
    return Ask(DescribeConfigsRequest(resources=[resource]), 1)


@case("N29, N30")
def internal_topics_are_made() -> Steps:
    return [
        *known_topic("~t", 3),
        Ask(stream_enter("a", words())),
        Sleep(CREATED_S),
        Ask(describe_streams()),
        metadata("~words-repartition", "~counts-changelog"),
        configs_of("~words-repartition"),
        configs_of("~counts-changelog"),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("a", 3)),
        Ask(describe_streams()),
        Ask(stream_enter("b", words())),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N30")
def internal_topics_with_numbers_and_configs_of_their_own() -> Steps:
    by_word = internal("~words-repartition", 5, 1, retention_ms="-1", segment_bytes="52428800")
    counts = internal("~counts-changelog", 0, 1, cleanup_policy="compact,delete")
    topology_with = topology(
        subtopology("0", "~t", writes=["~words-repartition"]),
        subtopology("1", reads=[by_word], changelogs=[counts]),
    )
    return [
        *known_topic("~t", 3),
        Ask(stream_enter("a", topology_with)),
        Sleep(CREATED_S),
        metadata("~words-repartition", "~counts-changelog"),
        configs_of("~words-repartition"),
        configs_of("~counts-changelog"),
        Ask(stream_beat("a", 2)),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N30")
def internal_topics_that_cannot_be_made() -> Steps:
    def topology_with(*changelogs: TopicInfo) -> Topology:
        return topology(subtopology("0", "~t", changelogs=changelogs))

    return [
        *known_topic("~t", 3),
        Ask(stream_enter("a", topology_with(internal("~c", replication=3)), group="~replicated")),
        Sleep(CREATED_S),
        Ask(stream_beat("a", 2, group="~replicated")),
        Ask(
            stream_enter("a", topology_with(internal("~d", retention_ms="x")), group="~configured")
        ),
        Sleep(CREATED_S),
        Ask(stream_beat("a", 2, group="~configured")),
        Ask(stream_enter("a", topology_with(internal("~not a name")), group="~named")),
        Sleep(CREATED_S),
        Ask(stream_beat("a", 2, group="~named")),
        Ask(stream_enter("a", topology_with(internal("~e", unknown="1")), group="~unknown")),
        Sleep(CREATED_S),
        Ask(stream_beat("a", 2, group="~unknown")),
        metadata("~c", "~d", "~e"),
        Ask(describe_streams("~replicated", "~configured", "~named", "~unknown")),
    ]


@case("N30")
def internal_topics_that_are_there_already() -> Steps:
    return [
        *known_topic("~t", 3),
        *known_topic("~counts-changelog", 3),
        Ask(stream_enter("a", words())),
        Sleep(CREATED_S),
        Ask(stream_beat("a", 2)),
        *known_topic("~store-changelog", 2),
        Ask(stream_enter("a", stateful(), group="~h")),
        Ask(stream_beat("a", 2, group="~h")),
        Ask(describe_streams("~g", "~h")),
        *log_of("~h"),
    ]


@case("N29")
def source_topics_that_are_missing() -> Steps:
    topology_with = topology(
        subtopology("0", "~t", "~none"), subtopology("1", "~a", "~b", "~c"), subtopology("2", "~z")
    )
    return [
        *known_topic("~t", 2),
        Ask(stream_enter("a", topology_with)),
        Ask(stream_enter("b", topology_with)),
        Ask(stream_beat("a", 2)),
        Ask(describe_streams()),
        create("~none", 1),
        *(create(f"~{name}", 2) for name in "abc"),
        Sleep(SETTLED_S),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("b", 3)),
        create("~z", 4),
        Sleep(SETTLED_S),
        Ask(stream_beat("a", 4)),
        Ask(stream_beat("b", 3)),
        Ask(stream_beat("b", 4)),
        Ask(stream_beat("a", 5)),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N29, N33")
def topics_come_and_go() -> Steps:
    return [
        *known_topic("~t", 2),
        enters("a", stateful()),
        *rounds("a", times=2),
        *gone(),
        tells("a"),
        Ask(describe_streams()),
        *rounds("a"),
        *known_topic("~t", 2),
        *rounds("a"),
        *gone("~store-changelog"),
        tells("a"),
        Sleep(CREATED_S),
        *rounds("a"),
        *gone(),
        *known_topic("~t", 2),
        *rounds("a"),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N29")
def topics_grow() -> Steps:
    return [
        *known_topic("~t", 2),
        enters("a", stateful()),
        *rounds("a", times=2),
        *grown("~t", 4),
        tells("a"),
        Ask(describe_streams()),
        *rounds("a"),
        *grown("~store-changelog", 4),
        *rounds("a"),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N29")
def a_stateless_topology_grows() -> Steps:
    return [
        *streams_group(2),
        *grown("~t", 3),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("a", 3)),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N29")
def copartitioned_topics() -> Steps:
    pair = topology(subtopology("0", "~t", "~u", together=[([0, 1], [])]))
    free = topology(
        subtopology("0", "~t", writes=["~r"]),
        subtopology("1", "~u", reads=[internal("~r")], together=[([0], [0])]),
    )
    fixed = topology(
        subtopology("0", "~t", writes=["~r2"]),
        subtopology("1", "~u", reads=[internal("~r2", 5)], together=[([0], [0])]),
    )
    inner = topology(
        subtopology("0", "~t", writes=["~x"]),
        subtopology("1", "~u", writes=["~y"]),
        subtopology("2", reads=[internal("~x"), internal("~y")], together=[([], [0, 1])]),
    )
    odd = topology(
        subtopology("0", "~t", writes=["~x2"]),
        subtopology("1", "~u", writes=["~y2"]),
        subtopology("2", reads=[internal("~x2", 2), internal("~y2", 3)], together=[([], [0, 1])]),
    )
    topology_with = {"~pair": pair, "~free": free, "~fixed": fixed, "~inner": inner, "~odd": odd}
    steps: Steps = [*known_topic("~t", 2), *known_topic("~u", 3)]
    for group, each in topology_with.items():
        steps += [
            Ask(stream_enter("a", each, group=group)),
            Sleep(CREATED_S),
            Ask(stream_beat("a", 2, group=group)),
        ]
    return [
        *steps,
        metadata("~r", "~r2"),
        metadata("~x", "~y", "~x2", "~y2"),
        Ask(describe_streams(*topology_with)),
        *grown("~t", 3),
        *(Ask(stream_beat("a", 2, group=group)) for group in topology_with),
        Ask(describe_streams(*topology_with)),
        *log_of("~pair"),
    ]


@case("N30, N35")
def topics_of_two_applications() -> Steps:
    return [
        *known_topic("~t", 2),
        Ask(stream_enter("a", stateful())),
        Ask(stream_enter("a", stateful(), group="~h")),
        Sleep(CREATED_S),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("a", 2, group="~h")),
        Ask(stream_depart("a")),
        metadata("~store-changelog"),
        Ask(stream_enter("b", plain())),
        Ask(stream_enter("b", stateful())),
        Ask(describe_streams("~g", "~h")),
    ]
