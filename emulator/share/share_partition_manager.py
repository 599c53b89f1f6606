"""A broker's side of share groups' members: its share partitions and share sessions.

A share partition is loaded when a member first fetches from it, and forgotten when the broker does
not lead the partition any more, when its state has another epoch, and when the last session of its
group has ended with its connection: the next fetch loads what the share coordinator has stored.

A share session keeps which partitions a member fetches from, so that it need not name them each
time (semantics N9, N11, N18):
- A session is a group's and a member's; the member need not have joined. Epoch 0 opens one in the
  place of any other, with the partitions of the request; each request after that has the next
  epoch, adds the partitions it names and takes away those to forget; -1 closes it.
- No session is SHARE_SESSION_NOT_FOUND, another epoch INVALID_SHARE_SESSION_EPOCH. A broker has
  `group.share.max.share.sessions` at most (SHARE_SESSION_LIMIT_REACHED).
- The answer to epoch 0 has all partitions, others have what is new: records, errors, and what was
  named for the first time or had an error before.
- A session ends with the connection that opened it, and what its member has acquired is released.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...wire import Error, Refused
from ..base.timers import Timer
from ..config.definition import seconds_before
from ..config.group import GroupConfig, group_config
from ..partitions.partition import READ_COMMITTED, READ_UNCOMMITTED
from .acquired_records import ShareAcknowledgementBatch, acknowledge, release
from .share_partition import RangeEvent, SharePartition, ShareSettings, as_leader
from .state import Change, SharePartitionKey

if TYPE_CHECKING:
    from ..broker import ClusterState
    from ..metadata.delta import MetadataDelta
    from ..metadata.image import MetadataImage
    from ..partitions.partition import Partition
    from .coordinators import ShareCoordinators

INITIAL_EPOCH, FINAL_EPOCH = 0, -1
_LAST_EPOCH = 2**31 - 1


class TopicIdPartition(NamedTuple):
    """A partition, by its topic's id."""

    topic_id: bytes
    partition: int


class ShareSessionKey(NamedTuple):
    group_id: str
    member_id: str


class ShareSession:
    """One session. `connection`: what tells the connection that opened it from others."""

    def __init__(
        self, key: ShareSessionKey, parts: Iterable[TopicIdPartition], connection: object
    ) -> None:
        self.key = key
        self.epoch = 1
        self.connection = connection
        # Whether a partition is in the next answer, whatever there is of it.
        self._must_tell = dict.fromkeys(parts, False)

    @property
    def parts(self) -> list[TopicIdPartition]:
        """Its partitions, those first that have had no records for longest."""
        return list(self._must_tell)

    def update(
        self, named: Iterable[TopicIdPartition], forgotten: Iterable[TopicIdPartition]
    ) -> None:
        """Add what a request names, and forget what it is to forget."""
        for part in named:
            self._must_tell.setdefault(part, True)
        for part in forgotten:
            self._must_tell.pop(part, None)

    def is_news(self, part: TopicIdPartition, has_error: bool, has_records: bool) -> bool:
        """Whether the answer has a partition, which learns it by this."""
        must_tell = self._must_tell.get(part)
        if must_tell is None:  # forgotten while the request waited
            return has_error or has_records
        self._must_tell[part] = has_error
        if has_records:
            self._must_tell[part] = self._must_tell.pop(part)
        return must_tell or has_error or has_records


class ShareSessionCache:
    def __init__(self, most: int) -> None:
        self._most = most
        self._sessions: dict[ShareSessionKey, ShareSession] = {}
        # The session that each connection has opened last, and all groups it has opened some for.
        self._by_connection: dict[object, ShareSessionKey] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, key: ShareSessionKey) -> ShareSession:
        """A session. Raises Refused(SHARE_SESSION_NOT_FOUND)."""
        session = self.find(key)
        if session is None:
            raise Refused(Error.SHARE_SESSION_NOT_FOUND)
        return session

    def find(self, key: ShareSessionKey) -> ShareSession | None:
        return self._sessions.get(key)

    def open(
        self, key: ShareSessionKey, parts: Iterable[TopicIdPartition], connection: object
    ) -> ShareSession:
        """Open a session anew. Raises Refused(SHARE_SESSION_LIMIT_REACHED)."""
        self.remove(key)
        if len(self._sessions) >= self._most:
            raise Refused(Error.SHARE_SESSION_LIMIT_REACHED)
        session = self._sessions[key] = ShareSession(key, parts, connection)
        self._by_connection[connection] = key
        return session

    def next(self, key: ShareSessionKey, epoch: int) -> ShareSession:
        """The session of a request in this epoch, which stays as it is.
        Raises Refused: SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH."""
        session = self.get(key)
        if session.epoch != epoch:
            raise Refused(Error.INVALID_SHARE_SESSION_EPOCH)
        return session

    def remove(self, key: ShareSessionKey) -> ShareSession | None:
        return self._sessions.pop(key, None)

    def lost(self, connection: object) -> tuple[ShareSessionKey | None, ShareSession | None]:
        """A connection is closed: the session that it opened last, if that is still there, and its
        key in any case."""
        key = self._by_connection.pop(connection, None)
        session = None if key is None else self._sessions.get(key)
        if session is not None and session.connection is not connection:
            session = None
        return key, session

    def has_any(self, group_id: str) -> bool:
        return any(key.group_id == group_id for key in self._sessions)

    def clear(self) -> None:
        self._sessions.clear()
        self._by_connection.clear()


def next_epoch(epoch: int) -> int:
    return 1 if epoch == _LAST_EPOCH else epoch + 1


_FEATURE = "share.version"
_MOST_NAMES = 1_000
# What says that a share partition is out of date.
_FENCING = (
    Error.NOT_LEADER_OR_FOLLOWER,
    Error.FENCED_STATE_EPOCH,
    Error.GROUP_ID_NOT_FOUND,
    Error.UNKNOWN_TOPIC_OR_PARTITION,
)


class SharePartitionManager:
    def __init__(
        self,
        state: ClusterState,
        coordinators: ShareCoordinators,
        poison_of: Callable[[SharePartitionKey], Collection[int]],
        node_id: int,
    ) -> None:
        self._state = state
        self._coordinators = coordinators
        self._poison_of = poison_of
        self.node_id = node_id
        config = state.brokers[node_id].config
        has_shares = state.environment.release.has_share_coordinator
        self.sessions = ShareSessionCache(
            config.get("group.share.max.share.sessions") if has_shares else 0
        )
        self._shares: dict[SharePartitionKey, SharePartition] = {}
        # What members are called in events.
        self._names: dict[str, str] = {}
        # The settings of groups, as of an offset of the metadata log.
        self._settings: dict[str, ShareSettings] = {}
        self._settings_as_of = -1

    # What share partitions need

    def now(self) -> int:
        return self._state.environment.clock.now()

    def config(self, group_id: str) -> GroupConfig:
        configs_of = self._state.metadata.image.configs_of
        return group_config(configs_of, group_id, self._state.brokers[self.node_id].config)

    def settings(self, group_id: str) -> ShareSettings:
        as_of = self._state.metadata.end_offset
        if as_of != self._settings_as_of:
            self._settings_as_of = as_of
            self._settings.clear()
        found = self._settings.get(group_id)
        if found is None:
            config = self.config(group_id)
            found = self._settings[group_id] = ShareSettings(
                config.get("share.record.lock.duration.ms"),
                config.get("share.delivery.count.limit"),
                config.get("share.partition.max.record.locks"),
                config.get("share.renew.acknowledge.enable"),
                self._state.environment.release.isolates_bad_records,
            )
        return found

    def isolation(self, group_id: str) -> int:
        is_committed = self.config(group_id).get("share.isolation.level") == "read_committed"
        return READ_COMMITTED if is_committed else READ_UNCOMMITTED

    def start_timer(self, when: int, callback: Callable[[], None]) -> Timer:
        return self._state.environment.timers.at(when, callback)

    def soon(self, callback: Callable[[], None]) -> None:
        self._state.environment.woken.append(callback)

    def write(
        self, key: SharePartitionKey, state_epoch: int, leader_epoch: int, change: Change
    ) -> None:
        """Have the share coordinator note a change. Raises Refused."""
        self._coordinators.write(key, state_epoch, leader_epoch, change)

    def poison(self, key: SharePartitionKey) -> Collection[int]:
        """The offsets that a test has made poison."""
        return self._poison_of(key)

    def tell(self, key: SharePartitionKey, event: RangeEvent) -> None:
        """Log the event of a range of offsets, if there is one."""
        journal = self._state.environment.journal
        if not journal.is_on:
            return
        topic = self._state.topics.by_id(key.topic_id)
        # Who has left the group already is named as before.
        before = self._names.get(event.member_id, f"member {event.member_id}")
        if len(self._names) >= _MOST_NAMES:
            self._names.clear()
        name = self._names[event.member_id] = journal.members.known(event.member_id, before)
        journal.stretch(
            event.kind,
            event.first,
            event.last,
            client=name,
            topic="" if topic is None else topic.name,
            partition=key.partition,
            group=key.group_id,
            member=event.member_id,
            reason=event.reason,
            details={"delivery": event.delivery},
        )

    # Share partitions

    def share(self, key: SharePartitionKey) -> SharePartition | None:
        """A share partition that is loaded."""
        return self._shares.get(key)

    def shares(self) -> list[SharePartition]:
        return list(self._shares.values())

    def loaded(self, key: SharePartitionKey, partition: Partition) -> SharePartition:
        """A share partition, loaded if need be. Raises Refused: NOT_LEADER_OR_FOLLOWER,
        UNKNOWN_SERVER_ERROR if the state is not initialised, and others."""
        share = self._shares.get(key)
        if share is None:
            partition.check_read(self.node_id)
            epoch = partition.leader_epoch
            try:
                stored = self._coordinators.read(key, epoch)
            except Refused as refused:
                raise as_leader(refused) from refused

            def begin() -> int:
                return self._beginning(key.group_id, partition)

            share = self._shares[key] = SharePartition(key, epoch, stored, begin, self)
        return share

    def _beginning(self, group_id: str, partition: Partition) -> int:
        """Where a group without an offset begins. Raises Refused(OFFSET_NOT_AVAILABLE)."""
        where: str = self.config(group_id).get("share.auto.offset.reset")
        if where == "latest":
            return partition.high_watermark
        seconds = seconds_before(where)
        if seconds is None:
            return partition.log_start_offset
        found = partition.log.reader.find_timestamp(self.now() - int(seconds * 1000))
        if found is None or found[0] >= partition.high_watermark:
            raise Refused(Error.OFFSET_NOT_AVAILABLE)
        return found[0]

    def forget(self, key: SharePartitionKey) -> None:
        share = self._shares.pop(key, None)
        if share is not None:
            share.is_fenced = True
            share.wake()

    # What members ask

    def acknowledge(
        self, key: SharePartitionKey, member_id: str, asked: Sequence[ShareAcknowledgementBatch]
    ) -> None:
        """Acknowledge records. Raises Refused: UNKNOWN_TOPIC_OR_PARTITION if nobody has fetched
        from the partition, and as `acknowledge` does."""
        share = self._shares.get(key)
        if share is None:
            raise Refused(
                Error.UNKNOWN_TOPIC_OR_PARTITION,
                "This server does not host this topic-partition.",
            )
        try:
            acknowledge(share, member_id, asked)
        except Refused as refused:
            if refused.error in _FENCING:
                self.forget(key)
            raise

    def close_session(self, key: ShareSessionKey) -> None:
        """End a session: what its member has acquired in it becomes available."""
        session = self.sessions.remove(key)
        if session is not None:
            self._release(session)

    def _release(self, session: ShareSession) -> None:
        for part in session.parts:
            key = SharePartitionKey(session.key.group_id, *part)
            share = self._shares.get(key)
            if share is None:
                continue
            try:
                release(share, session.key.member_id, "its share session has ended")
            except Refused as refused:
                if refused.error in _FENCING:
                    self.forget(key)

    def lost(self, connection: object) -> bool:
        """A connection is closed, and with it the session that it has opened. Returns whether it
        has ever opened any."""
        key, session = self.sessions.lost(connection)
        if session is not None:
            self.close_session(session.key)
        if key is not None and not self.sessions.has_any(key.group_id):
            for known in [each for each in self._shares if each.group_id == key.group_id]:
                self.forget(known)
        return key is not None

    def clear(self) -> None:
        """Forget everything: the process has ended, or there are no share groups any more."""
        self.sessions.clear()
        for key, share in list(self._shares.items()):
            share.end_locks()
            self.forget(key)

    def follow(self) -> None:
        """Forget what this broker does not lead."""
        for key, share in list(self._shares.items()):
            topic = self._state.topics.by_id(key.topic_id)
            if topic is None:
                share.end_locks()
            if topic is None or topic.partitions[key.partition].leader != self.node_id:
                self.forget(key)


class SharePartitionManagers:
    def __init__(self, state: ClusterState, coordinators: ShareCoordinators) -> None:
        self._state = state
        self._coordinators = coordinators
        self.poison: dict[SharePartitionKey, set[int]] = {}
        """The offsets that a test has made poison, whoever leads."""
        self._leaders: dict[int, SharePartitionManager] = {}
        for node_id in state.brokers:
            self.add(node_id)

    def at(self, node_id: int) -> SharePartitionManager:
        return self._leaders[node_id]

    def add(self, node_id: int) -> None:
        leader = SharePartitionManager(self._state, self._coordinators, self._poison_of, node_id)
        self._leaders[node_id] = leader

    def _poison_of(self, key: SharePartitionKey) -> Collection[int]:
        return self.poison.get(key, ())

    def remove(self, node_id: int) -> None:
        del self._leaders[node_id]

    def of_group(self, group_id: str) -> list[SharePartition]:
        """The records that a group has in flight, at any broker."""
        loaded = [share for leader in self._leaders.values() for share in leader.shares()]
        return sorted(
            (each for each in loaded if each.key.group_id == group_id), key=lambda each: each.key
        )

    def lost(self, node_id: int, connection: object) -> None:
        """A connection to a broker is closed. That of a broker whose process has ended releases
        nothing any more."""
        leader = self._leaders.get(node_id)
        has_ended = self._state.environment.is_over or not self._state.replication.is_up(node_id)
        if leader is not None and not has_ended and leader.lost(connection):
            self._state.environment.settle()

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Forget what is led elsewhere by now, or is deleted."""
        is_off = _FEATURE in delta.features and not self._state.features.level(_FEATURE)
        for leader in self._leaders.values():
            if is_off:
                leader.clear()
            elif delta.removed or delta.partitions:
                leader.follow()
