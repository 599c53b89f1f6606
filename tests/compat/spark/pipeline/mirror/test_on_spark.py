"""odradek mirror on Spark: it does what one process does, and either goes on after the other."""

from __future__ import annotations

from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.spark.pipeline.broker import Cluster, Place, Producer, create_topic, fetch
from odradek.compat.spark.pipeline.broker.coordinator import commit_offsets, committed_offsets
from odradek.compat.spark.pipeline.broker.transactions import Transactions
from odradek.compat.spark.pipeline.errors import PipelineError
from odradek.compat.spark.pipeline.mirror.kept_offsets import KeptOffsets, filler_batch
from odradek.compat.spark.pipeline.mirror.on_spark import MirrorPart, Part
from odradek.compat.spark.pipeline.mirror.pieces import Piece, pieces
from odradek.wire.records import Record

from tests.compat.spark.pipeline.clusters import Writer, batch, bounds, fill, mirror, options, seen

Printed = pytest.CaptureFixture[str]
ON_SPARK = ("--engine", "spark")


@pytest.mark.spark
@pytest.mark.parametrize("how", ["keep", "ignore"])
def test_both_engines_do_the_same_and_go_on_after_each_other(
    how: str, ours: Emulator, our_target: Emulator, writer: Writer, capsys: Printed
) -> None:
    source, target = ours.bootstrap_servers, our_target.bootstrap_servers
    for topic in ("orders", "payments"):
        fill(writer, topic)
    asked = options("*", "--offsets", how)
    with Emulator() as other:
        expected = mirror(capsys, source, other.bootstrap_servers, *asked)
        found = mirror(capsys, source, target, *asked, *ON_SPARK)
        assert (expected.pop("engine"), found.pop("engine")) == ("arrow", "spark")
        # Another process reads each partition, and rounds are cut elsewhere.
        assert found.pop("bytes") >= expected.pop("bytes") // 2
        assert found == expected
        for topic in ("orders", "payments"):
            contents = seen(other.bootstrap_servers, topic)
            assert _plain(seen(target, topic), how) == _plain(contents, how)
    for engine in ("arrow", "spark"):
        writer.write(("orders", 0), b"more")
        writer.transaction("t", ("orders", 1), b"even more", commit=False)
        assert mirror(capsys, source, target, *asked, "--engine", engine)["records"] == 1
    for topic in ("orders", "payments"):
        assert _plain(seen(target, topic), how) == _plain(seen(source, topic), how)
        if how == "keep":
            assert bounds(target, topic) == bounds(source, topic)


def _plain(found: dict[int, list[Record]], how: str) -> dict[int, list[tuple[Any, ...]]]:
    """The records, without their offsets if these are new."""
    return {n: [each[how == "ignore" :] for each in some] for n, some in found.items()}


@pytest.mark.spark
def test_groups_are_copied(
    ours: Emulator, our_target: Emulator, writer: Writer, capsys: Printed
) -> None:
    fill(writer, "orders")
    commit_offsets(writer.cluster, "billing", {("orders", 0): 12})
    addresses = ours.bootstrap_servers, our_target.bootstrap_servers
    asked = options("orders", "--groups", "bill*", "none*")
    found = mirror(capsys, *addresses, *asked, *ON_SPARK)
    assert (found["groups"], found["groups_unmatched"]) == ({"billing": 1}, ["none*"])
    with Cluster(our_target.bootstrap_servers) as cluster:
        assert committed_offsets(cluster, "billing") == {("orders", 0): 12}


# What a task does that was killed, and is run again.

PLACE: Place = ("orders", 0)


@pytest.fixture
def killed(ours: Emulator, our_target: Emulator, writer: Writer) -> MirrorPart:
    """A task that has written a bit, and has left a transaction with fillers open."""
    create_topic(writer.cluster, "orders", 1)
    writer.write(PLACE, b"a", b"b")
    writer.transaction("t", PLACE, *[b"aborted"] * 50, commit=False)
    writer.write(PLACE, b"c")
    task = MirrorPart(ours.bootstrap_servers, our_target.bootstrap_servers, True, 1000)
    with Cluster(our_target.bootstrap_servers) as cluster:
        create_topic(cluster, "orders", 1)
        target = KeptOffsets(cluster, committed=True, fill_limit=1000)
        producer = Producer(cluster, target.identities(["orders"])["orders"])
        with Cluster(ours.bootstrap_servers) as source:
            first = _first_batch(source)
        producer.send({PLACE: first})
        fillers = Transactions(cluster, "odradek-mirror.orders/0")
        identity = fillers.begin_anew()
        fillers.add(identity, [PLACE])
        Producer(cluster, identity).send({PLACE: filler_batch(7)}, transactional_id=fillers.name)
    return task


def _first_batch(source: Cluster) -> bytearray:
    fetched = next(fetch(source, PLACE, 0, 1))
    return next(pieces(fetched, 0, committed=True)).batch


@pytest.mark.parametrize("by", ["a task", "one process"])
def test_a_task_that_was_killed_is_gone_on_with(
    by: str, killed: MirrorPart, ours: Emulator, our_target: Emulator, capsys: Printed
) -> None:
    source, target = ours.bootstrap_servers, our_target.bootstrap_servers
    if by == "a task":
        with Cluster(target) as cluster:
            kept = KeptOffsets(cluster, committed=True, fill_limit=1000)
            identity = kept.identities(["orders"])["orders"]
        done = killed(Part((PLACE,), identity, 0))
        assert (done.written, done.lag) == (1, 0)
    else:
        assert mirror(capsys, source, target, *options("orders"))["records"] == 1
    assert seen(target, "orders") == seen(source, "orders")
    assert bounds(target, "orders") == bounds(source, "orders")


def test_a_task_that_runs_again_finds_what_it_has_left(
    killed: MirrorPart, ours: Emulator, our_target: Emulator
) -> None:
    """As Spark runs a task again, without asking the driver first."""
    with Cluster(our_target.bootstrap_servers) as cluster:
        identity = Transactions(cluster, "odradek-mirror.orders").go_on()
    killed(Part((PLACE,), identity, 0))
    source, target = ours.bootstrap_servers, our_target.bootstrap_servers
    assert seen(target, "orders") == seen(source, "orders")


# Two at a time.


def test_two_mirrors_at_a_time_learn_of_each_other(
    ours: Emulator, our_target: Emulator, writer: Writer
) -> None:
    create_topic(writer.cluster, "orders", 1)
    with (
        Cluster(our_target.bootstrap_servers) as one_cluster,
        Cluster(our_target.bootstrap_servers) as other_cluster,
    ):
        create_topic(one_cluster, "orders", 1)
        one, other = (
            KeptOffsets(cluster, committed=True, fill_limit=1000)
            for cluster in (one_cluster, other_cluster)
        )
        for each in (one, other):
            each.open([PLACE])
        one._send({PLACE: Piece(0, 1, batch(b"a"))})
        with pytest.raises(PipelineError, match="topic orders: another mirror writes to it"):
            other._send({PLACE: Piece(0, 2, batch(b"a", b"b"))})
