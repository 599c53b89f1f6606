"""The assignor `simple`, as part of heartbeats, against what a real Kafka 4.3.1 assigned.

Each line of simple_assignments.jsonl is one group: the ids and partitions of its topics, and steps:
a member names its topics or leaves, and then who has what, by the ids of topics.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from odradek.emulator.groups.modern.heartbeat import GroupTimes
from odradek.emulator.groups.settings import GroupSettings
from odradek.emulator.groups.share.group import ShareGroup
from odradek.emulator.groups.share.heartbeat import heartbeat
from odradek.emulator.groups.share.members import StatePartitions, TopicState, state_record
from odradek.emulator.groups.topics_view import TopicsView
from odradek.wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest

from tests.emulator.groups.support.world import FakeCall
from tests.support.looped import for_each

TIMES = GroupTimes(45_000, 5000, 0)
RUNS = [
    json.loads(line)
    for line in Path(__file__).with_name("simple_assignments.jsonl").read_text().splitlines()
]


class _Topic:
    def __init__(self, name: str, topic_id: bytes, count: int) -> None:
        self.name = name
        self.id = topic_id
        self.partitions = range(count)


class _Topics:
    generation = 1

    def __init__(self, topics: dict[str, Any]) -> None:
        self._topics = [_Topic(n, bytes.fromhex(i), c) for n, (i, c) in topics.items()]

    def get(self, name: str, /) -> _Topic | None:
        return next((each for each in self._topics if each.name == name), None)

    def by_id(self, topic_id: bytes, /) -> _Topic | None:
        return next((each for each in self._topics if each.id == topic_id), None)

    def __iter__(self) -> Iterator[_Topic]:
        return iter(self._topics)


def _group(topics: _Topics) -> ShareGroup:
    group = ShareGroup("g", GroupSettings(), TopicsView(topics, lambda: 0))
    states = {t.id: TopicState(t.name, frozenset(t.partitions)) for t in topics}
    group.apply(state_record("g", StatePartitions({}, states, {})), 0)
    return group


def _names(group: ShareGroup, member: str, names: list[str]) -> dict[str, list[int]]:
    request = ShareGroupHeartbeatRequest(
        group_id="g", member_id=member, member_epoch=0, subscribed_topic_names=names
    )
    call: Any = FakeCall(None, 1)
    outcome = heartbeat(group, call, request, TIMES, 0)
    for record in outcome.records:
        group.apply(record, 0)
    held = outcome.answer.assignment
    assert held is not None
    return {each.topic_id.hex(): sorted(each.partitions) for each in held.topic_partitions}


@for_each("run", RUNS)
def test_members_get_what_a_real_broker_gives_them(run: Any) -> None:
    group, wanted = _group(_Topics(run["topics"])), {}
    for what, member, names, held in run["steps"]:
        if what == "leaves":
            for record in group.removal([group.member(member)]):
                group.apply(record, 0)
            del wanted[member]
        else:
            wanted[member] = names
            _names(group, member, names)
        found = {each: _names(group, each, wanted[each]) for each in sorted(wanted)}
        assert found == held, (what, member, names)


def test_a_target_is_empty_once_its_topics_are_gone() -> None:
    topics = _Topics({"t": ("11" * 16, 2)})
    group = _group(topics)
    assert _names(group, "a", ["t"]) == {"11" * 16: [0, 1]}
    group.view = TopicsView(_Topics({}), lambda: 0)
    group.apply(state_record("g", StatePartitions({}, {}, {})), 0)
    group.checked_generation = None
    assert _names(group, "a", ["t"]) == {}
    assert group.targets == {"a": {}}
