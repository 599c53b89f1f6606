"""Section D (ListOffsets, OffsetForLeaderEpoch), E8 (DeleteRecords), F (committed offsets)."""

from __future__ import annotations

from odradek.wire.api.delete_records import DeleteRecordsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest

from ..ask.batches import TIME
from ..ask.groups import beat, commit, describe, join, offsets_of, stable_group, sync
from ..ask.records import delete_records, list_offsets, put
from ..ask.topics import create
from ..engine.steps import Ask, Restart, Steps, seen
from . import case


@case("D1", each=ListOffsetsRequest)
def times_with_meanings() -> Steps:
    special = (-1, -2, -3, -4, -5, -6, -7, -100)
    return [
        create("~e"),
        create("~t"),
        put(b"a", b"b", b"c", times=(TIME, TIME + 9, TIME + 3)),
        put(b"d", time=TIME + 9),
        put(b"n", time=-1),
        *(
            Ask(list_offsets(t, name=name, isolation=i))
            for name in ("~t", "~e")
            for t in special
            for i in (0, 1)
        ),
        Ask(delete_records(("~t", 0, 2))),
        *(Ask(list_offsets(time)) for time in special),
    ]


@case("D1", each=ListOffsetsRequest)
def the_largest_time_without_times() -> Steps:
    return [
        create("~t"),
        create("~l", message_timestamp_type="LogAppendTime"),
        put(b"a", time=-1),
        put(b"a", b"b", name="~l"),
        Ask(list_offsets(-3)),
        Ask(list_offsets(-3, name="~l")),
    ]


@case("D2", each=ListOffsetsRequest)
def offsets_by_time() -> Steps:
    times = (0, TIME - 1, TIME, TIME + 1, TIME + 5, TIME + 6, 2**63 - 1)
    return [
        create(),
        put(b"a", b"b", times=(TIME, TIME + 5)),
        put(b"c", b"d", times=(TIME + 2, TIME + 1), codec=1),
        *(Ask(list_offsets(time)) for time in times),
        Ask(delete_records(("~t", 0, 3))),
        *(Ask(list_offsets(time)) for time in times),
    ]


@case("D3", each=ListOffsetsRequest)
def what_listing_refuses() -> Steps:
    return [
        create(),
        Ask(list_offsets(-1, -2)),
        Ask(list_offsets(-1, name="~none")),
        Ask(list_offsets(-1, name="")),
        *(Ask(list_offsets(-1, epoch=epoch)) for epoch in (-2, -1, 0, 1)),
        *(Ask(list_offsets(-1, isolation=level)) for level in (2, -1)),
        *(Ask(list_offsets(-1, replica=replica)) for replica in (-2, 1, 7)),
        Ask(ListOffsetsRequest(replica_id=-1, topics=[])),
    ]


@case("D4", each=OffsetForLeaderEpochRequest)
def ends_of_epochs() -> Steps:
    def ends(*epochs: int, current: int = -1, name: str = "~t", index: int = 0) -> Ask:
        part = OffsetForLeaderEpochRequest.Topic.Partition
        partitions = [
            part(partition=index, current_leader_epoch=current, leader_epoch=epoch)
            for epoch in epochs
        ]
        topic = OffsetForLeaderEpochRequest.Topic(topic=name, partitions=partitions)
        return Ask(OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic]))

    return [
        create("~e"),
        create("~t"),
        put(b"a"),
        put(b"b"),
        *(ends(epoch, name=name) for name in ("~t", "~e") for epoch in (-2, -1, 0, 1, 99)),
        ends(0, 1, 0),
        *(ends(0, current=epoch) for epoch in (-2, -1, 0, 1)),
        ends(0, name="~none"),
        ends(0, index=3),
        Ask(delete_records(("~t", 0, -1))),
        ends(0),
    ]


@case("E8", each=DeleteRecordsRequest)
def deleting_records() -> Steps:
    return [
        create("~t"),
        create("~c", cleanup_policy="compact"),
        create("~both", cleanup_policy="compact,delete"),
        *(put(b"x", name=name) for name in ("~t", "~t", "~c", "~both")),
        *(Ask(delete_records(("~t", 0, offset))) for offset in (1, 0, 3, -2, -1, 2)),
        Ask(delete_records(("~c", 0, 1))),
        Ask(delete_records(("~both", 0, 1))),
        Ask(delete_records(("~none", 0, 1))),
        Ask(delete_records(("~t", 5, 1))),
        Ask(delete_records(("__consumer_offsets", 0, 0))),
        put(b"x"),
        put(b"x"),
        Ask(delete_records(("~t", 0, 3), ("~t", 0, 4))),
        Ask(list_offsets(-2)),
    ]


@case("F5", each=OffsetCommitRequest)
def commits_without_a_group() -> Steps:
    return [
        create(partitions=2),
        Ask(commit(("~t", 0, 5), ("~t", 1, -7))),
        Ask(commit(("~none", 0, 5), group="~lost")),
        Ask(commit(("~t", 0, 6), ("~none", 0, 5), ("~t", 9, 1))),
        Ask(commit(("~t", 0, 1), group="~new", generation=3)),
        Ask(commit(("~t", 0, 1), group="~new", member="anyone")),
        Ask(commit(("~t", 0, 1), member="anyone")),
        Ask(commit(("~t", 0, 2), group="")),
        Ask(commit(("~t", 0, 7), metadata="m" * 4096)),
        Ask(commit(("~t", 0, 8), metadata="m" * 4097)),
        Ask(commit(("~t", 1, 9), metadata=None)),
        Ask(offsets_of(), 7),
        Ask(offsets_of("~lost"), 7),
        Ask(commit()),
    ]


@case("F5", each=OffsetCommitRequest)
def failed_partitions_are_answered_first() -> Steps:
    part = OffsetCommitRequest.Topic.Partition
    partitions = [
        part(partition_index=index, committed_offset=1, committed_metadata="")
        for index in (0, 7, 1, -1, 0)
    ]
    topic = OffsetCommitRequest.Topic(name="~t", topic_id=seen("~t"), partitions=partitions)
    return [
        create(partitions=2),
        Ask(OffsetCommitRequest(group_id="~g", member_id="", topics=[topic])),
        Ask(offsets_of(topics=[("~t", [0, 1, 7])]), 7),
    ]


@case("F9", each=OffsetFetchRequest)
def fetching_what_was_committed() -> Steps:
    return [
        create("~t", partitions=2),
        create("~u"),
        Ask(commit(("~t", 0, 5), ("~u", 0, 7))),
        Ask(offsets_of(topics=[("~t", [1, 0, 0, 9]), ("~none", [0]), ("~t", [0])])),
        Ask(offsets_of(topics=[])),
        Ask(offsets_of("~nobody", topics=[("~t", [0])])),
        Ask(offsets_of("", topics=[("~t", [0])])),
        Ask(offsets_of(topics=[("~u", [0])], require_stable=True)),
    ]


@case("F9")
def every_offset_of_a_group() -> Steps:
    return [
        create("~t", partitions=3),
        create("~u"),
        Ask(commit(("~t", 2, 5), ("~u", 0, 7), ("~t", 0, 1))),
        *(Ask(offsets_of(), version) for version in range(2, 11)),
        *(Ask(offsets_of("~nobody"), version) for version in range(2, 11)),
    ]


@case("F9")
def several_groups_at_once() -> Steps:
    group = OffsetFetchRequest.Group
    asked = [
        group(group_id=name, topics=None, member_id=member, member_epoch=epoch)
        for name, member, epoch in (
            ("~g", None, -1),
            ("~h", "x", 5),
            ("~g", "x", -1),
            ("", None, 3),
        )
    ]
    return [
        create(),
        Ask(commit(("~t", 0, 5))),
        *(Ask(OffsetFetchRequest(groups=asked), version) for version in (8, 9, 10)),
        *(Ask(OffsetFetchRequest(groups=[]), version) for version in (8, 9, 10)),
    ]


@case("F6")
def offsets_of_a_deleted_topic() -> Steps:
    return [
        create("~t"),
        create("~u"),
        Ask(commit(("~t", 0, 5), ("~u", 0, 7))),
        Ask(DeleteTopicsRequest(topic_names=["~t"], timeout_ms=5000), 5),
        Ask(offsets_of(), 7),
        Ask(offsets_of(topics=[("~t", [0]), ("~u", [0])]), 7),
        Ask(offsets_of(topics=[("~t", [0]), ("~u", [0])]), 10),
    ]


@case("F7, E9")
def what_outlives_a_restart() -> Steps:
    return [
        create("~t", partitions=2, retention_ms="-1"),
        put(b"a", b"b"),
        put(b"c", codec=1),
        Ask(delete_records(("~t", 0, 1))),
        Ask(commit(("~t", 0, 5))),
        *stable_group(),
        Ask(join(group="~completing"), 3, keep={"n": "member_id"}),
        Restart(),
        Ask(beat(seen("m"))),
        Ask(describe()),
        Ask(beat(seen("n"), group="~completing")),
        Ask(describe("~completing")),
        Ask(sync(seen("m"))),
        Ask(list_offsets(-1), 7),
        Ask(list_offsets(-2), 7),
        Ask(offsets_of(), 7),
        Ask(commit(("~t", 0, 6), member=seen("m"), generation=1)),
        put(b"d"),
        Ask(list_offsets(-1), 7),
    ]
