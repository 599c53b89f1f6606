"""The group coordinator: what it is made of, and the calls about groups of every type.

Each part answers its own calls: `offsets` those about offsets, `classic` those of the classic
protocol, `consumer` those of KIP-848, `share` those of share groups (KIP-932), `streams` those of
streams groups (KIP-1071). A new type of group is a folder beside them with calls that register with
the runtime, and one more part here. All but the classic one are imported when the first request or
record of their type comes.

A coordinator has the groups of the partitions that its broker leads; coordinators.py decides which
these are. Any other group it refuses with NOT_COORDINATOR.

Its records are appended to `__consumer_offsets` of the cluster, and replayed from it: its memory
holds nothing that the log does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from ...storage.recovery.producer_replay import find_marker
from ...wire import WireError
from ...wire.batch import read_header
from ...wire.errors import Error, Refused
from ...wire.legacy.as_batches import read_logged
from ...wire.records import Record as LoggedRecord
from ...wire.records import build_batch
from ..base.call import Call
from ..base.java_order import partition_for
from ..base.journal import Journal
from ..base.logger import log
from ..base.timers import Timers
from ..config.internal_topics import CONSUMER_OFFSETS
from .classic.calls import ClassicCalls
from .classic.group import Answer
from .group import EMPTY, GroupListing, existing
from .offsets.calls import OffsetCalls, Removal
from .offsets.store import OffsetRecord
from .records import LogEntry, Record, Replayed, TransactionEnd, encode
from .runtime import Producer, Runtime, Shard, ShardState, random_uuid
from .settings import ConfigsOf, GroupSettings
from .topics_view import NoTopics, TopicsView

if TYPE_CHECKING:
    from ..broker import ClusterState
    from ..partitions.partition import Partition, Topic
    from ..share.coordinators import ShareCoordinators
    from .consumer.calls import ConsumerCalls
    from .share.calls import ShareCalls
    from .streams.calls import StreamsCalls

_RECORD_TYPES = {
    "consumer": (3, 4, 5, 6, 7, 8, 16),
    "share": (10, 11, 12, 13, 14, 15),
    "streams": (17, 19, 20, 21, 22, 23),
}
"""Of the parts that are imported when they are first used: the records by which a log needs
them."""
_PART_OF = {record_type: part for part, types in _RECORD_TYPES.items() for record_type in types}


class Coordinator:
    """The groups of a broker. Its parts are created here, each with what it needs of the others."""

    def __init__(
        self,
        *,
        topic: ClusterOffsetsTopic,
        send: Callable[[Call, Answer], None],
        timers: Timers,
        now: Callable[[], int],
        configs_of: ConfigsOf,
        settings: GroupSettings | None = None,
        new_uuid: Callable[[], str] = random_uuid,
        topics: TopicsView | None = None,
        journal: Journal | None = None,
        share_states: ShareCoordinators | None = None,
    ) -> None:
        self.settings = settings or GroupSettings()
        self.runtime = Runtime(
            append=topic.append,
            timers=timers,
            now=now,
            settings=self.settings,
            topics=topics or TopicsView(NoTopics(), lambda: 0),
            new_uuid=new_uuid,
            journal=journal,
            missing=self._import_part_of,
        )
        self.classic = ClassicCalls(self.runtime, send)
        self.offsets = OffsetCalls(self.runtime, self.classic.create)
        self._removal = Removal(self.runtime, self.offsets.store)
        self._topic = topic
        self._configs_of = configs_of
        self._share_states = share_states

    @cached_property
    def consumer(self) -> ConsumerCalls:
        """The calls of KIP-848."""
        from .consumer.calls import ConsumerCalls

        return ConsumerCalls(self.runtime, self.classic, self._configs_of)

    @cached_property
    def share(self) -> ShareCalls:
        from .share.calls import ShareCalls

        return ShareCalls(self.runtime, self.classic, self._configs_of, self._share_states)

    @cached_property
    def streams(self) -> StreamsCalls:
        from .streams.calls import StreamsCalls

        return StreamsCalls(self.runtime, self.classic, self._configs_of)

    @property
    def has_share_groups(self) -> bool:
        """Whether there may be share groups: a record or a request of theirs has come."""
        return "share" in self.__dict__

    def _import_part_of(self, record_type: int) -> None:
        if record_type in _PART_OF:
            getattr(self, _PART_OF[record_type])

    @property
    def shards(self) -> dict[int, Shard]:
        """The shards that are here, by partition of `__consumer_offsets`."""
        return self.runtime.shards

    def partition_for(self, group_id: str) -> int:
        """The partition of `__consumer_offsets` that keeps the group."""
        return self.runtime.partition_for(group_id)

    # Groups of every type

    def list_groups(
        self, states: Iterable[str] = (), types: Iterable[str] = ()
    ) -> list[GroupListing]:
        """ListGroups, by state and type, whatever their case; no filter means all. Raises
        Refused(COORDINATOR_LOAD_IN_PROGRESS) until every shard is loaded."""
        if any(shard.state is ShardState.LOADING for shard in self.shards.values()):
            raise Refused(Error.COORDINATOR_LOAD_IN_PROGRESS)
        wanted_states = {state.strip().lower() for state in states}
        wanted_types = {kind.strip().lower() for kind in types}
        return [
            listing
            for shard in self.shards.values()
            for listing in [group.listing() for group in shard.visible_groups()]
            if (not wanted_states or listing.state_filter in wanted_states)
            and (not wanted_types or listing.type in wanted_types)
        ]

    def rebalance(self, group_id: str) -> None:
        """Have the members of a group rebalance, for tests; no request of Kafka's does that. Raises
        Refused: GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID if it has no members."""
        group = existing(group_id, self.runtime.shard_for(group_id).groups.get(group_id))
        if group.state == EMPTY:
            text = f"group {group_id!r} has no members that could rebalance"
            raise Refused(Error.UNKNOWN_MEMBER_ID, text)
        self.runtime.type_of(group).rebalance(group)

    def end_session(self, group_id: str, member_id: str) -> None:
        """A member's session is over now, as if no heartbeat had come in time. Raises Refused:
        GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, REBALANCE_IN_PROGRESS for a member that waits for
        others, which keeps it alive."""
        group = existing(group_id, self.runtime.shard_for(group_id).groups.get(group_id))
        self.runtime.type_of(group).end_session(group, member_id)

    def delete(self, group_ids: Iterable[str]) -> list[tuple[str, Error]]:
        """DeleteGroups: the error of each, in their order; one named twice is answered once."""
        return [(group_id, self._delete(group_id)) for group_id in dict.fromkeys(group_ids)]

    def _delete(self, group_id: str) -> Error:
        try:
            if self.has_share_groups:
                self.share.before_delete(group_id)
        except Refused as refused:
            return refused.error
        return self._removal.delete(group_id)

    def topic_deleted(self, topic: str) -> None:
        """Delete what any group has committed for the topic. If it is `__consumer_offsets`, forget
        all groups: there is no coordinator until it is created again."""
        if topic == self._topic.name:
            for partition in list(self.shards):
                self.resign(partition)
        else:
            self._removal.topic_deleted(topic)

    # Partitions of `__consumer_offsets`

    def take_over(self, partition: int) -> None:
        self.load(partition, self._topic.entries(partition, self.runtime.decode))

    def begin_loading(self, partition: int) -> Shard:
        """This partition is ours now, and its log is being read."""
        shard = self.shards[partition] = Shard(partition)
        self.offsets.store.begin(partition)
        return shard

    def load(self, partition: int, log: Iterable[LogEntry] = ()) -> None:
        """This partition is ours, and this is its log, in order. Its groups are restored, every
        member with a fresh session (semantics F7)."""
        self.runtime.activate(self._replayed(partition, log))

    def look(self, partition: int, log: Iterable[LogEntry]) -> None:
        """Know what is in this part of the log, to be asked: no member has a session."""
        self._replayed(partition, log).state = ShardState.ACTIVE

    def _replayed(self, partition: int, log: Iterable[LogEntry]) -> Shard:
        shard = self.begin_loading(partition)
        now = self.runtime.now()
        for entry in log:
            if isinstance(entry, Replayed):
                self.runtime.replay(shard, entry.record, now, entry.producer_id)
            else:
                self.offsets.store.end_transaction(shard, entry)
        return shard

    def resign(self, partition: int) -> None:
        """This partition is no longer ours: parked requests are answered NOT_COORDINATOR and its
        groups removed from memory, but not from the log. Harmless if it was not ours."""
        self.runtime.resign(partition)
        self.offsets.store.resign(partition)

    def shut_down(self) -> None:
        for partition in list(self.shards):
            self.resign(partition)
        self.runtime.stop_timer()


class ClusterOffsetsTopic:
    """`__consumer_offsets` of a cluster, as `Coordinator` uses it."""

    name = CONSUMER_OFFSETS

    def __init__(self, state: ClusterState, settings: GroupSettings) -> None:
        self._state = state
        self._settings = settings

    def append(
        self, group_id: str, records: Sequence[Record], producer: Producer | None = None, /
    ) -> None:
        """Write records to the partition that keeps the group. Raises Refused."""
        topic = self._topic()
        partition = topic.partitions[partition_for(group_id, self._settings.partitions)]
        partition.check_in_sync()
        if producer is not None:
            _check_producer(partition, producer)
        now = self._state.environment.clock.now()
        # Kafka's coordinators write with sequence 0 and no producer id; old ones only offsets.
        numbers_all = self._settings.numbers_group_records
        has_sequence = numbers_all or isinstance(records[0], OffsetRecord)
        encoded = [encode(record, now) for record in records]
        if not self._settings.keeps_epochs_of_offsets:
            from .old_records import as_before_2_1

            encoded = [as_before_2_1(each, self._settings.retention_ms) for each in encoded]
        batch = build_batch(
            encoded,
            base_sequence=0 if has_sequence else -1,
            producer_id=-1 if producer is None else producer.producer_id,
            producer_epoch=-1 if producer is None else producer.epoch,
            transactional=producer is not None,
        )
        if len(batch) > topic.config.max_message_bytes:
            raise Refused(Error.MESSAGE_TOO_LARGE)
        partition.append(batch, read_header(batch), now)

    def entries(
        self,
        partition: int,
        decode: Callable[[LoggedRecord], Record | None],
        upto: float = inf,
    ) -> Iterator[LogEntry]:
        """The records of a partition's log below an offset, in order. A record that cannot be
        decoded is named in the broker's log and skipped; a real broker would not load the
        partition."""
        found = self._topic().partitions[partition]
        if not found.is_log_open:  # nothing is stored in it
            return
        stored = found.log
        for header, chunk, pos in stored.reader.batches_from(stored.log_start_offset):
            if header.base_offset >= upto:
                return
            if header.is_control:
                marker = find_marker(memoryview(chunk)[pos:], header)
                if marker is not None:  # else compaction removed it, and its offsets before it
                    yield TransactionEnd(header.producer_id, marker.commit)
                continue
            producer_id = header.producer_id if header.is_transactional else None
            for record in read_logged(chunk, pos):
                try:
                    decoded = decode(record)
                except WireError as error:
                    name = f"{self.name}-{partition}"
                    log.error("%s: record %d skipped: %s", name, record.offset, error)
                    continue
                if decoded is not None:
                    yield Replayed(decoded, producer_id)

    def _topic(self) -> Topic:
        topic = self._state.topics.get(self.name)
        if topic is None:
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
        return topic


def _check_producer(partition: Partition, producer: Producer) -> None:
    """Whether a transaction's offsets can be written. Only brokers before 3.9 let others come so
    far: the transaction coordinator is asked first. Raises Refused."""
    if producer.epoch < 0 <= producer.producer_id:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    fences = partition.topic.config.broker.release.fences_offsets
    if fences and partition.log.producers.knows_later_epoch(*producer):
        raise Refused(Error.INVALID_PRODUCER_EPOCH)
