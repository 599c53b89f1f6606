"""What several waits read together: every record once for each of them, at its own pace."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.seen import shared as module
from odradek.emulator.seen.reading import READ_COMMITTED, READ_UNCOMMITTED
from odradek.emulator.seen.shared import Shared
from odradek.wire import Refused, Request

from tests.emulator.seen.support.seen import Seen
from tests.support.transactional_producer import TxnClient


class Counting(Seen):
    """A source that counts what is asked."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self.asked: list[str] = []

    def ask(self, request: Request, version: int) -> Any:
        self.asked.append(type(request).__name__)
        return super().ask(request, version)


@pytest.fixture
def source(cluster: Cluster) -> Counting:
    return Counting(cluster)


@pytest.fixture
def shared(source: Counting) -> Shared:
    return Shared(source, lambda: source.cluster)


class Follower:
    """One of those that wait."""

    def __init__(self, shared: Shared, isolation: str = READ_COMMITTED) -> None:
        self.shared = shared
        self.isolation = isolation
        self.next: dict[int, int] = {}

    def more(self) -> list[str | None]:
        found = self.shared.since("t", None, self.next, self.isolation)
        self.next = {index: end for index, (_, end) in found.items()}
        return [record.text for records, _ in found.values() for record in records]


def test_each_record_is_read_once_for_all(source: Counting, shared: Shared) -> None:
    topic = source.topic(partitions=2)
    one, other, late = (Follower(shared) for _ in range(3))
    topic.produce_all(["a", "b"])
    source.asked.clear()
    assert one.more() == other.more() == ["a", "b"]
    assert source.asked == ["FetchRequest"] * 2  # one of each partition
    topic.produce_all(["c", "d"])
    assert (one.more(), one.more()) == (["c", "d"], [])
    topic.produce_all(["e"])
    source.asked.clear()
    assert other.more() == ["c", "e", "d"]
    assert one.more() == ["e"]
    assert late.more() == ["a", "c", "e", "b", "d"]
    assert source.asked == ["FetchRequest"]


def test_one_that_is_further_back_than_what_is_kept_misses_nothing(
    source: Counting, shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 3)
    topic = source.topic()
    quick, slow = Follower(shared), Follower(shared)
    topic.produce("0")
    assert quick.more() == slow.more() == ["0"]
    for number in range(1, 9):
        topic.produce(str(number))
        if number != 4:
            quick.more()
    assert slow.more() == list("12345678")
    topic.produce_all(["9", "10", "11", "12"])  # more at once than are kept
    assert quick.more() == slow.more() == ["9", "10", "11", "12"]


def test_one_that_begins_later_may_be_ahead_or_behind(source: Counting, shared: Shared) -> None:
    topic = source.topic()
    topic.produce_all(["a", "b"])
    first = Follower(shared)
    first.next = {0: 2}
    assert first.more() == []
    behind, ahead = Follower(shared), Follower(shared)
    ahead.next = {0: 4}
    assert behind.more() == ["a", "b"]
    assert ahead.more() == []
    topic.produce_all(["c", "d", "e"])
    assert ahead.more() == ["e"]
    assert first.more() == behind.more() == ["c", "d", "e"]


def test_each_isolation_level_sees_its_own(
    cluster: Cluster, source: Counting, shared: Shared
) -> None:
    source.topic()
    committed, all_of_them = Follower(shared), Follower(shared, READ_UNCOMMITTED)
    producer = TxnClient(cluster).begin()
    producer.write(b"a")
    assert all_of_them.more() == ["a"]
    source.asked.clear()
    assert committed.more() == []
    assert source.asked == []  # nothing is stable yet: it is not even read
    producer.end(commit=True)
    producer.add(0)
    producer.write(b"b")
    producer.end(commit=False)
    assert (committed.more(), all_of_them.more()) == (["a"], ["b"])


def test_another_topic_of_the_name_is_read_from_its_begin(source: Counting, shared: Shared) -> None:
    source.topic().produce_all(["a", "b"])
    assert Follower(shared).more() == ["a", "b"]
    source.cluster.topics.delete(source.cluster.topic("t"))
    with pytest.raises(Refused, match="there is no topic 't'; there are none"):
        Follower(shared).more()
    source.topic().produce("c")
    assert Follower(shared).more() == ["c"]


def test_of_nobody_who_waits_nothing_is_kept(source: Counting, shared: Shared) -> None:
    source.topic().produce("a")
    Follower(shared).more()
    assert shared._tails
    shared.clear()
    assert not shared._tails
    assert Follower(shared).more() == ["a"]
