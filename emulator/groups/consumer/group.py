"""A consumer group (KIP-848): the state in its records. It changes only by applying records.

What members do to it stands beside this module, as functions that return the records to write:
heartbeat.py, regex.py, conversion.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from ....wire.stored import consumer_groups as stored
from ...base.java_order import hash_map_order
from ..group import OffsetCommit
from ..modern.group import ModernGroup
from ..records import MessageRecord
from ..regex.lookup import Lookup
from ..settings import GroupSettings
from ..topics_view import StoredTopic, TopicsView, hash_of_stored
from .members import (
    RECORDS,
    ConsumerMember,
    ResolvedRegex,
    group_tombstones,
    partition_metadata_record,
    regex_tombstone,
    target_value,
)
from .members import Assignment as Target


class ConsumerGroup(ModernGroup[ConsumerMember, Target]):
    type_name = "consumer"
    records = RECORDS
    member_class = ConsumerMember
    changes = "its subscriptions or their topics changed"

    def __init__(self, group_id: str, settings: GroupSettings, topics: TopicsView) -> None:
        super().__init__(group_id, settings, topics)
        self.regexes: dict[str, ResolvedRegex] = {}
        # There is a record 4 of an older broker, to be deleted with the next change of the topics.
        self.has_partition_metadata = False
        # With `checked_generation`: the hashes of the topics with which `metadata_hash` was last
        # compared, and when they are compared again in any case.
        self.checked_topics: dict[str, int] = {}
        self.refresh_at = 0
        # See `is_homogeneous`; None until it is needed.
        self._is_homogeneous: bool | None = True
        # The expressions to resolve when (Due.REGEX, "") is due, and the lookup under way.
        self.wanted_regexes: frozenset[str] = frozenset()
        self.lookup: Lookup | None = None
        # Which topics may be found: those that the client may describe whose heartbeat came last.
        self.sees: Callable[[str], bool] | None = None
        self._regex_counts: Counter[str] = Counter()
        self._instances: dict[str, str] = {}
        self._holders: dict[tuple[bytes, int], str] = {}

    @property
    def max_size(self) -> int:
        return self.settings.consumer_max_size

    def instance(self, instance_id: str | None) -> ConsumerMember | None:
        if instance_id is None:
            return None
        holder = self._instances.get(instance_id)
        return None if holder is None else self.members.get(holder)

    def target_of(self, member: ConsumerMember) -> Target:
        """The target of a member, or of the one whose instance it takes over."""
        holder = self.instance(member.instance_id)
        if member.instance_id is not None:
            return {} if holder is None else self.targets.get(holder.member_id, {})
        return self.targets.get(member.member_id, {})

    def is_held(self, topic_id: bytes, partition: int) -> bool:
        """True if a member has the partition, or has not given it up yet."""
        return (topic_id, partition) in self._holders

    @property
    def is_homogeneous(self) -> bool:
        """Whether all subscribe to the same topics, as of the last change of a member. Kafka uses
        that value unless the topics changed, so a new member without topics does not count."""
        if self._is_homogeneous is None:
            self._is_homogeneous = self.subscribe_alike(self.members.values())
        return self._is_homogeneous

    def regex_counts(self) -> Counter[str]:
        """How many members subscribe to each regular expression: a copy."""
        return self._regex_counts.copy()

    def names_of(self, member: ConsumerMember) -> frozenset[str]:
        """The topics a member subscribes to, by name or by a resolved expression."""
        resolved = self.regexes.get(member.regex) if member.regex else None
        return member.names if resolved is None else member.names | resolved.topics

    def is_subscribed(self, topic: str) -> bool:
        return any(topic in member.names for member in self.members.values()) or any(
            topic in resolved.topics for resolved in self.regexes.values()
        )

    def preferred_assignor(self, changed: ConsumerMember | None = None) -> str:
        """The assignor that most members name; in a tie the first in a HashMap of them; the default
        if none is named. `changed` counts instead of the member of its id."""
        members: Mapping[str, ConsumerMember] = self.members
        if changed is not None:
            members = {**self.members, changed.member_id: changed}
        votes = Counter(member.assignor for member in members.values() if member.assignor)
        if not votes:
            return self.settings.consumer_assignors[0]
        most = max(votes.values())
        return next(name for name in hash_map_order(votes) if votes[name] == most)

    def given_in(self, member: ConsumerMember, commit: OffsetCommit) -> int | None:
        """The epoch in which a member got this partition, if it has it or has not given it up
        yet."""
        topic = self.view.catalogue.get(commit.topic)  # transactions name no id
        return None if topic is None else member.given_in(topic.id, commit.partition)

    def shift(self, milliseconds: int) -> None:
        super().shift(milliseconds)
        self.refresh_at += milliseconds

    def target_record(self, member_id: str, target: Target) -> MessageRecord:
        """7: the target of a member."""
        return RECORDS.target_record(self.group_id, member_id, target_value(target))

    def record(self, epoch: int, metadata_hash: int) -> MessageRecord:
        if not self.settings.hashes_subscriptions:
            metadata_hash = 0
        return super().record(epoch, metadata_hash)

    def topics_records(self, names: Iterable[str], metadata_hash: int) -> list[MessageRecord]:
        """4: the topics that the group reads, where a broker keeps them so, and they are others."""
        if self.settings.hashes_subscriptions or metadata_hash == self.metadata_hash:
            return []
        return [partition_metadata_record(self.group_id, self.view.known(names))]

    def apply_group(self, value: Any) -> None:
        if self.settings.hashes_subscriptions:
            super().apply_group(value)
        else:  # the topics have a record of their own
            self.epoch = value.epoch

    def removal(self, members: Collection[ConsumerMember]) -> list[MessageRecord]:
        """The records of removing members: with a member its target is removed, the group's epoch
        rises by one, however many leave at once, and an expression that nobody subscribes to any
        more is deleted."""
        gone = {member.member_id for member in members}
        records = [
            record
            for one in members
            for record in RECORDS.member_tombstones(self.group_id, one.member_id)
        ]
        staying = [member for member in self if member.member_id not in gone]
        wanted = {member.regex for member in staying}
        left = dict.fromkeys(member.regex for member in members if member.regex)
        records += [regex_tombstone(self.group_id, text) for text in left if text not in wanted]
        names = [member.names for member in staying]
        names += [found.topics for text, found in self.regexes.items() if text in wanted]
        read: frozenset[str] = frozenset().union(*names)
        metadata_hash = self.view.hash_of(read)
        records += self.topics_records(read, metadata_hash)
        return [*records, self.record(self.epoch + 1, metadata_hash)]

    def tombstones(self, instead: Mapping[str, str] | None = None) -> list[MessageRecord]:
        """The records that delete the group; `instead`: other ids for some members."""
        others = instead or {}
        members = [others.get(member_id, member_id) for member_id in self.members]
        return group_tombstones(self.group_id, members, self.regexes)

    def subscribe_alike(self, members: Collection[ConsumerMember]) -> bool:
        """Whether all of these subscribe to the same: the same names, or one expression and no
        names."""
        by_name = Counter(name for member in members for name in member.names)
        expressions = Counter(member.regex for member in members if member.regex)
        if not expressions:
            resolved = {name for found in self.regexes.values() for name in found.topics}
            return resolved <= by_name.keys() and all(
                count == len(members) for count in by_name.values()
            )
        return not by_name and list(expressions.values()) == [len(members)]

    # Applying records

    def apply_own(self, key: Any, value: Any, now: int) -> None:
        """Apply a record of an expression, or one that an older broker wrote."""
        if isinstance(key, stored.ConsumerGroupPartitionMetadataKey):
            if self.settings.hashes_subscriptions:
                self.has_partition_metadata = value is not None
            else:
                topics = () if value is None else value.topics
                self.metadata_hash = hash_of_stored(
                    StoredTopic(each.topic_id, each.topic_name, range(each.num_partitions))
                    for each in topics
                )
            return
        regex = key.regular_expression
        _ = self.is_homogeneous  # computed before this change, as of the last change of a member
        if value is None:
            self.regexes.pop(regex, None)
        else:
            topics = frozenset(value.topics)
            self.regexes[regex] = ResolvedRegex(topics, value.version, value.timestamp)

    def restored_target(self, value: stored.ConsumerGroupTargetAssignmentMemberValue) -> Target:
        """The target in record 7."""
        return {topic.topic_id: frozenset(topic.partitions) for topic in value.topic_partitions}

    def put(self, member: ConsumerMember) -> None:
        before = self.members.get(member.member_id)
        if before is not None:
            self._release(before)
        super().put(member)
        if member.instance_id is not None:
            self._instances[member.instance_id] = member.member_id
        for partition in member.partitions():
            self._holders[partition] = member.member_id
        if member.regex:
            self._regex_counts[member.regex] += 1
        self._is_homogeneous = None

    def drop(self, member: ConsumerMember) -> None:
        self._release(member)
        super().drop(member)
        instance = member.instance_id
        if instance is not None and self._instances.get(instance) == member.member_id:
            del self._instances[instance]
        self._is_homogeneous = None

    def _release(self, member: ConsumerMember) -> None:
        """Uncount what a member has and subscribes to, before it changes or leaves."""
        if member.regex:
            self._regex_counts[member.regex] -= 1
            if not self._regex_counts[member.regex]:
                del self._regex_counts[member.regex]
        for partition in member.partitions():
            if self._holders.get(partition) == member.member_id:
                del self._holders[partition]
