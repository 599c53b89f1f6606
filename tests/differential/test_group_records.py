"""The records of groups are shown one by one, and a difference in them is found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator.base.java_order import partition_for
from odradek.wire.api.fetch import FetchResponse
from odradek.wire.records import build_batch
from odradek.wire.stored.keyed import keyed
from odradek.wire.stored.offsets import OffsetCommitKey

from tests.differential.ask.consumer_groups import delete_groups, enter, known_topic
from tests.differential.ask.group_records import kept_in, written
from tests.differential.ask.groups import commit, stable_group
from tests.differential.ask.streams_groups import stream_enter
from tests.differential.ask.topics import create
from tests.differential.cases import all_cases, cases_named
from tests.differential.engine.brokers import CONFIG, EmulatedBroker
from tests.differential.engine.engine import Engine
from tests.differential.engine.group_records import in_order, normalized, own_records
from tests.differential.engine.steps import Ask, Sequence, Step, World


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with EmulatedBroker(CONFIG) as left, EmulatedBroker(CONFIG) as right:
        yield Engine(left, right)


def shown(engine: Engine, *steps: Step, group: str = "~g") -> list[tuple[str, int]]:
    """The types of the keys written of a group, and the versions of the values."""
    result = engine.run(Sequence("by hand", (*steps, Ask(written(group), 12))))
    assert result.findings == []
    rows = result.log[-1].ours["answer"]["responses"][0]["written"]
    return [(row["key"]["type"], row["value_version"]) for row in rows]


def test_a_group_is_looked_for_where_its_id_says() -> None:
    assert kept_in("~g").resolve(World("name-", 0)) == partition_for("name-g", 50)


def test_every_record_of_a_group_is_shown_in_its_order(engine: Engine) -> None:
    found = shown(engine, create(), *stable_group(), Ask(commit(("~t", 0, 5), group="~h")))
    assert found == [("GroupMetadataKey", 3), ("GroupMetadataKey", 3)]
    found = shown(engine, create(), Ask(commit(("~t", 0, 5))), delete_groups())
    gone = [("OffsetCommitKey", -1), ("GroupMetadataKey", -1)]
    assert found == [("OffsetCommitKey", 4), *gone]
    found = shown(engine, *known_topic(), Ask(enter("a")))
    assert [name.removeprefix("ConsumerGroup") for name, _ in found] == [
        "MemberMetadataKey",
        "MetadataKey",
        "TargetAssignmentMemberKey",
        "TargetAssignmentMetadataKey",
        "CurrentMemberAssignmentKey",
    ]


def test_every_record_of_a_streams_group_is_shown(engine: Engine) -> None:
    found = shown(engine, *known_topic(), Ask(stream_enter("a")))
    assert [name.removeprefix("StreamsGroup") for name, _ in found] == [
        "MemberMetadataKey",
        "TopologyKey",
        "MetadataKey",
        "TargetAssignmentMemberKey",
        "TargetAssignmentMetadataKey",
        "CurrentMemberAssignmentKey",
    ]
    assert {version for _, version in found} == {0}


def test_groups_of_other_sequences_are_left_out() -> None:
    keys = [keyed(OffsetCommitKey(group=name, topic="t", partition=0), 1) for name in "ab"]
    data = bytes(build_batch([(0, key, None, ()) for key in keys]))
    assert [key.group for _, key, _, _ in own_records(data, "b")] == ["b"]  # type: ignore[attr-defined]


def test_times_near_now_stand_as_such_and_others_as_they_are() -> None:
    tree = {"commit_timestamp": 1_000, "metadata_hash": 7, "a": [{"timestamp": 99_000}]}
    assert normalized(tree, 1_500, 600, repr) == {
        "commit_timestamp": "<now>",
        "metadata_hash": "<hash>",
        "a": [{"timestamp": 99_000}],
    }


def test_only_what_lies_in_hash_maps_may_stand_in_any_order() -> None:
    def row(kind: str, name: str, value: object) -> dict[str, object]:
        return {"key": {"type": kind, "name": name}, "value": value}

    commits = [row("OffsetCommitKey", name, 1) for name in "ba"]
    gone = [row("OffsetCommitKey", name, None) for name in "ba"]
    parts = [row("ConsumerGroupTargetAssignmentMemberKey", name, 1) for name in "ba"]
    found = in_order([*commits, *gone, *parts], repr)
    assert found == [*commits, *reversed(gone), *reversed(parts)]
    held = {"topic_id": 1, "partitions": [2, 0], "assignment_epochs": [7, 8]}
    assert normalized(held, 0, 0, repr) == {
        "topic_id": 1,
        "partitions": [0, 2],
        "assignment_epochs": [8, 7],
    }
    tree = {"commit_timestamp": 0, "expire_timestamp": 9, "a": [{"topic_id": 2}, {"topic_id": 1}]}
    assert normalized(tree, 10_000, 5, repr) == {
        "commit_timestamp": 0,
        "expire_timestamp": "after 9 ms",
        "a": [{"topic_id": 1}, {"topic_id": 2}],
    }


def test_a_record_too_few_is_a_difference(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    side = engine.sides[1]
    receive = side.receive

    def lie() -> None:
        receive()
        for arrived in side.arrived.values():
            if isinstance(arrived.answer, FetchResponse):
                arrived.answer.responses[0].partitions[0].records = b""

    monkeypatch.setattr(side, "receive", lie)
    steps = (create(), Ask(commit(("~t", 0, 5))), Ask(written(), 12))
    (finding,) = engine.run(Sequence("by hand", steps)).findings
    assert finding.difference.place.startswith("responses.written")


def test_the_cases_about_what_is_written_agree_with_themselves(engine: Engine) -> None:
    names = [c.name for c in all_cases() if c.write.__module__.endswith(".group_records")]
    assert len(names) >= 10
    for sequence in cases_named(engine.served, ["how_offsets_are", "what_deleting"]):
        assert engine.run(sequence).findings == []
