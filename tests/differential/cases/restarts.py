"""Leader epochs over restarts (D4, F7): the leader is elected again, with a later epoch."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.wire.api.describe_producers import DescribeProducersRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest

from ..ask.groups import commit, offsets_of
from ..ask.records import delete_records, fetch, list_offsets, put
from ..ask.topics import create
from ..ask.transactions import add, describe, end, init, write
from ..engine.steps import Ask, Restart, Step, Steps
from . import case

EPOCHS = (0, 1, 2, 3, 4, 5)


def ends(*epochs: int, name: str = "~t", current: int = -1) -> Ask:
    part = OffsetForLeaderEpochRequest.Topic.Partition
    partitions = [
        part(partition=0, current_leader_epoch=current, leader_epoch=epoch) for epoch in epochs
    ]
    topic = OffsetForLeaderEpochRequest.Topic(topic=name, partitions=partitions)
    return Ask(OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic]))


def look(*names: str) -> Iterable[Step]:
    """Everything that shows leader epochs."""
    topics = [MetadataRequest.Topic(name=name) for name in names]
    yield Ask(MetadataRequest(topics=topics), 12)
    one = DescribeTopicPartitionsRequest.Topic
    yield Ask(DescribeTopicPartitionsRequest(topics=[one(name=name) for name in names]))
    for name in names:
        yield Ask(list_offsets(-1, name=name), 7)
        yield Ask(list_offsets(-2, name=name), 7)
        yield Ask(list_offsets(0, name=name), 7)
        for epoch in EPOCHS:
            yield ends(epoch, name=name)
            yield ends(0, name=name, current=epoch)
            yield Ask(fetch(0, name, current_leader_epoch=epoch))
            yield Ask(fetch(0, name, last_fetched_epoch=epoch))
        yield Ask(fetch(1, name))


def _over(first: Restart) -> Steps:
    return [
        create("~t"),
        create("~empty", partitions=2),
        put(b"a", b"b"),
        first,
        *look("~t", "~empty"),
        put(b"c"),
        put(b"y", name="~empty"),
        create("~later"),
        *look("~t", "~empty", "~later"),
        Restart(),
        *look("~t", "~empty", "~later"),
        put(b"d"),
        *look("~t"),
    ]


@case("D4")
def leader_epochs_over_restarts() -> Steps:
    return _over(Restart())


@case("D4")
def leader_epochs_over_a_kill() -> Steps:
    return _over(Restart(is_killed=True))


@case("D4, F7")
def leader_epochs_of_an_emptied_log() -> Steps:
    """Not over a kill: a real broker writes the log start offset to disk once a minute."""
    return [
        create(),
        put(b"a"),
        put(b"b"),
        Ask(delete_records(("~t", 0, -1))),
        Restart(),
        *look("~t"),
        Restart(),
        *look("~t"),
        put(b"c"),
        *look("~t"),
    ]


@case("H")
def markers_of_a_later_coordinator() -> Steps:
    part = DescribeProducersRequest.Topic(name="~t", partition_indexes=[0])
    producers = Ask(DescribeProducersRequest(topics=[part]))
    return [
        create("~t"),
        init(),
        add(),
        write(version=11),
        end(True, 4),
        producers,
        Restart(),
        producers,
        init(),
        add(),
        write(version=11),
        end(False, 4),
        describe(),
        producers,
        Ask(fetch(0, isolation_level=1)),
        Ask(commit(("~t", 0, 1))),
        Ask(offsets_of()),
    ]
