"""`odradek brokers`: brokers, who leads and replicates what; elect, move leaders and partitions.

odradek brokers localhost:9092                             brokers, and what is wrong
odradek brokers localhost:9092 partitions orders           leaders, replicas, those in sync
odradek brokers localhost:9092 partitions --under-replicated
odradek brokers localhost:9092 elect orders:0              its preferred leader, the first replica
odradek brokers localhost:9092 elect --all
odradek brokers localhost:9092 elect orders:0 --unclean    any that runs: records may be lost
odradek brokers localhost:9092 lead orders:0 --by 2        another replica, that is in sync
odradek brokers localhost:9092 reassign orders --to 2,3    move partitions to these brokers
odradek brokers localhost:9092 cancel orders               end moves that go on
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from ....wire.api.describe_cluster import DescribeClusterRequest
from ....wire.api.describe_quorum import DescribeQuorumRequest
from .arguments import INT32, node_ids, partitions, whole
from .asking import add_yes, confirm
from .client import Brokers
from .habits import add_action
from .moving import cancel, elect, lead, reassign
from .parts import ids, name, named, parts
from .tables import add_json, print_rows

_UP, _FENCED = "up", "fenced"
_HEADS = ("broker", "address", "rack", "state", "role", "leads", "replicas", "in sync")
_PARTITION_HEADS = ("topic", "partition", "leader", "replicas", "in sync", "state")
_NAMES = "NAME, or NAME:PARTITION"
_METADATA_LOG = "__cluster_metadata"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments after `odradek brokers ADDRESS`."""
    parser.set_defaults(json=False)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", help="without one: list them")
    listed = add_action(actions, "list", "all of them, as without an action", "info", "health")
    shown = add_action(actions, "partitions", "leaders, replicas, those in sync")
    for each in (parser, listed, shown):
        add_json(each)
    shown.add_argument("topic", nargs="*", type=partitions, help=_NAMES)
    for names, what in (
        (("--under-replicated", "--under-replicated-partitions"), "have a replica not in sync"),
        (("--offline", "--unavailable", "--unavailable-partitions"), "have no leader"),
        (("--moving",), "move to other brokers"),
    ):
        shown.add_argument(*names, action="store_true", help=f"only those that {what}")
    _add_verbs(actions)


def _add_verbs(actions: Any) -> None:
    electing = add_action(actions, "elect", "have the preferred leader lead", "elect-leaders")
    electing.add_argument(
        "--all", "--all-topic-partitions", action="store_true", help="of all topics"
    )
    electing.add_argument(
        "--unclean",
        action="store_true",
        help="any replica that runs, where nobody leads: records may be lost",
    )
    add_yes(electing)
    leading = add_action(actions, "lead", "have another replica lead", "transfer-leadership")
    leading.add_argument(
        "--by", "--to", metavar="ID", required=True, type=whole(0, INT32), help="the broker"
    )
    move = add_action(actions, "reassign", "move partitions to other brokers", "move")
    move.add_argument(
        "--to",
        "--replicas",
        "--broker-list",
        metavar="ID,ID",
        required=True,
        type=node_ids,
        help="the brokers of each, the preferred leader first",
    )
    move.add_argument("--no-wait", action="store_true", help="do not wait until they have moved")
    ending = add_action(actions, "cancel", "end moves that go on")
    electing.add_argument("topic", nargs="*", type=partitions, help=_NAMES)
    for action in (leading, move, ending):
        action.add_argument("topic", nargs="+", type=partitions, help=_NAMES)


def run(brokers: Brokers, asked: Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    match asked.action:
        case None | "list":
            _list(brokers, as_json=asked.json)
        case "partitions":
            _show(brokers, asked)
        case "elect":
            if asked.unclean:
                confirm(asked, "elect replicas that may lack records")
            elect(brokers, asked)
        case "lead":
            lead(brokers, asked.topic, asked.by)
        case "reassign":
            reassign(brokers, asked.topic, asked.to, waits=not asked.no_wait)
        case "cancel":
            cancel(brokers, asked.topic)
    return 0


# Looking


def _list(brokers: Brokers, *, as_json: bool) -> None:
    every = parts(brokers)
    controller = _controller(brokers)
    rows: list[list[object]] = []
    for node_id, address, rack, is_fenced in _all_brokers(brokers):
        rows.append(
            [
                node_id,
                address,
                rack,
                _FENCED if is_fenced else _UP,
                "controller" if node_id == controller else None,
                sum(each.found.leader_id == node_id for each in every),
                sum(node_id in each.found.replica_nodes for each in every),
                sum(node_id in each.found.isr_nodes for each in every),
            ]
        )
    print_rows(_HEADS, rows, as_json=as_json)
    if not as_json:
        for what, wrong in (
            ("offline", [each for each in every if each.is_offline]),
            ("under-replicated", [p for p in every if p.is_under_replicated and not p.is_offline]),
            ("moving", [each for each in every if each.moves_to]),
        ):
            if wrong:
                print(f"{what}: {', '.join(map(name, (each.place for each in wrong)))}")


def _all_brokers(brokers: Brokers) -> Iterator[tuple[int, str, str | None, bool]]:
    """Id, address, rack and whether it is fenced; where those are not told, only the others."""
    if not brokers.serves(DescribeClusterRequest):  # it is of before 2.8
        for each in sorted(brokers.metadata.brokers, key=lambda each: each.node_id):
            yield each.node_id, f"{each.host}:{each.port}", each.rack, False
        return
    request = DescribeClusterRequest(
        include_cluster_authorized_operations=False, include_fenced_brokers=True
    )
    found = brokers.ask(request).brokers
    for each in sorted(found, key=lambda each: each.broker_id):
        yield each.broker_id, f"{each.host}:{each.port}", each.rack, each.is_fenced


def _controller(brokers: Brokers) -> int:
    """The leader of the controllers. Metadata of KRaft names any broker."""
    told = int(brokers.metadata.controller_id)
    if not brokers.serves(DescribeQuorumRequest):  # it has ZooKeeper
        return told
    partition = DescribeQuorumRequest.Topic.Partition(partition_index=0)
    topic = DescribeQuorumRequest.Topic(topic_name=_METADATA_LOG, partitions=[partition])
    answer = brokers.ask(DescribeQuorumRequest(topics=[topic]))
    found = answer.topics[0].partitions[0] if answer.topics else None
    return told if found is None or found.error_code else int(found.leader_id)


def _show(brokers: Brokers, asked: Namespace) -> None:
    found = named(brokers, asked.topic) if asked.topic else parts(brokers)
    is_any = not (asked.under_replicated or asked.offline or asked.moving)
    rows = [
        [
            each.topic,
            each.found.partition_index,
            None if each.is_offline else each.found.leader_id,
            each.found.replica_nodes if asked.json else ids(each.found.replica_nodes),
            each.found.isr_nodes if asked.json else ids(sorted(each.found.isr_nodes)),
            each.state,
        ]
        for each in found
        if is_any
        or (asked.under_replicated and each.is_under_replicated)
        or (asked.offline and each.is_offline)
        or (asked.moving and each.moves_to)
    ]
    print_rows(_PARTITION_HEADS, rows, as_json=asked.json)
