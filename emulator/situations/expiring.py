"""What is over at once: sessions, producers, transactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from ...wire import Error, Refused
from ...wire.api.init_producer_id import InitProducerIdRequest
from .. import parameters
from ..seen import (
    GroupView,
    SeenMember,
    SeenProducer,
    SeenTransaction,
    ShareGroupView,
    StreamsGroupView,
    TopicView,
)
from ..seen.share_groups import SHARE
from ..seen.source import check
from ..seen.streams_groups import STREAMS
from ..seen.waiting import Wait

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .situated import Situated

AnyGroup: TypeAlias = GroupView | ShareGroupView | StreamsGroupView
_INIT_PRODUCER_ID = 4  # a version that all of these releases serve
_AT_ONCE_MS = -(1 << 62)


def producer_ids(kafka: Situated, topic: TopicView) -> list[SeenProducer]:
    """Forget the producers of a topic. Raises ValueError if there are none."""
    before = topic.producers()

    def expire(cluster: Cluster) -> None:
        for partition in cluster.topic(topic.name).partitions:
            partition.log.producers.expire(cluster.clock.now(), _AT_ONCE_MS)

    kafka.run(expire)
    left = {(each.partition, each.producer_id) for each in topic.producers()}
    gone = [each for each in before if (each.partition, each.producer_id) not in left]
    if not gone:
        why = "those that have written have a transaction open" if before else "none has written"
        raise ValueError(f"topic {topic.name} knows of no idempotent producer to forget: {why}")
    return gone


def of_its_type(kafka: Situated, group: AnyGroup | str) -> AnyGroup:
    """A view of a group as its type has it; of one that there is not, of a consumer group."""
    if not isinstance(group, str):
        return group

    def type_of(cluster: Cluster) -> str:
        listed = (
            each
            for node_id in cluster.brokers
            for each in cluster.groups.at(node_id).list_groups()
            if each.group_id == group
        )
        return next((each.type for each in listed), "")

    views: dict[str, Callable[[str], AnyGroup]]
    views = {SHARE: kafka.share_group, STREAMS: kafka.streams_group}
    return views.get(kafka.run(type_of), kafka.group)(group)


def session(kafka: Situated, group: AnyGroup, wanted: SeenMember | str | None) -> SeenMember:
    """End the session of a member. Raises ValueError, TypeError, Refused."""
    member = one_member(group, wanted)

    def end(cluster: Cluster) -> None:
        node_id = cluster.groups.leader_of(group.group_id)
        cluster.groups.at(node_id).end_session(group.group_id, member.member_id)

    kafka.run(end)
    return member


def one_member(group: AnyGroup, wanted: SeenMember | str | None) -> SeenMember:
    """A member, given by itself or by its id or static id; without that the only one. Raises
    ValueError, TypeError, Refused(UNKNOWN_MEMBER_ID)."""
    members = group.members
    there = ", ".join(each.instance_id or each.member_id for each in members) or "none"
    if wanted is None:
        if len(members) != 1:
            raise ValueError(f"which member? those of {group.group_id!r} are: {there}")
        return members[0]
    if not isinstance(wanted, SeenMember | str):
        raise TypeError(f"member is one of the group's, or its id, not {wanted!r}")
    name = wanted if isinstance(wanted, str) else wanted.member_id
    for each in members:
        if name in (each.member_id, each.instance_id):
            return each
    text = f"group {group.group_id!r} has no member {name!r}; its members are: {there}"
    raise Refused(Error.UNKNOWN_MEMBER_ID, text)


def transaction(kafka: Situated, transactional_id: str) -> SeenTransaction:
    """End an open transaction as overdue. Raises Refused."""
    _find(kafka, transactional_id)

    def time_out(cluster: Cluster) -> None:
        cluster.transactions.coordinator_for(transactional_id).time_out(transactional_id)

    kafka.run(time_out)
    return _find(kafka, transactional_id)


def fenced(kafka: Situated, transactional_id: str) -> Wait[SeenTransaction]:
    """Begin as another producer with this id; an open transaction has to be ended first. Raises
    Refused."""
    known = _find(kafka, transactional_id)
    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=known.timeout_ms
    )

    def look() -> SeenTransaction | None:
        answer = kafka._inside.ask(request, _INIT_PRODUCER_ID)
        if answer.error_code == Error.CONCURRENT_TRANSACTIONS:
            return None
        check(answer.error_code, f"beginning as {transactional_id!r}")
        return _find(kafka, transactional_id)

    what = f"the transaction of {transactional_id!r} to be ended"
    return Wait(what, look, lambda: f"There is {_find(kafka, transactional_id)!r}.")


def _find(kafka: Situated, transactional_id: str) -> SeenTransaction:
    parameters.words(transactional_id, "transactional_id")
    found = kafka.transactions()
    for each in found:
        if each.transactional_id == transactional_id:
            return each
    there = ", ".join(repr(each.transactional_id) for each in found) or "none"
    text = f"no producer has begun as {transactional_id!r}; the transactional ids are: {there}"
    raise Refused(Error.TRANSACTIONAL_ID_NOT_FOUND, text)
