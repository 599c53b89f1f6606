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

Partitions, as a view of brokers sees them: leaders, replicas, where they move.

What `odradek brokers` does: elect, have others lead, move partitions, end moves.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ....wire import Error
from ....wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from ....wire.api.describe_cluster import DescribeClusterRequest
from ....wire.api.describe_quorum import DescribeQuorumRequest
from ....wire.api.elect_leaders import ElectLeadersRequest
from ....wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from ....wire.api.metadata import MetadataResponse
from .aliases import add_action
from .arguments import INT32, node_ids, partitions, whole
from .client import Brokers, ConsoleError, WrongOptions, check
from .confirm import add_yes, confirm
from .tables import add_json, print_rows

_NOBODY = -1

Place = tuple[str, int]
"""Topic and number."""


class Part(NamedTuple):
    """One partition, as Metadata has it, and where it moves."""

    topic: str
    found: MetadataResponse.Topic.Partition
    moves_to: tuple[int, ...] = ()

    @property
    def place(self) -> Place:
        return self.topic, self.found.partition_index

    @property
    def is_offline(self) -> bool:
        """Whether nobody leads it."""
        return self.found.leader_id == _NOBODY

    @property
    def is_under_replicated(self) -> bool:
        """Whether a replica is not in sync."""
        return len(self.found.isr_nodes) < len(self.found.replica_nodes)

    @property
    def state(self) -> str:
        words = ["offline"] * self.is_offline
        words += ["under-replicated"] * (self.is_under_replicated and not self.is_offline)
        words += [f"moves to {ids(self.moves_to)}"] * bool(self.moves_to)
        return ", ".join(words)


def parts(brokers: Brokers) -> list[Part]:
    going_on = moves(brokers)
    return [
        Part(topic.name or "", each, going_on.get((topic.name or "", each.partition_index), ()))
        for topic in brokers.topics()
        for each in sorted(topic.partitions, key=lambda each: each.partition_index)
    ]


def named(brokers: Brokers, given: Iterable[tuple[str, int | None]]) -> list[Part]:
    """The partitions that were named. Raises ConsoleError for what is not there."""
    every = parts(brokers)
    found = []
    for title, index in given:
        of_topic = [each for each in every if each.topic == title]
        if not of_topic:
            brokers.topic(title)  # which says so, with the likely one
        if index is not None and index >= len(of_topic):
            raise ConsoleError(
                f"topic {title} has partitions 0 to {len(of_topic) - 1}, not {index}"
            )
        found += of_topic if index is None else [of_topic[index]]
    return found


def moves(brokers: Brokers) -> dict[Place, tuple[int, ...]]:
    if not brokers.serves(ListPartitionReassignmentsRequest):  # it is of before 2.4
        return {}
    answer = brokers.ask(ListPartitionReassignmentsRequest(topics=None))
    check(answer.error_code, "the moves that go on", answer.error_message)
    return {
        (topic.name, each.partition_index): tuple(
            node for node in each.replicas if node not in each.removing_replicas
        )
        for topic in answer.topics
        for each in topic.partitions
    }


def name(place: Place) -> str:
    return f"{place[0]}-{place[1]}"


def ids(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids)) or "nobody"


_PREFERRED, _UNCLEAN = 0, 1


def elect(brokers: Brokers, options: Namespace) -> None:
    """Elect leaders. Raises ConsoleError."""
    if bool(options.topic) == options.all:
        text = (
            "--all is for all topics: name none" if options.all else "which? name topics, or --all"
        )
        raise WrongOptions(text)
    found = named(brokers, options.topic) if options.topic else parts(brokers)
    kind = _UNCLEAN if options.unclean else _PREFERRED
    problems = []
    is_needed = False
    for place, code, message in _elected(brokers, [each.place for each in found], kind):
        if code == Error.ELECTION_NOT_NEEDED:
            if options.topic:
                print(f"{name(place)} needs no election")
            continue
        is_needed = True
        try:
            check(code, f"electing a leader of {name(place)}", message)
            print(f"elected a leader of {name(place)}")
        except ConsoleError as error:
            problems.append(str(error))
    if problems:
        raise ConsoleError("; ".join(problems))
    if options.all and not is_needed:
        print("no partition needs an election")


def _elected(
    brokers: Brokers, places: Sequence[Place], kind: int
) -> Iterator[tuple[Place, int, str | None]]:
    by_topic: dict[str, list[int]] = {}
    for topic, index in places:
        by_topic.setdefault(topic, []).append(index)
    topics = [ElectLeadersRequest.Topic(topic=t, partitions=some) for t, some in by_topic.items()]
    answer = brokers.ask(ElectLeadersRequest(election_type=kind, topic_partitions=topics))
    check(answer.error_code, "electing leaders")
    for topic in answer.replica_election_results:
        for each in topic.partition_result:
            yield (topic.topic, each.partition_id), each.error_code, each.error_message


def lead(brokers: Brokers, given: Iterable[tuple[str, int | None]], by: int) -> None:
    """Have another replica lead: it becomes the first one, is elected, and the replicas get their
    order again. Raises ConsoleError."""
    for part in named(brokers, given):
        called, replicas = name(part.place), list(part.found.replica_nodes)
        if by not in replicas:
            there = ids(replicas)
            raise ConsoleError(f"broker {by} has no replica of {called}, which is on {there}")
        if by not in part.found.isr_nodes:
            there = ids(part.found.isr_nodes)
            raise ConsoleError(f"broker {by} is not in sync, and cannot lead {called}: {there} can")
        if part.moves_to:
            raise ConsoleError(f"{called} is being moved to {ids(part.moves_to)}: wait, or cancel")
        if by != part.found.leader_id:
            _alter(brokers, {part.place: [by, *(each for each in replicas if each != by)]})
            try:
                ((_, code, message),) = _elected(brokers, [part.place], _PREFERRED)
            finally:
                _alter(brokers, {part.place: replicas})
            if code != Error.ELECTION_NOT_NEEDED:
                check(code, f"electing a leader of {called}", message)
        print(f"{called} is led by {by}")


def reassign(
    brokers: Brokers, given: Iterable[tuple[str, int | None]], to: list[int], *, waits: bool
) -> None:
    """Move partitions. Raises ConsoleError."""
    places = [each.place for each in named(brokers, given)]
    _alter(brokers, dict.fromkeys(places, to))
    if waits:
        brokers.until(
            lambda: not set(places) & set(moves(brokers)),
            "they still move: `odradek brokers partitions --moving` shows which",
        )
    for place in places:
        print(f"{'moved' if waits else 'moving'} {name(place)} to {ids(to)}")


def cancel(brokers: Brokers, given: Sequence[tuple[str, int | None]]) -> None:
    """End moves. Raises ConsoleError."""
    found = named(brokers, given)
    moving = [each.place for each in found if each.moves_to]
    if not moving:
        raise ConsoleError(f"nothing of {', '.join(dict.fromkeys(n for n, _ in given))} moves")
    _alter(brokers, dict.fromkeys(moving, None))
    for place in moving:
        print(f"cancelled the move of {name(place)}")


def _alter(brokers: Brokers, targets: dict[Place, list[int]] | dict[Place, None]) -> None:
    """Begin moves, or with None end them. Raises ConsoleError for all that is refused."""
    made = AlterPartitionReassignmentsRequest.Topic
    topics: dict[str, AlterPartitionReassignmentsRequest.Topic] = {}
    for (title, index), replicas in targets.items():
        topic = topics.setdefault(title, made(name=title, partitions=[]))
        topic.partitions.append(made.Partition(partition_index=index, replicas=replicas))
    answer = brokers.ask(AlterPartitionReassignmentsRequest(topics=list(topics.values())))
    check(answer.error_code, "moving partitions", answer.error_message)
    problems = []
    for topic in answer.responses:
        for each in topic.partitions:
            try:
                place = topic.name, each.partition_index
                check(each.error_code, f"moving {name(place)}", each.error_message)
            except ConsoleError as error:
                problems.append(str(error))
    if problems:
        raise ConsoleError("; ".join(problems))


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


def run(brokers: Brokers, options: Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    match options.action:
        case None | "list":
            _list(brokers, as_json=options.json)
        case "partitions":
            _show(brokers, options)
        case "elect":
            if options.unclean:
                confirm(options, "elect replicas that may lack records")
            elect(brokers, options)
        case "lead":
            lead(brokers, options.topic, options.by)
        case "reassign":
            reassign(brokers, options.topic, options.to, waits=not options.no_wait)
        case "cancel":
            cancel(brokers, options.topic)
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
    """Id, address, rack, and whether it is fenced, which releases before 2.8 do not say."""
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
    in_metadata = int(brokers.metadata.controller_id)
    if not brokers.serves(DescribeQuorumRequest):  # it has ZooKeeper
        return in_metadata
    partition = DescribeQuorumRequest.Topic.Partition(partition_index=0)
    topic = DescribeQuorumRequest.Topic(topic_name=_METADATA_LOG, partitions=[partition])
    answer = brokers.ask(DescribeQuorumRequest(topics=[topic]))
    found = answer.topics[0].partitions[0] if answer.topics else None
    return in_metadata if found is None or found.error_code else int(found.leader_id)


def _show(brokers: Brokers, options: Namespace) -> None:
    found = named(brokers, options.topic) if options.topic else parts(brokers)
    is_any = not (options.under_replicated or options.offline or options.moving)
    rows = [
        [
            each.topic,
            each.found.partition_index,
            None if each.is_offline else each.found.leader_id,
            each.found.replica_nodes if options.json else ids(each.found.replica_nodes),
            each.found.isr_nodes if options.json else ids(sorted(each.found.isr_nodes)),
            each.state,
        ]
        for each in found
        if is_any
        or (options.under_replicated and each.is_under_replicated)
        or (options.offline and each.is_offline)
        or (options.moving and each.moves_to)
    ]
    print_rows(_PARTITION_HEADS, rows, as_json=options.json)
