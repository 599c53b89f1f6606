"""A streams group: its topology, tasks, missing topics, offsets and lag."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.seen import SeenSubtopology, StreamsGroupView
from odradek.emulator.seen.waiting import polled
from odradek.wire import Refused

from tests.emulator.seen.support.seen import Seen
from tests.requests.committed_offsets import commit
from tests.requests.streams_groups import streams_beat, subtopology, topology
from tests.support.cluster import Client, client_of

COUNTING = topology(
    subtopology("0", ["t"], sinks=["r"]),
    subtopology("1", [], repartition=["r"], changelogs=["c"]),
)


class Watched(Seen):
    """Waits look again and again, in this thread."""

    def wait(self, wait, timeout=None):  # type: ignore[no-untyped-def]
        return polled(wait, 0.0)


@pytest.fixture
def view(cluster: Cluster) -> StreamsGroupView:
    """Of group g; t has three partitions."""
    cluster.groups.ensure_topic()
    cluster.create_topic("t", 3, {})
    return StreamsGroupView(Watched(cluster), "g")


@pytest.fixture
def app(cluster: Cluster) -> Client:
    return client_of(cluster, "app")


def test_a_group_that_is_not_there(view: StreamsGroupView) -> None:
    assert (view.state, view.epoch, view.members, view.tasks) == ("Dead", None, (), ())
    assert (view.topology, view.missing_topics, view.lags()) == ((), (), {})
    assert repr(view) == "<streams group g: Dead, epoch None, no members>"


def test_topology_and_what_is_missing(
    cluster: Cluster, app: Client, view: StreamsGroupView
) -> None:
    streams_beat(app, topology=topology(subtopology(sources=["t", "u"], changelogs=["c"])))
    assert (view.state, view.missing_topics) == ("NotReady", ("c", "u"))
    assert view.topology == (SeenSubtopology("0", ("t", "u"), (), (), ("c",)),)
    assert view.tasks == ()


def test_tasks_by_member(cluster: Cluster, app: Client, view: StreamsGroupView) -> None:
    streams_beat(app, topology=COUNTING)
    cluster.advance(1000)
    streams_beat(app, epoch=2)
    assert (view.state, view.epoch, view.missing_topics) == ("Stable", 3, ())
    tasks = [(each.subtopology_id, each.partition, each.is_active) for each in view.tasks]
    assert tasks == [(name, number, True) for name in "01" for number in range(3)]
    (task, *_) = view.tasks
    assert (task.member_id, task.client_id, task.process_id) == ("a", "app", "a")
    assert repr(task) == "<task 0_0 at client 'app'>"
    (member,) = view.wait_stable(1)
    assert member.assignment == tuple((name, number) for name in "rt" for number in range(3))
    assert view.wait_assigned("t", "r") == (member,)


def test_a_rebalance_that_a_test_forces(
    cluster: Cluster, app: Client, view: StreamsGroupView
) -> None:
    streams_beat(app)
    cluster.advance(1000)
    view.rebalance()
    assert (view.state, view.epoch) == ("Assigning", 3)
    assert streams_beat(app, epoch=2).member_epoch == 3
    assert view.state == "Stable"


def test_offsets_and_lag(cluster: Cluster, app: Client, view: StreamsGroupView) -> None:
    streams_beat(app)
    assert view.lags() == {("t", number): 0 for number in range(3)}
    assert commit(app, 0, group="g", member_id="a", generation_id_or_member_epoch=2, version=9) == 0
    view.assert_committed({("t", 0): 0})
    assert (view.offsets(), view.lag("t")) == ({("t", 0): 0}, 0)
    streams_beat(app, epoch=-1)
    view.wait_empty()
    assert view.state == "Empty"


def test_a_commit_from_outside_says_which_view_shows_the_members(
    cluster: Cluster, app: Client, view: StreamsGroupView
) -> None:
    streams_beat(app)
    text = r"there is a streams group of this name: kafka.streams_group\('g'\) shows it"
    with pytest.raises(Refused, match=text):
        Watched(cluster).group().commit({("t", 0): 0})
