"""What `odradek brokers` does: elect, have others lead, move partitions, end moves."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence

from ....wire import Error
from ....wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from ....wire.api.elect_leaders import ElectLeadersRequest
from .client import Brokers, ConsoleError, WrongOptions, check
from .parts import Place, ids, moves, name, named, parts

_PREFERRED, _UNCLEAN = 0, 1


def elect(brokers: Brokers, asked: Namespace) -> None:
    """Elect leaders. Raises ConsoleError."""
    if bool(asked.topic) == asked.all:
        text = "--all is for all topics: name none" if asked.all else "which? name topics, or --all"
        raise WrongOptions(text)
    found = named(brokers, asked.topic) if asked.topic else parts(brokers)
    kind = _UNCLEAN if asked.unclean else _PREFERRED
    problems = []
    is_needed = False
    for place, code, message in _elected(brokers, [each.place for each in found], kind):
        if code == Error.ELECTION_NOT_NEEDED:
            if asked.topic:
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
    if asked.all and not is_needed:
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
