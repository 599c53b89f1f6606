"""Advice on what consumers read and commit: where it is due, and where an application is right."""

from __future__ import annotations

import time
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error

from tests.requests.committed_offsets import commit, committed
from tests.requests.fetch import asked, fetch, fetch_request
from tests.requests.groups import join_request, joined, leave_request, stable, sync_request
from tests.requests.offsets import LATEST, look_up
from tests.requests.produce import batch, produce
from tests.support.cluster import Client, client_of
from tests.support.transactional_producer import TxnClient

from .support import advised, rules, text


def feed(cluster: Cluster, count: int, partition: int = 0, topic: str = "t") -> None:
    feeder = client_of(cluster, "shop")
    produce(feeder, batch(*[b"x"] * count), topic=topic, partition=partition)


def run_once(app: Client, at: int = 0) -> None:
    """One life of an application: it begins where its group is, reads, and has to leave."""
    member = stable(app)
    committed(app)
    fetch(app, at)
    app.ask(leave_request(member.member_id), 3)


# Commits of each record


def test_commits_of_small_batches_that_came_one_by_one_are_right(
    cluster: Cluster, app: Client
) -> None:
    for offset in range(20):
        feed(cluster, 1)
        fetch(app, offset)
        commit(app, offset + 1)
    assert rules(cluster) == []


def test_commits_of_each_record_of_a_batch(cluster: Cluster, app: Client) -> None:
    feed(cluster, 12)
    fetch(app)
    for offset in range(1, 13):
        commit(app, offset)
    assert rules(cluster) == ["commits of each record"]


def test_commits_of_each_record_of_several_partitions(cluster: Cluster, app: Client) -> None:
    for index in range(4):
        feed(cluster, 3, index)
        fetch(app, partition=index)
        for offset in (1, 2, 3):
            commit(app, offset, partition=index)
    assert "12 commits of one record each in group g" in text(cluster)


def test_commits_of_each_record_that_repeat_what_was_committed(
    cluster: Cluster, app: Client
) -> None:
    """As a Java consumer's commitSync(), which commits all partitions each time."""
    feed(cluster, 6)
    feed(cluster, 6, 1)
    fetch(app)
    fetch(app, partition=1)
    for index in (0, 1):
        for offset in range(1, 7):
            commit(app, offset, partition=index)
            if index:
                commit(app, 6, partition=0)
    assert rules(cluster) == ["commits of each record"]


def test_commits_of_each_record_of_transactions(cluster: Cluster, app: Client) -> None:
    producer = TxnClient(cluster)
    for _ in range(12):
        producer.begin().write(b"x")
        producer.end(commit=True)
    fetch(app, isolation_level=1)
    for offset in range(1, 25, 2):
        commit(app, offset)
    assert rules(cluster) == ["commits of each record"]


# Commits of the last offset


def test_commits_of_the_last_read_offset(cluster: Cluster, app: Client) -> None:
    feed(cluster, 4)
    fetch(app)
    for offset in range(4):
        commit(app, offset)
    assert text(cluster) == (
        "app commits in group g the offset of the last record that it has read (3 of t-0), and so "
        "reads that one again when it starts. Commit the next offset, that of the record + 1."
    )


def test_commits_of_the_last_read_offset_of_three_partitions(cluster: Cluster, app: Client) -> None:
    for index in range(3):
        feed(cluster, 4, index)
        fetch(app, partition=index)
        commit(app, 3, partition=index)
        assert rules(cluster) == ["last read offset"] * (index == 2)


def test_an_application_that_has_failed_at_its_last_record(cluster: Cluster, app: Client) -> None:
    feed(cluster, 4)
    fetch(app)
    for offset in (1, 2, 3):
        commit(app, offset)
    assert rules(cluster) == []


def test_a_marker_is_no_record_that_was_read(cluster: Cluster, app: Client) -> None:
    for index in range(3):
        producer = TxnClient(cluster, name=f"x{index}").begin()
        producer.write(b"x", partition=index)
        producer.end(commit=True)
        fetch(app, partition=index, isolation_level=1)
        commit(app, 1, partition=index)
    assert rules(cluster) == []


# Commits before the output


def passes(cluster: Cluster, app: Client, offset: int, *steps: str) -> None:
    feed(cluster, 1)
    fetch(app, offset)
    for step in steps:
        if step == "commit":
            commit(app, offset + 1)
        else:
            produce(client_of(cluster, "app-out"), batch(b"y"), topic="out")


def test_a_commit_before_the_output(cluster: Cluster, app: Client) -> None:
    for offset in range(3):
        passes(cluster, app, offset, "commit", "write")
    assert text(cluster) == (
        "group g commits what it has read of t before app-out has written the output to out: what "
        "fails in between is lost. Commit after the output is acknowledged (producer.flush()), or "
        "in its transaction."
    )


def test_a_commit_after_the_output(cluster: Cluster, app: Client) -> None:
    for offset in range(3):
        passes(cluster, app, offset, "write", "commit")
    assert rules(cluster) == []


def test_a_stage_after_one_that_is_right(cluster: Cluster, app: Client) -> None:
    cluster.create_topic("end", 1, {})
    for offset in range(3):
        passes(cluster, app, offset, "write", "commit")
        second = client_of(cluster, "second")
        fetch(second, offset, topic="out")
        produce(second, batch(b"z"), topic="end")
        commit(second, offset + 1, topic="out", group="h")
    assert rules(cluster) == []


# The same again


def test_a_record_at_which_each_start_fails(cluster: Cluster, app: Client) -> None:
    feed(cluster, 2)
    for _ in range(2):
        run_once(app)
    assert rules(cluster) == []
    run_once(app)
    assert text(cluster) == (
        "group g has read offset 0 of t-0 3 times, and has committed nothing behind it: a record "
        "at which it fails each time, or nobody commits. Look at that record, send what cannot be "
        "processed to a dead-letter topic, and commit what is done."
    )


def test_a_poison_record_after_others(cluster: Cluster, app: Client) -> None:
    feed(cluster, 3)
    run_once(app)
    commit(app, 2)
    for _ in range(3):
        run_once(app, 2)
    assert text(cluster).startswith("group g has read offset 2 of t-0 3 times")


def test_starts_that_get_on(cluster: Cluster, app: Client) -> None:
    feed(cluster, 6)
    for offset in range(6):
        run_once(app, offset)
        commit(app, offset + 1)
    assert rules(cluster) == []


def test_rebalances_are_no_starts(cluster: Cluster, app: Client) -> None:
    feed(cluster, 2)
    for _ in range(4):
        committed(app)
        fetch(app)
    assert rules(cluster) == []


def test_a_client_id_that_several_groups_have(cluster: Cluster, app: Client) -> None:
    feed(cluster, 2)
    for group in range(25):
        committed(app, group=f"g{group}")
    for _ in range(25):
        fetch(app)
    assert rules(cluster) == []


def test_twenty_times_the_offset_that_is_committed(cluster: Cluster, app: Client) -> None:
    feed(cluster, 2)
    commit(app, 1)
    committed(app)
    for _ in range(19):
        fetch(app, 1)
    assert rules(cluster) == []
    fetch(app, 1)
    assert text(cluster).startswith("group g has read offset 1 of t-0 20 times")


# Slow work


def slow_commits(cluster: Cluster, app: Client, seconds: float) -> None:
    feed(cluster, 6)
    member = joined(app, rebalance_timeout_ms=5_000)
    app.ask(sync_request(member), 3)
    as_member: dict[str, Any] = {"member_id": member.member_id, "generation_id_or_member_epoch": 1}
    committed(app)
    fetch(app)
    for offset in range(1, 7):
        time.sleep(seconds)
        assert commit(app, offset, **as_member) is Error.NONE
    app.ask(leave_request(member.member_id), 3)


def test_work_that_takes_too_long_for_a_full_poll(cluster: Cluster, app: Client) -> None:
    slow_commits(cluster, app, 0.012)  # 500 of them are 6 s
    (advice,) = advised(cluster)
    assert (advice.rule, advice.topic, advice.group) == ("slow work", "t", "g")
    assert "a poll of 500 records outlasts its max.poll.interval.ms of 5 s" in advice.text
    assert advice.help == "lower max.poll.records, or raise max.poll.interval.ms"


def test_work_that_is_quick_enough(cluster: Cluster, app: Client) -> None:
    slow_commits(cluster, app, 0)
    assert rules(cluster) == []


def test_a_consumer_that_says_that_its_poll_came_too_late(cluster: Cluster, app: Client) -> None:
    member = stable(app)
    request = leave_request(member.member_id)
    request.members[0].reason = "consumer poll timeout has expired."
    app.ask(request, 5)
    assert text(cluster) == (
        "app in group g has left: consumer poll timeout has expired. Lower max.poll.records, or "
        "raise max.poll.interval.ms."
    )


# Static members


def test_two_static_members_of_one_instance_id(cluster: Cluster, app: Client) -> None:
    first = joined(app, group_instance_id="one")
    other = client_of(cluster, "other")
    other.send(join_request(group_instance_id="one"), 7)
    assert commit(
        app,
        1,
        group_instance_id="one",
        member_id=first.member_id,
        generation_id_or_member_epoch=first.generation_id,
    ) == (Error.FENCED_INSTANCE_ID)
    (advice,) = advised(cluster)
    assert advice.rule == "fenced static member"
    assert "two consumers have group.instance.id=one in group g" in advice.text


# Where it begins, and where nobody is


@pytest.mark.parametrize("indexes", [(0, 1), (0, 1, 2, 3)])
def test_a_consumer_of_several_partitions_that_starts_at_the_end(
    cluster: Cluster, app: Client, indexes: tuple[int, ...]
) -> None:
    for index in indexes:
        feed(cluster, 2, index)
        committed(app, partition=index)
        look_up(app, LATEST, partition=index)
    app.ask(fetch_request(*[asked(index, 2) for index in indexes]), 12)
    assert text(cluster).startswith(
        f"app began to read {len(indexes)} partitions of t at their ends and has missed the "
        f"{2 * len(indexes)} records before."
    )


def test_a_consumer_of_several_partitions_of_which_one_was_empty(
    cluster: Cluster, app: Client
) -> None:
    feed(cluster, 2)
    for index in (0, 1):
        committed(app, partition=index)
        look_up(app, LATEST, partition=index)
    app.ask(fetch_request(asked(0, 2), asked(1, 0)), 12)
    assert text(cluster).startswith("app began to read t-0 at its end (offset 2)")


def test_a_partition_that_nobody_reads(cluster: Cluster, app: Client) -> None:
    feed(cluster, 2)
    fetch(app)
    assert rules(cluster) == []
    feed(cluster, 1, 3)
    assert text(cluster) == (
        "app reads t by assign, and nobody reads t-3, which has 1 record. Assign all of "
        "consumer.partitions_for_topic, or subscribe in a group."
    )
    fetch(client_of(cluster, "other"), partition=3)
    assert rules(cluster) == []


def test_a_partition_whose_member_has_not_come_to_it(cluster: Cluster, app: Client) -> None:
    feed(cluster, 2)
    feed(cluster, 2, 1)
    member = stable(app)
    fetch(app)
    app.ask(leave_request(member.member_id), 3)
    assert rules(cluster) == []
