"""Converting a classic group into a consumer group, and back (KIP-848, semantics G26).

Rules:
- An Empty classic group, also a simple one, is replaced by a new consumer group when a member joins
  with a heartbeat; its offsets stay. An Empty consumer group is replaced by a classic one.
- A classic group with members is converted if they are consumers whose metadata can be read, there
  are not too many, and `group.consumer.migration.policy` allows it. They keep what they have, in an
  epoch equal to the generation; their parked requests are answered 27.
- When the last member of the new protocol leaves, the group becomes a classic one in the generation
  of its epoch, and rebalances. Its members' assignments are their targets.
- Records: the tombstone of the old group, then all records of the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from ....wire.errors import Error, Refused
from ..classic.consumer_protocol import (
    Malformed,
    UnknownAssignor,
    read_assignment,
    read_subscription,
    write_assignment,
)
from ..classic.group import CONSUMER, STABLE, ClassicGroup
from ..classic.members import Member
from ..modern.group import Due
from ..records import MessageRecord
from ..settings import GroupSettings
from ..topics_view import TopicsView
from .group import ConsumerGroup
from .members import RECORDS, ClassicSide, ConsumerMember

_UP, _DOWN = ("upgrade", "bidirectional"), ("downgrade", "bidirectional")


def may_join_classic(group: ConsumerGroup) -> None:
    """Raises Refused(INCONSISTENT_GROUP_PROTOCOL) if members may not mix protocols at all."""
    if group.settings.consumer_migration_policy.lower() == "disabled":
        raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)


def upgraded(
    classic: ClassicGroup, settings: GroupSettings, topics: TopicsView, now: int
) -> ConsumerGroup:
    """The consumer group that a classic group with members becomes, if check_upgrade has allowed
    it. Raises Refused: GROUP_ID_NOT_FOUND with a message if what its members said cannot be read,
    UNKNOWN_SERVER_ERROR while one of them does not support the protocol of the last generation."""
    group = ConsumerGroup(classic.group_id, settings, topics)
    group.epoch = group.target_epoch = classic.generation
    try:
        for member in classic.roster:
            converted = _consumer_member(classic, member, topics)
            group.put(converted)
            group.targets[member.member_id] = {
                topic: frozenset(parts) for topic, parts in converted.assigned.items()
            }
            group.deadlines.set((Due.SESSION, member.member_id), now + member.session_timeout_ms)
    except UnknownAssignor:
        raise _cannot(
            classic,
            "an unsupported custom assignor is in use. Please refer to the documentation or switch"
            " to a default assignor before re-attempting the upgrade",
        ) from None
    except Malformed:
        raise _cannot(classic, "the embedded consumer protocol is malformed") from None
    group.metadata_hash = topics.hash_of(frozenset().union(*(m.names for m in group)))
    return group


def check_upgrade(classic: ClassicGroup, settings: GroupSettings) -> None:
    """May a classic group be converted? Raises Refused(GROUP_ID_NOT_FOUND) with a message."""
    if settings.consumer_migration_policy.lower() not in _UP:
        raise _cannot(classic, "online upgrade is disabled")
    if classic.protocol_type != CONSUMER:
        raise _cannot(classic, "the group does not use the consumer embedded protocol")
    if len(classic.roster) > settings.consumer_max_size:
        raise _cannot(classic, "the group size exceeds the consumer group maximum size")


def _cannot(classic: ClassicGroup, reason: str) -> Refused:
    message = f"Cannot upgrade classic group {classic.group_id} to consumer group because {reason}."
    return Refused(Error.GROUP_ID_NOT_FOUND, message)


def _consumer_member(classic: ClassicGroup, member: Member, topics: TopicsView) -> ConsumerMember:
    name = classic.protocol_name
    if name and not member.supports(name):  # it is joining again, with others
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    metadata = member.metadata(name) if name else member.protocols[0][1]
    assigned = read_assignment(member.assignment, topics)
    subscription = read_subscription(metadata, topics)
    epoch = classic.generation
    return ConsumerMember(
        member.member_id,
        member.instance_id,
        subscription.rack_id,
        member.client_id,
        member.client_host,
        names=subscription.names,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        classic=ClassicSide(member.session_timeout_ms, member.protocols),
        epoch=epoch,
        previous_epoch=epoch,
        assigned={topic: dict.fromkeys(sorted(parts), epoch) for topic, parts in assigned.items()},
    )


NO_HASH = -1
"""Of no topics: a hash that is compared as another one."""


def records_of(group: ConsumerGroup) -> list[MessageRecord]:
    """All records of a consumer group that was converted from a classic one."""
    group_id, epoch, timestamp = group.group_id, group.target_epoch, group.target_timestamp
    return [
        *(RECORDS.member_record(group_id, member) for member in group),
        *group.topics_records(frozenset().union(*(m.names for m in group)), NO_HASH),
        group.record(group.epoch, group.metadata_hash),
        *(group.target_record(name, group.targets[name]) for name in group.members),
        RECORDS.target_epoch_record(group_id, epoch, timestamp),
        *(group.current_record(member) for member in group),
    ]


def may_downgrade(
    group: ConsumerGroup,
    leaving: Collection[ConsumerMember],
    coming: Collection[ConsumerMember] = (),
) -> bool:
    """Whether a group becomes a classic one when these leave and those join."""
    gone = {member.member_id for member in leaving}
    staying = [*(member for member in group if member.member_id not in gone), *coming]
    return (
        bool(staying)
        and all(member.is_classic for member in staying)
        and not all(member.is_classic for member in leaving)
        and group.settings.consumer_migration_policy.lower() in _DOWN
        and len(staying) <= group.settings.max_size
    )


def downgraded(
    group: ConsumerGroup,
    members: Collection[ConsumerMember],
    now: int,
    new_uuid: Callable[[], str],
) -> ClassicGroup:
    """The classic group of these members, Stable in the generation of the group's epoch. Raises
    Refused(UNKNOWN_SERVER_ERROR) if they have no protocol in common."""
    classic = ClassicGroup(group.group_id, group.settings, now, new_uuid)
    classic.generation = group.epoch
    classic.protocol_type = CONSUMER
    for member in members:
        assert member.classic is not None
        side = member.classic
        classic.roster.add(
            Member(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                side.session_timeout_ms,
                member.rebalance_timeout_ms,
                side.protocols,
            )
        )
        classic.leader = classic.leader or member.member_id
    classic.protocol_name = classic.roster.choose_protocol()
    for member in members:
        one = classic.roster[member.member_id]
        metadata = one.metadata(classic.protocol_name)
        # Its target, though it may still wait for some of that, or have more.
        one.assignment = write_assignment(group.target_of(member), metadata, group.view)
        classic.touch(one, now)
    classic.state = STABLE
    classic.learn_topics()
    return classic
