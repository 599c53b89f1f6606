"""A drawn history of a share group, and what its clients know at any time.

Members fetch, accept, release, reject and renew; locks end, sessions and connections close, members
join and leave, a partition is added. `Known` is what the answers have said; `judge` opens what a
crash has left, delivers all that is left there to one more member, and compares.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from odradek.emulator.cluster import Cluster
from odradek.emulator.config.internal_topics import SHARE_GROUP_STATE
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.configs import change_request
from tests.requests.produce import batch, produce
from tests.requests.share_groups import (
    ACCEPT,
    GAP,
    LEAVES,
    REJECT,
    RELEASE,
    RENEW,
    acquired,
    share_acknowledge,
    share_beat,
    share_fetch,
)
from tests.support.cluster import client_of

MOST = 4
LOCK_MS = 30_000
CONFIGS = {
    "offsets_topic_num_partitions": "1",
    "share_coordinator_state_topic_num_partitions": "1",
    "share_coordinator_snapshot_update_records_per_snapshot": "3",
    "share_coordinator_state_topic_prune_interval_ms": "20000",
    "share_coordinator_cold_partition_snapshot_interval_ms": "45000",
    "group_share_delivery_count_limit": str(MOST),
}
MEMBERS = ("a", "b", "c")
_GROUP = 32
_SET = 0


class Place(NamedTuple):
    partition: int
    offset: int


@dataclass
class Known:
    """What clients were told. Counts are those of deliveries."""

    written: set[Place] = field(default_factory=set)
    done: set[Place] = field(default_factory=set)
    deliveries: dict[Place, int] = field(default_factory=dict)
    released: dict[Place, int] = field(default_factory=dict)
    """At which count a release was answered."""
    asked: set[Place] = field(default_factory=set)
    """What the request that is not answered yet is about."""
    unsure: set[Place] = field(default_factory=set)
    """The same of requests that crashes have cut short, until it is delivered again."""

    def after_crash(self) -> Known:
        """The same, where nothing is on its way any more."""
        after = deepcopy(self)
        after.unsure |= after.asked
        after.asked.clear()
        return after

    def must_come(self) -> set[Place]:
        """What is delivered again, whatever the crash has undone. What was delivered as often as
        may be is archived when its lock ends, which nobody is told."""
        at_limit = {place for place, count in self.deliveries.items() if count >= MOST}
        return self.written - self.done - self.asked - self.unsure - at_limit

    def check(self, place: Place, count: int, context: str) -> None:
        """A delivery after the crash."""
        result, released = self.deliveries.get(place, 0), self.released.get(place, 0)
        assert place not in self.done, f"{context}: {place} was acknowledged, and is delivered"
        assert count >= result, f"{context}: {place} is delivery {count} after {result}"
        assert count > released, f"{context}: {place} was released at {released}, and is {count}"
        assert count <= min(result + 1, MOST), (
            f"{context}: {place} is delivery {count} after {result}"
        )


class Held(NamedTuple):
    """Who has a record, at which delivery, and until when (ms)."""

    member_id: str
    delivery: int
    until: int


class _Member:
    def __init__(self, cluster: Cluster) -> None:
        self.client = client_of(cluster)
        self.epoch = 0


class History:
    """A cluster, its members, and what they know. `step` does something drawn."""

    def __init__(self, cluster: Cluster, random: Random, known: Known | None = None) -> None:
        self.cluster = cluster
        self.random = random
        self.known = known or Known()
        self.held: dict[Place, Held] = {}
        self._producer = client_of(cluster)
        self._members = {each: _Member(cluster) for each in MEMBERS}
        self._number = 0

    @property
    def topic_id(self) -> bytes:
        return self.cluster.topic("t").id

    def _parts(self) -> dict[tuple[bytes, int], Any]:
        count = len(self.cluster.topic("t").partitions)
        return {(self.topic_id, index): () for index in range(count)}

    def draw(self) -> str:
        """What is done next."""
        often = ("writes", "writes", "fetches", "fetches", "acknowledges", "acknowledges")
        names = (*often, *often, "waits", "ends", "loses", "joins", "leaves", "grows")
        return self.random.choice(names)

    def carry_out(self, name: str) -> None:
        """Do it, until it is answered."""
        getattr(self, name)()
        self.known.asked.clear()

    def writes(self) -> None:
        partition = self.random.randrange(len(self._parts()))
        count = self.random.randint(1, 5)
        answer = produce(self._producer, batch(*[b"v"] * count), partition=partition)
        assert answer.error_code == 0
        first = answer.base_offset
        self.known.written |= {Place(partition, first + at) for at in range(count)}

    def fetches(self) -> None:
        """Opens a session where there is none; else it may acknowledge, too."""
        member_id = self.random.choice(MEMBERS)
        member = self._members[member_id]
        parts = self._parts() if member.epoch == 0 else {}
        kinds = {}
        if member.epoch and self.random.random() < 0.4:
            kinds = self._kinds(member_id, renews=False)
            parts = self._batches(kinds)
        answer = share_fetch(
            member.client,
            parts,
            member.epoch,
            member_id,
            max_records=self.random.choice((1, 3, 500)),
            share_acquire_mode=self.random.choice((0, 0, 1)),
            batch_size=self.random.choice((2, 500)),
        )
        assert answer.error_code == 0
        errors = [p.acknowledge_error_code for t in answer.responses for p in t.partitions]
        assert not any(errors)
        member.epoch += 1
        self._acknowledged(kinds)
        self._took(member_id, answer)

    def _took(self, member_id: str, answer: Any) -> None:
        until = self.cluster.clock.now() + LOCK_MS
        for topic in answer.responses:
            for partition in topic.partitions:
                assert partition.error_code == 0
                for place, count in _deliveries(partition):
                    assert place not in self.held
                    self.known.check(place, count, "without a crash")
                    self.known.deliveries[place] = count
                    self.known.unsure.discard(place)
                    self.held[place] = Held(member_id, count, until)

    def acknowledges(self) -> None:
        holders = sorted({held.member_id for held in self.held.values()})
        if not holders:
            return
        member_id = self.random.choice(holders)
        kinds = self._kinds(member_id, renews=self.random.random() < 0.2)
        if kinds:
            self._acknowledge(member_id, kinds, self._members[member_id].epoch)

    def ends(self) -> None:
        """The last acknowledgement of a session: what the member has besides is released."""
        member_id = self.random.choice(MEMBERS)
        member = self._members[member_id]
        if member.epoch == 0:
            return
        kinds = self._kinds(member_id, renews=False)
        has = {place for place, held in self.held.items() if held.member_id == member_id}
        self.known.asked |= has
        self._acknowledge(member_id, kinds, -1)
        self._acknowledged(dict.fromkeys(has - set(kinds), RELEASE))
        member.epoch = 0

    def _acknowledge(self, member_id: str, kinds: dict[Place, int], epoch: int) -> None:
        member = self._members[member_id]
        renews = RENEW in kinds.values()
        batches = self._batches(kinds)
        answer = share_acknowledge(member.client, batches, epoch, member_id, is_renew_ack=renews)
        assert answer.error_code == 0
        assert not any(p.error_code for t in answer.responses for p in t.partitions)
        member.epoch += 1
        self._acknowledged(kinds)

    def _kinds(self, member_id: str, *, renews: bool) -> dict[Place, int]:
        """What becomes of some of what a member has."""
        has = sorted(place for place, held in self.held.items() if held.member_id == member_id)
        some = [place for place in has if self.random.random() < 0.6]
        most = RENEW if renews else REJECT
        kinds = {place: self.random.randint(GAP, most) for place in some}
        self.known.asked |= {place for place in kinds if kinds[place] != RENEW}
        return kinds

    def _batches(self, kinds: dict[Place, int]) -> dict[tuple[bytes, int], Any]:
        """Batches of one type, or of one type for each offset."""
        found: dict[tuple[bytes, int], list[tuple[int, int, list[int]]]] = {}
        for place in sorted(kinds):
            batches = found.setdefault((self.topic_id, place.partition), [])
            last = batches[-1] if batches else None
            if last is not None and last[1] + 1 == place.offset and self.random.random() < 0.7:
                batches[-1] = (last[0], place.offset, [*last[2], kinds[place]])
            else:
                batches.append((place.offset, place.offset, [kinds[place]]))
        return {
            part: [(f, la, t[:1] if len(set(t)) == 1 else t) for f, la, t in batches]
            for part, batches in found.items()
        }

    def _acknowledged(self, kinds: dict[Place, int]) -> None:
        known, now = self.known, self.cluster.clock.now()
        for place, kind in kinds.items():
            if kind == RENEW:
                self.held[place] = self.held[place]._replace(until=now + LOCK_MS)
                continue
            count = self.held.pop(place).delivery
            if kind == RELEASE:
                known.released[place] = count
            else:
                known.done.add(place)

    def waits(self) -> None:
        """Locks may end, states may be snapshot, and what is before may be deleted."""
        self.cluster.advance(self.random.choice((1000, 10_000, LOCK_MS, 61_000)))
        now = self.cluster.clock.now()
        self.held = {place: held for place, held in self.held.items() if held.until > now}

    def loses(self) -> None:
        """A connection is closed."""
        member_id = self.random.choice(MEMBERS)
        self._members[member_id].client.connection.close()
        self._members[member_id] = _Member(self.cluster)
        self.held = {p: held for p, held in self.held.items() if held.member_id != member_id}

    def joins(self) -> None:
        joined = share_beat(self._producer, self.random.choice(MEMBERS))
        assert joined.error_code == 0

    def leaves(self) -> None:
        share_beat(self._producer, self.random.choice(MEMBERS), LEAVES)

    def grows(self) -> None:
        """One more partition, whose state a heartbeat initialises; three at most."""
        topic = self.cluster.topic("t")
        if len(topic.partitions) < 3:
            self.cluster.topics.add_partitions(topic, len(topic.partitions) + 1)
            assert share_beat(self._producer).error_code == 0


def begin(cluster: Cluster) -> None:
    """Topic t, whose states are initialised for group g, all of it on disk."""
    client = client_of(cluster)
    cluster.create_topic("t", 1, {})
    client.ask(FindCoordinatorRequest(key="g"), 2)
    change = ("share.auto.offset.reset", _SET, "earliest")
    answer = client.ask(change_request((_GROUP, "g", [change])), 1)
    assert answer.responses[0].error_code == 0
    share_beat(client)
    for name in ("t", "__consumer_offsets", SHARE_GROUP_STATE):
        for partition in cluster.topic(name).partitions:
            cluster.log_manager.flusher.flush(partition.log)
    cluster.log_manager.flusher.drain()


def settle(cluster: Cluster) -> None:
    """Have the states initialised whose initialisation was cut short: that is tried again when a
    member sends a heartbeat after a while."""
    client = client_of(cluster)
    share_beat(client)
    cluster.advance(LOCK_MS)
    share_beat(client)


def judge(cluster: Cluster, known: Known, context: str) -> None:
    """Have one more member take all that is left, and accept it. Raises AssertionError."""
    settle(cluster)
    client, member_id = client_of(cluster), "z"
    topic = cluster.topic("t")
    parts = {(topic.id, each.index): () for each in topic.partitions}
    got: set[Place] = set()
    answer = share_fetch(client, parts, 0, member_id)
    epoch = 1
    while acquired(answer):
        acks: dict[tuple[bytes, int], Any] = {}
        for partition in answer.responses[0].partitions:
            assert (partition.error_code, partition.acknowledge_error_code) == (0, 0), context
            for place, count in _deliveries(partition):
                assert place not in got, f"{context}: {place} is delivered again"
                got.add(place)
                known.check(place, count, context)
                batches = acks.setdefault((topic.id, place.partition), [])
                batches.append((place.offset, place.offset, [ACCEPT]))
        share_acknowledge(client, acks, epoch, member_id)
        answer = share_fetch(client, {}, epoch + 1, member_id)
        epoch += 2
    assert known.must_come() <= got, f"{context}: lost {sorted(known.must_come() - got)}"
    for share in cluster.share_partition_managers.at(1).shares():
        end = topic.partitions[share.key.partition].log_end_offset
        # What was done with between gaps counts, but stays in flight until the next record comes.
        assert share.start_offset + share.complete_count == end, context


def _deliveries(answer: Any) -> list[tuple[Place, int]]:
    """What a member gets of a partition, record by record, and the delivery counts."""
    return [
        (Place(answer.partition_index, offset), each.delivery_count)
        for each in answer.acquired_records
        for offset in range(each.first_offset, each.last_offset + 1)
    ]
