"""What the topics make of a topology (semantics N28-N30): numbers of partitions, and what is
missing or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from odradek.emulator.groups.streams.topology import (
    Configured,
    StatusCode,
    Topology,
    configure,
    topology_value,
)
from odradek.emulator.groups.topics_view import TopicsView
from odradek.wire import Error, Refused

from tests.requests.streams_groups import Subtopology, subtopology, topic_info, topology


class _Topic:
    def __init__(self, name: str, count: int) -> None:
        self.name = name
        self.id = name.encode().ljust(16)
        self.partitions = range(count)


class _Topics:
    generation = 1

    def __init__(self, counts: dict[str, int]) -> None:
        self._topics = {name: _Topic(name, count) for name, count in counts.items()}

    def get(self, name: str, /) -> _Topic | None:
        return self._topics.get(name)

    def by_id(self, topic_id: bytes, /) -> _Topic | None:
        raise NotImplementedError

    def __iter__(self) -> Iterator[_Topic]:
        return iter(self._topics.values())


def _configured(topics: dict[str, int], *subtopologies: Subtopology, epoch: int = 0) -> Configured:
    brought = Topology(topology_value(topology(*subtopologies, epoch=epoch)))
    return configure(brought, TopicsView(_Topics(topics), lambda: 0))


def _problem(configured: Configured) -> tuple[int, str] | None:
    found = configured.problem
    return None if found is None else (found.status_code, found.status_detail)


def _missing(configured: Configured) -> dict[str, int]:
    return {name: topic.partitions for name, topic in configured.missing.items()}


def _tasks(configured: Configured) -> dict[str, int]:
    return {name: each.tasks for name, each in (configured.subtopologies or {}).items()}


COUNTING = (
    subtopology("0", ["t"], sinks=["r"]),
    subtopology("1", [], repartition=["r"], changelogs=["c"]),
)


def test_numbers_follow_from_the_topics_that_are_read() -> None:
    made = _configured({"t": 3}, *COUNTING)
    assert (_tasks(made), _missing(made)) == ({"0": 3, "1": 3}, {"r": 3, "c": 3})
    assert _problem(made) == (
        StatusCode.MISSING_INTERNAL_TOPICS,
        "Internal topics are missing: r, c",
    )
    done = _configured({"t": 3, "r": 3, "c": 3}, *COUNTING)
    assert (done.is_ready, _missing(done)) == (True, {})


def test_a_given_number_of_partitions_is_taken() -> None:
    made = _configured(
        {"t": 3},
        subtopology("0", ["t"], sinks=["r"]),
        subtopology("1", [], repartition=[topic_info("r", 5, 2, cleanup_policy="delete")]),
        subtopology("2", ["t"], repartition=["r"], changelogs=["c"]),
    )
    assert (_tasks(made), _missing(made)) == ({"0": 3, "1": 5, "2": 5}, {"r": 5, "c": 5})


def test_repartition_topics_follow_each_other() -> None:
    made = _configured(
        {"t": 2},
        subtopology("0", [], repartition=["b"]),
        subtopology("1", [], repartition=["a"], sinks=["b"]),
        subtopology("2", ["t"], sinks=["a"]),
    )
    assert _missing(made) == {"a": 2, "b": 2}


def test_joined_topics_have_the_same_number_of_partitions() -> None:
    joins = subtopology("1", ["u"], repartition=["r"], joined=[([0], [0])])
    made = _configured({"t": 2, "u": 4}, subtopology("0", ["t"], sinks=["r"]), joins)
    assert _missing(made) == {"r": 4}
    both = subtopology("0", ["t", "u"], joined=[([0, 1], [])])
    assert _problem(_configured({"t": 2, "u": 4}, both)) == (
        StatusCode.INCORRECTLY_PARTITIONED_TOPICS,
        "Following topics do not have the same number of partitions: [{t=2, u=4}]",
    )
    internal = subtopology(
        "1", [], repartition=[topic_info("r", 3), topic_info("s", 5)], joined=[([], [0, 1])]
    )
    assert _problem(_configured({"t": 2}, subtopology("0", sinks=["r", "s"]), internal)) == (
        StatusCode.INCORRECTLY_PARTITIONED_TOPICS,
        "Following topics do not have the same number of partitions: [{r=3, s=5}]",
    )
    fixed = subtopology("1", ["t"], repartition=[topic_info("r", 3)], joined=[([0], [0])])
    assert _problem(_configured({"t": 2}, subtopology("0", sinks=["r"]), fixed)) == (
        StatusCode.INCORRECTLY_PARTITIONED_TOPICS,
        "Number of partitions [3] of repartition topic [r] doesn't match number of partitions [2]"
        " of the source topic.",
    )
    flexible = subtopology("2", [], repartition=["r", "s"], joined=[([], [0, 1])])
    writers = subtopology("0", ["t"], sinks=["r"]), subtopology("1", ["u"], sinks=["s"])
    assert _missing(_configured({"t": 2, "u": 4}, *writers, flexible)) == {"r": 4, "s": 4}


def test_missing_sources_are_reported_first_three_of_them_by_name() -> None:
    made = _configured({}, subtopology("0", ["b", "a"]), subtopology("1", ["e", "d", "c"]))
    assert _problem(made) == (
        StatusCode.MISSING_SOURCE_TOPICS,
        "Source topics a, b, c and 2 additional topics are missing.",
    )
    assert made.subtopologies is None
    assert not made.missing


def test_a_topic_of_another_size_is_wrong() -> None:
    assert _problem(_configured({"t": 3, "c": 2}, subtopology(changelogs=["c"]))) == (
        StatusCode.INCORRECTLY_PARTITIONED_TOPICS,
        "Existing topic c has different number of partitions: expected 3, found 2",
    )


_UNKNOWN = "Failed to compute number of partitions for all repartition topics"


@pytest.mark.parametrize(
    ("subtopologies", "message"),
    [
        (
            [subtopology("0", [], repartition=["r"], sinks=["r"])],
            f"{_UNKNOWN}. There may be loops in the topology that cannot be resolved.",
        ),
        (
            [subtopology("0", [], repartition=["r"])],
            f"{_UNKNOWN}, because a repartition source topic is never used as a sink topic.",
        ),
        ([subtopology("7", [])], "No source topics found for subtopology 7"),
    ],
)
def test_invalid_topologies(subtopologies: list[Any], message: str) -> None:
    with pytest.raises(Refused) as refused:
        _configured({"t": 1}, *subtopologies)
    assert (refused.value.error, refused.value.message) == (Error.STREAMS_INVALID_TOPOLOGY, message)


@pytest.mark.parametrize(
    ("subtopologies", "epoch"),
    [
        ([subtopology(), subtopology()], 0),
        ([subtopology()], -1),
        ([subtopology(joined=[([1], [])])], 0),
        ([subtopology(joined=[([], [-1])])], 0),
        ([subtopology(changelogs=["c", "c"])], 0),
        ([subtopology(sinks=["r"], repartition=[topic_info("r", -2)])], 0),
        ([subtopology(sinks=["r"], joined=[([0], [])], repartition=["r", "r"])], 0),
    ],
)
def test_what_a_real_broker_fails_on(subtopologies: list[Any], epoch: int) -> None:
    with pytest.raises(Refused) as refused:
        _configured({"t": 1}, *subtopologies, epoch=epoch)
    assert refused.value.error is Error.UNKNOWN_SERVER_ERROR
