"""Which broker of several a test's own request goes to, as a client would send it (routes.py).

A partition that nobody leads is asked about at any broker, which answers that it does not lead; so
is one whose leader does not run, when records are to be produced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...emulator.base.node import alive
from ...emulator.replication.brokers import Process
from ...wire import Refused, Request
from ...wire.api.describe_transactions import DescribeTransactionsRequest
from ...wire.api.produce import ProduceRequest
from .routes import BY_LEADER, BY_TRANSACTIONAL_ID, GROUP_OF, TO_ALL, Place

if TYPE_CHECKING:
    from ...emulator.cluster import Cluster


def parts_of(cluster: Cluster, request: Request) -> list[tuple[int, Request]]:
    """A request, or its parts, each with the broker that is to be asked. Raises RuntimeError if
    none runs."""
    kind = type(request)
    able = alive(cluster.nodes)
    brokers = cluster.replication.brokers
    running = [node_id for node_id, each in brokers.items() if each.process is Process.UP]
    if not running:
        raise RuntimeError("no broker runs that could be asked: start one, as kafka.brokers[1]")
    anyone = running[0]
    if kind in BY_LEADER:
        by_leader: dict[int, set[Place]] = {}
        for place in BY_LEADER[kind].places(request):
            leader = _leader(cluster, place)
            is_there = leader in (running if kind is ProduceRequest else able)
            by_leader.setdefault(leader if is_there else anyone, set()).add(place)
        if len(by_leader) > 1:
            part = BY_LEADER[kind].part
            return [(node_id, part(request, places)) for node_id, places in by_leader.items()]
        return [(next(iter(by_leader), anyone), request)]
    if kind in GROUP_OF:
        try:
            node_id = cluster.groups.leader_of(GROUP_OF[kind](request))
        except Refused:  # there is no group yet
            node_id = anyone
        return [(node_id if node_id in able else anyone, request)]
    if isinstance(request, DescribeTransactionsRequest):
        by_node: dict[int, list[str]] = {}
        for name in request.transactional_ids:
            node_id = cluster.transactions.leader_of(name)
            by_node.setdefault(node_id if node_id in able else anyone, []).append(name)
        asked = by_node or {anyone: []}
        return [(n, DescribeTransactionsRequest(transactional_ids=ids)) for n, ids in asked.items()]
    if kind in TO_ALL:
        return [(node_id, request) for node_id in able]
    return [(anyone, request)]


def joined(request: Request, answers: list[Any]) -> Any:
    first, *others = answers
    kind = type(request)
    if not others:
        return first
    if kind in BY_LEADER:
        return BY_LEADER[kind].join(answers)
    listed = "transaction_states" if kind is BY_TRANSACTIONAL_ID else TO_ALL[kind]
    for other in others:
        if kind in TO_ALL:
            first.error_code = first.error_code or other.error_code
        getattr(first, listed).extend(getattr(other, listed))
    return first


def _leader(cluster: Cluster, place: Place) -> int:
    try:
        return cluster.partition(*place).leader
    except Refused:
        return -1
