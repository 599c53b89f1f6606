"""Coordinators that load or move, and groups that rebalance: the rules of these situations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...wire import Error, Response
from ...wire.api.fetch import FetchResponse
from .. import parameters
from ..base.call import Call
from ..control.rules.verbs.noticing import Notice
from ..facets.rule_view import RuleView
from ..seen import GroupView, SeenMember, ShareGroupView, StreamsGroupView
from ..transactions.states import State
from .expiring import AnyGroup

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .situated import Situated

Whose = dict[str, str]
"""Whose coordinator: {"group": ...} or {"transactional_id": ...}."""
_OF_GROUPS = (
    *("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "ConsumerGroupHeartbeat"),
    *("StreamsGroupHeartbeat", "OffsetCommit", "OffsetFetch", "TxnOffsetCommit"),
)
_OF_TRANSACTIONS = ("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn")
_ADDS_PARTITIONS_SINCE = 12


def whose(group: str | GroupView | None, transactional_id: str | None) -> Whose:
    """Whose coordinator is meant. Raises TypeError unless there is one of both."""
    if (group is None) == (transactional_id is None):
        raise TypeError("give one of both: group=... or transactional_id=...")
    if group is not None:
        name = group.group_id if isinstance(group, GroupView) else group
        return {"group": parameters.words(name, "group")}
    return {"transactional_id": parameters.words(transactional_id or "", "transactional_id")}


def apis(whose: Whose) -> tuple[str, ...]:
    """What the coordinator is asked."""
    return _OF_GROUPS if "group" in whose else _OF_TRANSACTIONS


def loading(kafka: Situated, whose: Whose, seconds: float | None) -> list[RuleView]:
    """The coordinator reads its log: it answers heartbeats alone. A Produce that begins a
    transaction (KIP-890) needs it too, and is told NOT_ENOUGH_REPLICAS by its broker."""
    rules = []
    for api in apis(whose):
        if api != "Heartbeat":
            when = kafka.on(api, **whose)
            when = when if seconds is None else when.during(seconds)
            rules.append(when.fail(Error.COORDINATOR_LOAD_IN_PROGRESS))
    if "transactional_id" in whose:

        def begins(_: object) -> bool:
            return kafka.run(lambda cluster: not _is_open(cluster, whose["transactional_id"]))

        versions = range(_ADDS_PARTITIONS_SINCE, 1 << 15)
        when = kafka.on("Produce", **whose, version=versions, where=begins)
        when = when if seconds is None else when.during(seconds)
        rules.append(when.fail(Error.NOT_ENOUGH_REPLICAS))
    return rules


def _is_open(cluster: Cluster, transactional_id: str) -> bool:
    found = [
        each for each in cluster.transactions.all() if each.transactional_id == transactional_id
    ]
    return any(each.state is State.ONGOING for each in found)


def moved(kafka: Situated, whose: Whose) -> tuple[list[RuleView], RuleView]:
    """The coordinator is another one: the rules that refuse clients, and the one that notices who
    has asked where it is."""
    asked: set[str] = set()
    finds = Notice(lambda call, response: True, lambda call: asked.add(call.client_id))
    finder = kafka.on("FindCoordinator", **whose).optional()._set("found", finds)

    def does_not_know(client_id: str) -> bool:
        return client_id not in asked

    rules = [
        kafka.on(api, **whose, client_id=does_not_know).fail(Error.NOT_COORDINATOR)
        for api in apis(whose)
    ]
    return rules, finder


def fenced_at_heartbeat(kafka: Situated, group: AnyGroup, member: SeenMember) -> RuleView:
    """The next heartbeat of a member is refused. Raises ValueError for one of a classic group."""
    if member.epoch is None:
        raise ValueError(
            f"{member!r} has no epoch: its group is a classic one. zombie_consumer ends its session"
        )
    kinds = {GroupView: "Consumer", ShareGroupView: "Share", StreamsGroupView: "Streams"}
    api = f"{kinds[type(group)]}GroupHeartbeat"
    when = kafka.on(api, group=group.group_id, member=member.member_id, where=_stays)
    return when.once().fail(Error.FENCED_MEMBER_EPOCH)


def _stays(request: Any) -> bool:
    """Who joins or leaves is not fenced."""
    return bool(request.member_epoch > 0)


def rebalance_at_fetch(kafka: Situated, group: GroupView) -> RuleView:
    """A group rebalances when one of its members was given records."""

    def is_for_a_member(call: Call, response: Response) -> bool:
        return isinstance(response, FetchResponse) and any(
            (topic, index) in member.assignment
            for topic, index in _with_records(kafka, response)
            for member in group.members
            if member.client_id == call.client_id
        )

    def rebalance(_: Call) -> None:
        kafka.run(lambda cluster: cluster.woken.append(group.rebalance))

    return kafka.on("Fetch").once()._set("rebalance", Notice(is_for_a_member, rebalance))


def _with_records(kafka: Situated, response: Any) -> list[tuple[str, int]]:
    """Topic and index of the partitions of which there are records."""
    topics = {each.id: each.name for each in kafka.run(lambda cluster: list(cluster.topics))}
    return [
        (topic.topic or topics.get(topic.topic_id, ""), partition.partition_index)
        for topic in response.responses
        for partition in topic.partitions
        if partition.records
    ]
