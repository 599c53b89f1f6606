"""`odradek groups`: who reads, how far, how far behind; start again from somewhere; delete.

odradek groups localhost:9092                          all of them
odradek groups localhost:9092 show billing             members, offsets and lag
odradek groups localhost:9092 reset billing --to earliest --topic orders --dry-run
odradek groups localhost:9092 forget billing --topic orders      its offsets of that topic
odradek groups localhost:9092 delete billing
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from ...wire import Error
from ...wire.api.delete_groups import DeleteGroupsRequest
from ...wire.api.metadata import MetadataResponse
from ...wire.api.offset_commit import OffsetCommitRequest
from ...wire.api.offset_delete import OffsetDeleteRequest
from .broker import Brokers, ConsoleError, check, report
from .group_reading import Group, committed, describe, list_groups
from .offsets import Place, bounds, parse_position, resolve
from .tables import print_table, ranges

_BY_NAME_UP_TO = 9  # OffsetCommit
# What to do about a refusal to which a broker adds no words.
_HINTS = {
    Error.NON_EMPTY_GROUP: "it has members: stop its consumers first",
    Error.GROUP_SUBSCRIBED_TO_TOPIC: "its members read it: stop its consumers first",
    Error.GROUP_ID_NOT_FOUND: "there is no such group",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What may follow `odradek groups ADDRESS`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", help="without one: list them")
    show = actions.add_parser("show", help="members, offsets and lag")
    reset = actions.add_parser("reset", help="commit other offsets for a group that nobody is in")
    forget = actions.add_parser("forget", help="delete a group's offsets of a topic")
    delete = actions.add_parser("delete", help="delete groups that nobody is in")
    for action in (show, delete):
        action.add_argument("group", nargs="+", help="its name")
    for action in (reset, forget):
        action.add_argument("group", help="its name")
        action.add_argument(
            "--topic",
            action="append",
            default=[],
            metavar="NAME[:PARTITION]",
            required=action is forget,
            help="may be repeated" + ("" if action is forget else "; default: all it has"),
        )
    reset.add_argument(
        "--to",
        required=True,
        metavar="POSITION",
        help="earliest, latest, an offset, -N, an age (15m, 2h, 3d) or a time",
    )
    reset.add_argument("--dry-run", action="store_true", help="only say what would be committed")


def run(brokers: Brokers, asked: argparse.Namespace) -> int:
    """Carry out the command. Raises ConsoleError."""
    match asked.action:
        case None:
            _list(brokers)
        case "show":
            _show(brokers, asked.group)
        case "reset":
            _reset(brokers, asked)
        case "forget":
            _forget(brokers, asked.group, asked.topic)
        case "delete":
            _delete(brokers, asked.group)
    return 0


def _list(brokers: Brokers) -> None:
    rows = []
    for name in list_groups(brokers):
        group = describe(brokers, name)
        lags = [lag for _, _, _, lag in _progress(brokers, name) if lag is not None]
        rows.append([name, group.kind, group.state, len(group.members), sum(lags)])
    print_table(["group", "type", "state", "members", "lag"], rows)


def _show(brokers: Brokers, names: Iterable[str]) -> None:
    for number, name in enumerate(names):
        if number:
            print()
        group = describe(brokers, name)
        offsets = committed(brokers, name)
        if group.state == "Dead" and not offsets:
            raise ConsoleError(f"there is no group {name}")
        print(f"{name}: {group.state}, {group.kind}" + (f", {group.how}" if group.how else ""))
        if group.members:
            print_table(
                ["member", "instance", "client", "host", "partitions"],
                [
                    [m.member_id, m.instance_id, m.client_id, m.host, _places(m.assigned)]
                    for m in group.members
                ],
            )
            print()
        owners = _owners(group)
        print_table(
            ["topic", "partition", "committed", "next", "lag", "member"],
            [
                [topic, index, offset, after, lag, owners.get((topic, index))]
                for (topic, index), offset, after, lag in _progress(brokers, name, owners)
            ],
        )


def _progress(
    brokers: Brokers, name: str, owned: Iterable[Place] = ()
) -> list[tuple[Place, int | None, int | None, int | None]]:
    """Of each partition the group has an offset or a member for: committed, next, lag."""
    offsets = committed(brokers, name)
    places = sorted({*offsets, *owned})
    limits = bounds(brokers, brokers.topics({topic for topic, _ in places}))
    rows = []
    for place in places:
        offset = offsets.get(place)
        first, after = limits.get(place, (None, None))
        behind = None
        if first is not None and after is not None:
            behind = max(0, after - (first if offset is None else offset))
        rows.append((place, offset, after, behind))
    return rows


def _owners(group: Group) -> dict[Place, str]:
    return {
        (topic, index): member.member_id
        for member in group.members
        for topic, indexes in member.assigned.items()
        for index in indexes
    }


def _places(assigned: dict[str, list[int]]) -> str:
    return " ".join(f"{topic}:{ranges(indexes)}" for topic, indexes in sorted(assigned.items()))


def _reset(brokers: Brokers, asked: argparse.Namespace) -> None:
    try:
        position = parse_position(asked.to)
    except ValueError as error:
        raise ConsoleError(f"--to: {error}") from None
    group = describe(brokers, asked.group)
    if group.members:
        raise ConsoleError(
            f"group {asked.group} is {group.state} and has members: stop its consumers first"
        )
    before = committed(brokers, asked.group)
    wanted = _partitions(asked.topic) if asked.topic else [(topic, None) for topic, _ in before]
    topics = _narrowed(brokers, wanted, None if asked.topic else set(before))
    target = resolve(brokers, topics, position)
    if not target:
        raise ConsoleError(f"group {asked.group} has no offsets; name a topic with --topic")
    if not asked.dry_run:
        _commit(brokers, asked.group, target)
    print_table(
        ["topic", "partition", "before", "after"],
        [[*place, before.get(place), offset] for place, offset in sorted(target.items())],
    )


def _partitions(texts: Iterable[str]) -> list[tuple[str, int | None]]:
    wanted: list[tuple[str, int | None]] = []
    for text in texts:
        name, colon, index = text.partition(":")
        if colon and not index.isdigit():
            raise ConsoleError(f"--topic takes NAME or NAME:PARTITION, not {text!r}")
        wanted.append((name, int(index) if colon else None))
    return wanted


def _narrowed(
    brokers: Brokers, wanted: Iterable[tuple[str, int | None]], only: set[Place] | None
) -> list[MetadataResponse.Topic]:
    """The topics, each with just the partitions that are meant."""
    found = []
    by_name: dict[str, list[int | None]] = {}
    for name, index in wanted:
        by_name.setdefault(name, []).append(index)
    for name, indexes in by_name.items():
        topic = brokers.topic(name)
        there = {part.partition_index for part in topic.partitions}
        for index in indexes:
            if index is not None and index not in there:
                raise ConsoleError(f"topic {name} has no partition {index}")
        topic.partitions = [
            part
            for part in topic.partitions
            if (None in indexes or part.partition_index in indexes)
            and (only is None or (name, part.partition_index) in only)
        ]
        found.append(topic)
    return found


def _commit(brokers: Brokers, group: str, offsets: dict[Place, int]) -> None:
    topics: dict[str, OffsetCommitRequest.Topic] = {}
    for (name, index), offset in offsets.items():
        topic = topics.setdefault(name, OffsetCommitRequest.Topic(name=name, partitions=[]))
        topic.partitions.append(
            OffsetCommitRequest.Topic.Partition(
                partition_index=index, committed_offset=offset, committed_metadata=""
            )
        )
    request = OffsetCommitRequest(group_id=group, topics=list(topics.values()))
    answer = brokers.ask_coordinator(group, request, most=_BY_NAME_UP_TO)
    for topic in answer.topics:
        for part in topic.partitions:
            check(part.error_code, f"{topic.name}-{part.partition_index}")


def _forget(brokers: Brokers, group: str, texts: list[str]) -> None:
    topics = []
    for topic in _narrowed(brokers, _partitions(texts), None):
        parts = [
            OffsetDeleteRequest.Topic.Partition(partition_index=part.partition_index)
            for part in topic.partitions
        ]
        topics.append(OffsetDeleteRequest.Topic(name=topic.name or "", partitions=parts))
    answer = brokers.ask_coordinator(group, OffsetDeleteRequest(group_id=group, topics=topics))
    check(answer.error_code, f"group {group}", _HINTS.get(answer.error_code))
    for topic in answer.topics:
        for part in topic.partitions:
            place = f"{topic.name}-{part.partition_index}"
            check(part.error_code, place, _HINTS.get(part.error_code))
    print(f"{group} has no offsets of {', '.join(texts)} any more")


def _delete(brokers: Brokers, names: Iterable[str]) -> None:
    report(_deleted(brokers, name) for name in names)


def _deleted(brokers: Brokers, name: str) -> tuple[int, str, str | None, str]:
    answer = brokers.ask_coordinator(name, DeleteGroupsRequest(groups_names=[name]))
    code = answer.results[0].error_code
    return code, f"group {name}", _HINTS.get(code), f"deleted {name}"
