"""Situations: the verbs.

What takes effect at once returns what has happened. What lasts returns a `Situation`: it ends when
its time is over, when it is removed, or with its `with` block, and fails the test if no client has
met it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...wire import Error
from ..base.fitting import shown
from ..control.rules.checks import a_time, a_whole_number
from ..control.rules.verbs.muting import Muted, ThrottleAndMute
from ..facets.when import When
from ..seen import (
    GroupView,
    SeenInFlight,
    SeenMember,
    SeenProducer,
    SeenTransaction,
    ShareGroupView,
    StreamsGroupView,
    TopicView,
)
from . import ending, expiring, moving, older, overtaking, sharing, streaming
from .ending import Jump
from .expiring import AnyGroup
from .situation import Part, Situation, said

if TYPE_CHECKING:
    from .situated import Situated

_OF_LEADERS = ("Produce", "Fetch", "ListOffsets", "OffsetForLeaderEpoch", "DeleteRecords")


class Situations:
    """The situations of a broker: `kafka.situations`.

    `topic` is a name, a view, or a matcher as for records; `group` an id or a view. `seconds` are
    those of the broker's clock, which `kafka.advance` moves; without them a situation lasts until
    it is removed.
    """

    def __init__(self, kafka: Situated) -> None:
        self._kafka = kafka

    # Producers

    def lost_acknowledgement(
        self, topic: Any, *, times: int = 1, silent: bool = False
    ) -> Situation:
        """Records are stored, and the connection breaks before the producer is told; `silent`: it
        stays open, and nothing comes, so that the producer waits until its own time for a request
        is over (30 s or more by default)."""
        when = self._kafka.on("Produce", topic=topic).times(times)
        lost = when.drop_reply() if silent else when.disconnect("after")
        more = {"times": None if times == 1 else times, "silent": silent or None}
        return self._of(said("lost_acknowledgement", topic, **more), lost)

    def retry_storm(self, topic: Any, times: int = 5) -> Situation:
        """So many requests in turn are stored, and answered REQUEST_TIMED_OUT all the same, as by a
        broker whose replicas are too slow: a producer sends the same records again and again. Only
        for producers that wait for all replicas (acks=all): others are never answered so."""
        when = self._kafka.on("Produce", topic=topic, where=waits_for_replicas).times(times)
        failed = when.fail(Error.REQUEST_TIMED_OUT, when="after")
        return self._of(said("retry_storm", topic, times), failed)

    def producer_id_expired(self, topic: str | TopicView) -> list[SeenProducer]:
        """The topic's partitions forget their idempotent producers, as after
        `producer.id.expiration.ms` (a day): a batch that is sent again is stored again. Returns
        those that are forgotten; one with an open transaction is not. Raises Refused for a topic
        that there is not, ValueError if nothing is known of any producer there."""
        return expiring.producer_ids(self._kafka, self._view(topic))

    def message_too_large(
        self, topic: str | TopicView, max_bytes: int, *, seconds: float | None = None
    ) -> Situation:
        """The topic's `max.message.bytes` is this from now on, and what it was before once this is
        over, or removed. A batch that is larger is refused: MESSAGE_TOO_LARGE. Raises Refused as
        IncrementalAlterConfigs would answer."""
        view = self._view(topic)
        a_whole_number("max_bytes", max_bytes, least=0)
        length = None if seconds is None else a_time("seconds", seconds)
        sentence = said("message_too_large", view.name, max_bytes, seconds=seconds)
        undo = overtaking.limit(self._kafka, view.name, max_bytes)
        refused = overtaking.refusals(self._kafka, view.name)
        situation = Situation(self._kafka, sentence, [refused], undo)
        if length is not None:
            ending.once_over(self._kafka, length, situation.remove)
        return situation

    # Leaders and coordinators

    def not_leader(
        self, topic: Any, *, partition: int | None = None, seconds: float | None = None
    ) -> Situation:
        """The broker does not lead the topic's partitions, or this one of them, though metadata say
        so: NOT_LEADER_OR_FOLLOWER, as while a new leader is elected."""
        narrowed = {"topic": topic} | ({} if partition is None else {"partition": partition})
        rules = [
            self._while(seconds, self._kafka.on(api, **narrowed)).fail(Error.NOT_LEADER_OR_FOLLOWER)
            for api in _OF_LEADERS
        ]
        sentence = said("not_leader", topic, partition=partition, seconds=seconds)
        return self._of(sentence, *rules)

    def coordinator_loading(
        self,
        *,
        group: str | GroupView | None = None,
        transactional_id: str | None = None,
        seconds: float | None = None,
    ) -> Situation:
        """The coordinator of a group, or of a transactional id, reads its log, as after a change of
        leaders: COORDINATOR_LOAD_IN_PROGRESS. Heartbeats are answered meanwhile, as by Kafka.
        Raises TypeError unless there is one of both."""
        whose = moving.whose(group, transactional_id)
        rules = moving.loading(self._kafka, whose, seconds)
        return self._of(said("coordinator_loading", **whose, seconds=seconds), *rules)

    def coordinator_moved(
        self, *, group: str | GroupView | None = None, transactional_id: str | None = None
    ) -> Situation:
        """The coordinator of a group, or of a transactional id, is another one from now on: each
        client (by its id) is told NOT_COORDINATOR until it has asked again where it is. Who asks
        for it first does not notice. Raises TypeError unless there is one of both."""
        whose = moving.whose(group, transactional_id)
        rules, finder = moving.moved(self._kafka, whose)
        sentence = said("coordinator_moved", **whose)
        finder.called(f"{sentence}: it has asked where")
        return Situation(self._kafka, sentence, rules, finder.remove)

    # Groups

    def rebalance_in_batch(self, group: str | GroupView) -> Situation:
        """The group rebalances once, right after one of its members was given records: while it
        works on them. A client is a member by its client id."""
        view = self._group(group)
        rule = moving.rebalance_at_fetch(self._kafka, view)
        return self._of(said("rebalance_in_batch", view.group_id), rule)

    def zombie_consumer(
        self, group: AnyGroup | str, member: SeenMember | str | None = None
    ) -> SeenMember:
        """A member's session is over, as if it had stood still for too long: it is removed, others
        get its partitions, and it is told so when it comes back (UNKNOWN_MEMBER_ID). Returns it.
        `member` is one of the group's, its id or its static id; without it the only one. The group
        may be a share group or a streams group, too.

        Raises ValueError if the group has none or several; Refused: UNKNOWN_MEMBER_ID,
        REBALANCE_IN_PROGRESS for a member that waits for others, which keeps it alive.
        """
        return expiring.session(self._kafka, expiring.of_its_type(self._kafka, group), member)

    def member_fenced(
        self, group: AnyGroup | str, member: SeenMember | str | None = None
    ) -> Situation:
        """A member's next heartbeat is refused once, FENCED_MEMBER_EPOCH: it has to give up what it
        has at once, and to join again. Of a group of the newer protocols (KIP-848, KIP-932,
        KIP-1071); a classic one has no epochs. Raises as `zombie_consumer`."""
        view = expiring.of_its_type(self._kafka, group)
        found = expiring.one_member(view, member)
        rule = moving.fenced_at_heartbeat(self._kafka, view, found)
        return self._of(said("member_fenced", view, member=_id_of(member)), rule)

    # Share groups

    def lock_ends_in_batch(self, group: str | ShareGroupView, times: int = 1) -> Situation:
        """The acquisition locks of a member end right after it was given records, so many times:
        while it works on them. They are delivered again, to whoever asks first, or archived at
        their limit; and its acknowledgement is refused, INVALID_RECORD_STATE."""
        view = self._share_group(group)
        rule = sharing.locks_end_at_fetch(self._kafka, view, a_whole_number("times", times))
        more = {"times": None if times == 1 else times}
        return self._of(said("lock_ends_in_batch", view, **more), rule)

    def poison_record(
        self, group: str | ShareGroupView, topic: str | TopicView, offset: int, partition: int = 0
    ) -> Situation:
        """No member is ever done with this record: whoever accepts it releases it. So it is
        delivered again until its delivery limit archives it, or until this is removed. `hits` is
        how often it was delivered. Raises as `share_group(...).poison`."""
        view, name = self._share_group(group), self._view(topic).name
        rule, cure = sharing.poisoned(self._kafka, view, name, partition, offset)
        sentence = said("poison_record", view, name, offset, partition=partition or None)
        return Situation(self._kafka, sentence, [rule], cure)

    def share_session_lost(
        self, group: str | ShareGroupView, member: SeenMember | str | None = None
    ) -> tuple[SeenInFlight, ...]:
        """The brokers forget a member's share session, as when its connection was lost: what it has
        acquired is released, for others to take, and its next ShareFetch or ShareAcknowledge is
        refused, SHARE_SESSION_NOT_FOUND. Returns what it had in flight. Raises ValueError if it has
        not fetched yet, and as `zombie_consumer`."""
        return sharing.lost_session(self._kafka, self._share_group(group), member)

    # Streams groups

    def task_moves(
        self, group: str | StreamsGroupView, task: str, to: SeenMember | str
    ) -> Situation:
        """A task ("0_1": subtopology and partition) moves to another member, with a warm-up: as
        long as this lasts that member has a standby of it, and once it is removed the task. Kafka
        4.3.1 knows no warm-up tasks but standbys. Each step waits for heartbeats. Raises Refused:
        UNKNOWN_MEMBER_ID, INVALID_REQUEST if no other member has the task, REBALANCE_IN_PROGRESS
        until the group is stable."""
        view, moves = self._streams_group(group), streaming.task_id(task)
        rule, move = streaming.warmed_up(self._kafka, view, moves, to)
        return Situation(self._kafka, said("task_moves", view, task, _id_of(to)), [rule], move)

    def internal_topics_missing(self, group: str | StreamsGroupView) -> Situation:
        """The group's changelogs and repartition topics are deleted, and cannot be created until
        this is removed, or the broker restarted: members are told MISSING_INTERNAL_TOPICS, nobody
        has any task, and the group is NotReady. Raises ValueError for a group without any."""
        view = self._streams_group(group)
        sentence = said("internal_topics_missing", view)
        rule, undo = streaming.topics_missing(self._kafka, view, sentence)
        return Situation(self._kafka, sentence, [rule], undo)

    def topology_changed(self, group: str | StreamsGroupView) -> int:
        """The group has a newer topology than its members, as when another release of the
        application took over: each heartbeat of theirs is told STALE_TOPOLOGY. Returns the
        topology's epoch. Raises Refused(GROUP_ID_NOT_FOUND)."""
        return streaming.newer_topology(self._kafka, self._streams_group(group))

    # Transactions

    def zombie_producer(
        self, transactional_id: str, *, timeout: float | None = None
    ) -> SeenTransaction:
        """Another producer with this transactional id begins, as when a process is replaced that
        still runs: the one that is there is a zombie from now on, its open transaction is aborted,
        and what it sends is refused. Returns what the broker knows of the id then. Waits while the
        transaction is being ended. Raises Refused(TRANSACTIONAL_ID_NOT_FOUND), WaitTimeout."""
        __tracebackhide__ = True
        wait = expiring.fenced(self._kafka, transactional_id)
        return self._kafka._inside.wait(wait, timeout)

    async def azombie_producer(
        self, transactional_id: str, *, timeout: float | None = None
    ) -> SeenTransaction:
        """`zombie_producer` in a coroutine."""
        __tracebackhide__ = True
        wait = expiring.fenced(self._kafka, transactional_id)
        return await self._kafka._inside.wait_async(wait, timeout)

    def transaction_timeout(self, transactional_id: str) -> SeenTransaction:
        """The open transaction has been open for longer than its timeout: it is aborted, and its
        producer fenced. Returns what the broker knows of it then. Raises Refused:
        TRANSACTIONAL_ID_NOT_FOUND, INVALID_TXN_STATE if none is open."""
        return expiring.transaction(self._kafka, transactional_id)

    # Topics

    def retention_overtakes(
        self, topic: str | TopicView, *, group: str | GroupView | None = None, keep: int = 0
    ) -> dict[int, int]:
        """Records are deleted before they were read: of each partition all but the last `keep`
        offsets, or, with a group, only where it has committed less than that: it is to have
        committed something of the topic before. Who asks for them is told OFFSET_OUT_OF_RANGE.
        Returns where each such partition begins now. Raises Refused for a topic that there is not,
        ValueError if the group has read what would be deleted, or has committed nothing."""
        read_by = None if group is None else self._group(group)
        kept = a_whole_number("keep", keep, least=0)
        return overtaking.overtake(self._view(topic), read_by, kept)

    def topic_recreated(self, topic: str | TopicView) -> TopicView:
        """The topic is deleted and created again with as many partitions: its id is another, it is
        empty, and its offsets begin at 0. Raises Refused for a topic that there is not."""
        return self._kafka.recreate_topic(self._view(topic).name)

    def partitions_added(self, topic: str | TopicView, count: int = 1) -> int:
        """The topic has so many partitions more. Returns how many it has. Raises Refused."""
        return self._view(topic).add_partitions(a_whole_number("count", count))

    # The broker

    def disk_full(self, *, seconds: float | None = None) -> Situation:
        """The disk has no room for what clients do: what is produced is refused,
        KAFKA_STORAGE_ERROR, and commits NOT_COORDINATOR. What the test does itself has room."""
        fault = self._kafka._disk_faults.full(seconds=seconds, spares_test=True)
        return Situation(self._kafka, said("disk_full", seconds=seconds), [fault])

    def clock_jump(self, seconds: float, *, lasts: float | None = None) -> Jump:
        """The broker's clock is set to another time, so many seconds later, or earlier if there are
        less than 0, as after it was corrected. Sessions and waits are not concerned: they are timed
        by another clock. The age of records, transactions and producers is: retention may delete,
        and a record whose time is more than an hour ahead is refused (INVALID_TIMESTAMP). Returns
        the broker's time, in ms since 1970: an int that has `remove()`, and is a `with` block, at
        whose end the clock is set back by as much, as it is after `lasts` seconds of that clock.
        Raises TypeError for a clock that is not its own."""
        length = None if lasts is None else a_time("lasts", lasts)
        if not isinstance(seconds, int | float) or isinstance(seconds, bool):
            raise TypeError(f"seconds is a number, not {shown(seconds)}")
        milliseconds = round(seconds * 1000)

        def jump(cluster: Any) -> int:
            cluster.jump(milliseconds)
            return int(cluster.clock.now())

        found = Jump(self._kafka.run(jump))
        found.undo = lambda: self._kafka.run(lambda cluster: cluster.jump(-milliseconds))
        if length is not None:
            ending.once_over(self._kafka, length, found.remove)
        return found

    def slow_broker(self, seconds: float, *, client_id: Any = None) -> Situation:
        """Every answer comes so many real seconds later, of everybody, or of clients with this
        id."""
        fault = self._kafka._network.latency(seconds, client_id=client_id)
        return Situation(self._kafka, said("slow_broker", seconds, client_id=client_id), [fault])

    def throttled(self, milliseconds: int, *, client_id: Any = None) -> Situation:
        """Producers and consumers are over their quota: every answer to Produce and Fetch says that
        the client is to wait so long, and the broker reads nothing from it meanwhile."""
        a_whole_number("milliseconds", milliseconds)
        muted, rules = Muted(), []
        for api in ("Produce", "Fetch"):
            when = self._kafka.on(api, **({} if client_id is None else {"client_id": client_id}))
            rules.append(when._set("throttled", ThrottleAndMute(muted, milliseconds)))
        return self._of(said("throttled", milliseconds, client_id=client_id), *rules)

    def older_broker(self, release: str) -> Situation:
        """The broker is of an older release, as far as clients can tell: it says that it serves the
        versions that this release did, as far as this broker serves them, and closes the connection
        of a client that uses another, so that it asks again. `release` is "0.11", "1.1", "2.0",
        "2.1", "2.4", "2.8", "3.3" or "3.6". Raises ValueError for another."""
        name, says, closes = older.rules(self._kafka, release)
        return self._of(said("older_broker", name), says, *closes)

    # Within

    def _of(self, sentence: str, *parts: Part) -> Situation:
        return Situation(self._kafka, sentence, parts)

    def _while(self, seconds: float | None, when: When) -> When:
        return when if seconds is None else when.during(seconds)

    def _view(self, topic: str | TopicView) -> TopicView:
        return self._kafka.topic(topic.name if isinstance(topic, TopicView) else topic)

    def _share_group(self, group: str | ShareGroupView) -> ShareGroupView:
        return group if isinstance(group, ShareGroupView) else self._kafka.share_group(group)

    def _streams_group(self, group: str | StreamsGroupView) -> StreamsGroupView:
        return group if isinstance(group, StreamsGroupView) else self._kafka.streams_group(group)

    def _group(self, group: str | GroupView) -> GroupView:
        return group if isinstance(group, GroupView) else self._kafka.group(group)


def _id_of(member: SeenMember | str | None) -> str | None:
    return member.member_id if isinstance(member, SeenMember) else member


def waits_for_replicas(request: Any) -> bool:
    """Whether a producer waits for all replicas (acks=all)."""
    return bool(request.acks == -1)
