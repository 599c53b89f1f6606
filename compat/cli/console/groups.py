"""`odradek groups`: members, offsets and lag of groups; reset their offsets; delete.

odradek groups localhost:9092                          all of them
odradek groups localhost:9092 show billing             members, offsets and lag
odradek groups localhost:9092 reset billing --to earliest --topic orders --dry-run
odradek groups localhost:9092 forget billing --topic orders      its offsets of that topic
odradek groups localhost:9092 kick billing --client app-7       remove members that are stuck
odradek groups localhost:9092 delete billing

`odradek groups kick`: members of a group are removed, as by an administrator (LeaveGroup v3).
"""

from __future__ import annotations

import argparse
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence

from ....wire import Error
from ....wire.api.delete_groups import DeleteGroupsRequest
from ....wire.api.leave_group import LeaveGroupRequest
from ....wire.api.metadata import MetadataResponse
from ....wire.api.offset_delete import OffsetDeleteRequest
from .aliases import add_action
from .arguments import partitions
from .client import Brokers, ConsoleError, check, report
from .confirm import add_yes, confirm
from .group_reading import (
    CLASSIC,
    CONSUMER,
    DEAD,
    SHARE,
    STREAMS,
    UNKNOWN,
    Group,
    Listed,
    Member,
    commit_request,
    committed,
    describe,
    describe_shares,
    forget_starts,
    list_groups,
    owners,
    set_starts,
    share_offsets,
)
from .offsets import Place, bounds, parse_position, resolve
from .output import one_line
from .tables import add_json, objects, print_json, print_rows, print_table, ranges

_REASON = "removed by odradek groups kick"
_HINTS = {Error.UNKNOWN_MEMBER_ID: "it has left by now"}


def add_kick(parser: ArgumentParser) -> None:
    """Add the arguments after `odradek groups ADDRESS kick`."""
    parser.add_argument("group", help="its name")
    parser.add_argument(
        "--member",
        action="append",
        default=[],
        metavar="ID",
        help="this member, by its id or group.instance.id; may be repeated",
    )
    parser.add_argument(
        "--client", action="append", default=[], metavar="ID", help="the members of this client"
    )
    parser.add_argument("--all", action="store_true", help="all members")


def kick_members(brokers: Brokers, options: Namespace) -> None:
    """Remove members. Raises ConsoleError."""
    if not (options.member or options.client or options.all):
        raise ConsoleError("which members? name them with --member or --client, or say --all")
    listed = list_groups(brokers).get(options.group)
    if listed is not None and listed.kind in (SHARE, STREAMS):
        raise ConsoleError(
            f"{options.group} is a {listed.kind} group:"
            " Kafka has no request that removes its members"
        )
    group = describe(brokers, options.group, listed)
    for option, given, known in (
        ("--member", options.member, {name for each in group.members for name in _names(each)}),
        ("--client", options.client, {each.client_id for each in group.members}),
    ):
        if missing := [each for each in given if each not in known]:
            there = ", ".join(sorted(known)) or "none"
            raise ConsoleError(
                f"{option}: group {options.group} has no {missing[0]}; it has {there}"
            )
    chosen = [
        each
        for each in group.members
        if options.all or each.client_id in options.client or set(options.member) & _names(each)
    ]
    members = [
        LeaveGroupRequest.Member(
            member_id=each.member_id, group_instance_id=each.instance_id, reason=_REASON
        )
        for each in chosen
    ]
    request = LeaveGroupRequest(group_id=options.group, members=members)
    answer = brokers.ask_coordinator(options.group, request)
    check(answer.error_code, f"group {options.group}")
    clients = {each.member_id: each.client_id for each in chosen}
    report(
        (
            each.error_code,
            f"member {each.member_id}",
            _HINTS.get(Error(each.error_code)),
            f"removed {clients.get(each.member_id, '')} ({each.member_id}) from {options.group}",
        )
        for each in answer.members
    )


def _names(member: Member) -> set[str]:
    return {member.member_id, *([member.instance_id] if member.instance_id else ())}


_BY_NAME_UP_TO = 9  # OffsetCommit
_HEADS = ("group", "type", "state", "members", "lag")
_OF_PLACES = ("topic", "partition", "committed", "next", "lag", "member")
_OF_SHARES = ("topic", "partition", "start", "next", "lag", "members")
# What to do about errors without a message.
_GROUP_HINTS = {
    Error.NON_EMPTY_GROUP: "it has members: stop its consumers first",
    Error.GROUP_SUBSCRIBED_TO_TOPIC: "its members read it: stop its consumers first",
    Error.GROUP_ID_NOT_FOUND: "there is no such group",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek groups ADDRESS`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", help="without one: list them")
    parser.set_defaults(json=False)
    listed = add_action(actions, "list", "all of them, as without an action")
    show = add_action(actions, "show", "members, offsets and lag")
    for each in (parser, listed, show):
        add_json(each)
    reset = add_action(actions, "reset", "have a group without members go on from elsewhere")
    forget = add_action(actions, "forget", "delete a group's offsets of a topic")
    delete = add_action(actions, "delete", "delete groups without members")
    kick = add_action(actions, "kick", "remove members; a consumer that runs joins again")
    add_kick(kick)
    add_yes(forget, delete)
    show.add_argument("--members", action="store_true", help="its members alone")
    show.add_argument("--state", action="store_true", help="its state alone")
    for action in (show, delete, reset):
        action.add_argument("group", nargs="*", help="its name")
        action.add_argument("--all", "--all-groups", action="store_true", help="all groups")
    forget.add_argument("group", help="its name")
    for action in (reset, forget):
        action.add_argument(
            "--topic",
            action="append",
            default=[],
            metavar="NAME[:PARTITION]",
            type=partitions,
            required=action is forget,
            help="may be repeated" + ("" if action is forget else "; default: all it has"),
        )
    reset.add_argument(
        "--to",
        required=True,
        metavar="POSITION",
        type=parse_position,
        help="earliest, latest, an offset, -N, an age (15m, 2h, 3d) or a time",
    )
    reset.add_argument("--dry-run", action="store_true", help="only say what would be committed")


def run(brokers: Brokers, options: argparse.Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    match options.action:
        case None | "list":
            _list(brokers, as_json=options.json)
        case "show":
            _show(brokers, options)
        case "reset":
            for name in _named(brokers, options):
                _reset(brokers, options, name)
        case "forget":
            confirm(options, f"delete offsets of {options.group}")
            _forget(brokers, options.group, options.topic)
        case "kick":
            kick_members(brokers, options)
        case "delete":
            names = _named(brokers, options)
            confirm(options, f"delete {', '.join(names)} and their offsets")
            _delete(brokers, names)
    return 0


def _named(brokers: Brokers, options: argparse.Namespace) -> list[str]:
    """The groups that are meant. Raises ConsoleError."""
    names: list[str] = options.group
    if options.all:
        return [*list_groups(brokers)]
    if not names:
        raise ConsoleError("which groups? name them, or say --all")
    return names


def _list(brokers: Brokers, *, as_json: bool) -> None:
    groups = list_groups(brokers)
    known = {
        name: describe(brokers, name, groups[name]) for name in groups if groups[name].kind != SHARE
    }
    offsets = {name: committed(brokers, name) for name in groups if _has_offsets(groups[name])}
    places = {name: {*offsets[name], *owners(known[name])} for name in offsets}
    limits = _limits(brokers, set().union(*places.values()))
    rows = []
    for name, listed in groups.items():
        if listed.kind == SHARE:
            shares = describe_shares(brokers, name)
            lags = [lag for _, lag in share_offsets(brokers, name).values() if lag != UNKNOWN]
            rows.append([name, SHARE, shares.state, len(shares.members), _sum(lags)])
            continue
        group = known[name]
        row: list[object] = [name, group.kind, group.state]
        if name in offsets:
            found = _progress(offsets[name], limits, places[name])
            row += [len(group.members), _sum([lag for *_, lag in found if lag is not None])]
        rows.append(row + [None] * (len(_HEADS) - len(row)))
    print_rows(_HEADS, rows, as_json=as_json)


def _sum(lags: list[int]) -> int | None:
    """Of a group without offsets and members nobody knows what it lags."""
    return sum(max(0, lag) for lag in lags) if lags else None


def _show(brokers: Brokers, options: argparse.Namespace) -> None:
    groups = list_groups(brokers)
    for number, name in enumerate(_named(brokers, options)):
        group, heads, rows = _described(brokers, name, groups.get(name))
        if options.json:
            print_json(_as_object(name, group, objects(heads, rows)))
            continue
        if number and not options.state:
            print()
        _show_one(name, group, members=not options.state)
        if not (options.state or options.members):
            if group.members:
                print()
            print_table(heads, rows)


def _described(
    brokers: Brokers, name: str, listed: Listed | None
) -> tuple[Group, Sequence[str], list[list[object]]]:
    """A group, and a table of its partitions: heads and rows. Raises ConsoleError."""
    if listed is not None and listed.kind == SHARE:
        group = describe_shares(brokers, name)
        return group, _OF_SHARES, _share_rows(brokers, group, share_offsets(brokers, name))
    if listed is not None and not _has_offsets(listed):
        raise ConsoleError(f"{name} is a group of type {listed.kind}, of which only the list tells")
    group = describe(brokers, name, listed)
    offsets = committed(brokers, name)
    if group.state == DEAD and not offsets:
        raise ConsoleError(f"there is no group {name}")
    return group, _OF_PLACES, _rows(brokers, group, offsets)


def _share_rows(
    brokers: Brokers, group: Group, offsets: dict[Place, tuple[int, int]]
) -> list[list[object]]:
    """Of each partition that the group has; several members may have the same."""
    rows: list[list[object]] = []
    limits = _limits(brokers, offsets)
    for place, known in sorted(offsets.items()):
        start, lag = (None if each == UNKNOWN else each for each in known)
        _, after = limits.get(place, (None, None))
        members = [each for each in group.members if place[1] in each.assigned.get(place[0], ())]
        rows.append([*place, start, after, lag, len(members)])
    return rows


def _as_object(name: str, group: Group, offsets: object) -> dict[str, object]:
    members = [
        {
            "member": each.member_id,
            "instance": each.instance_id,
            "client": each.client_id,
            "host": each.host,
            "partitions": each.assigned,
        }
        for each in group.members
    ]
    return {
        "group": name,
        "state": group.state,
        "type": group.kind,
        "members": members,
        "offsets": offsets,
    }


def _rows(brokers: Brokers, group: Group, offsets: dict[Place, int]) -> list[list[object]]:
    owned = owners(group)
    limits = _limits(brokers, {*offsets, *owned})
    return [
        [*place, offset, after, lag, owned.get(place)]
        for place, offset, after, lag in _progress(offsets, limits, owned)
    ]


def _show_one(name: str, group: Group, *, members: bool) -> None:
    how = f", {group.how}" if group.how else ""
    print(one_line(f"{name}: {group.state}, {group.kind}{how}"))
    if group.members and members:
        print_table(
            ["member", "instance", "client", "host", "partitions"],
            [
                [m.member_id, m.instance_id, m.client_id, m.host, _places(m.assigned)]
                for m in group.members
            ],
        )


def _has_offsets(listed: Listed) -> bool:
    return listed.kind in (CLASSIC, CONSUMER, STREAMS)


def _limits(brokers: Brokers, places: Iterable[Place]) -> dict[Place, tuple[int, int]]:
    return bounds(brokers, brokers.topics({topic for topic, _ in places}))


def _progress(
    offsets: dict[Place, int],
    limits: dict[Place, tuple[int, int]],
    owned: Iterable[Place] = (),
) -> list[tuple[Place, int | None, int | None, int | None]]:
    """For each partition with an offset or a member of the group: committed, next, lag."""
    rows = []
    for place in sorted({*offsets, *owned}):
        offset = offsets.get(place)
        first, after = limits.get(place, (None, None))
        lag = None
        if first is not None and after is not None:
            lag = max(0, after - (first if offset is None else offset))
        rows.append((place, offset, after, lag))
    return rows


def _places(assigned: dict[str, list[int]]) -> str:
    return " ".join(f"{topic}:{ranges(indexes)}" for topic, indexes in sorted(assigned.items()))


def _reset(brokers: Brokers, options: argparse.Namespace, name: str) -> None:
    listed = list_groups(brokers).get(name)
    is_share = listed is not None and listed.kind == SHARE
    group = describe_shares(brokers, name) if is_share else describe(brokers, name, listed)
    if group.members:
        raise ConsoleError(
            f"group {name} is {group.state} and has members: stop its consumers first"
        )
    before = _starts(brokers, name) if is_share else committed(brokers, name)
    wanted = options.topic or [(topic, None) for topic, _ in before]
    topics = _narrowed(brokers, wanted, None if options.topic else set(before))
    target = resolve(brokers, topics, options.to)
    if not target:
        raise ConsoleError(f"group {name} has no offsets; name a topic with --topic")
    if options.dry_run:
        print(one_line(f"{name} would begin there, and is left as it is:"), file=sys.stderr)
    else:
        (set_starts if is_share else _commit)(brokers, name, target)
    print_table(
        ["topic", "partition", "before", "after"],
        [[*place, before.get(place), offset] for place, offset in sorted(target.items())],
    )


def _starts(brokers: Brokers, name: str) -> dict[Place, int | None]:
    """Where a share group begins; None where nothing was acknowledged yet."""
    found = share_offsets(brokers, name).items()
    return {place: None if start == UNKNOWN else start for place, (start, _) in found}


def _narrowed(
    brokers: Brokers, wanted: Iterable[tuple[str, int | None]], only: set[Place] | None
) -> list[MetadataResponse.Topic]:
    """The topics, each with just the partitions that are asked for."""
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
    request = commit_request(group, offsets)
    answer = brokers.ask_coordinator(group, request, most=_BY_NAME_UP_TO)
    for topic in answer.topics:
        for part in topic.partitions:
            check(part.error_code, f"{topic.name}-{part.partition_index}")


def _forget(brokers: Brokers, group: str, wanted: list[tuple[str, int | None]]) -> None:
    listed = list_groups(brokers).get(group)
    if listed is not None and listed.kind == SHARE:
        forget_starts(brokers, group, wanted)
    else:
        _delete_offsets(brokers, group, wanted)
    forgotten = ", ".join(name if index is None else f"{name}:{index}" for name, index in wanted)
    print(one_line(f"{group} has no offsets of {forgotten} any more"))


def _delete_offsets(brokers: Brokers, group: str, wanted: list[tuple[str, int | None]]) -> None:
    topics = []
    for topic in _narrowed(brokers, wanted, None):
        parts = [
            OffsetDeleteRequest.Topic.Partition(partition_index=part.partition_index)
            for part in topic.partitions
        ]
        topics.append(OffsetDeleteRequest.Topic(name=topic.name or "", partitions=parts))
    answer = brokers.ask_coordinator(group, OffsetDeleteRequest(group_id=group, topics=topics))
    check(answer.error_code, f"group {group}", _GROUP_HINTS.get(answer.error_code))
    for topic in answer.topics:
        for part in topic.partitions:
            place = f"{topic.name}-{part.partition_index}"
            check(part.error_code, place, _GROUP_HINTS.get(part.error_code))


def _delete(brokers: Brokers, names: Iterable[str]) -> None:
    report(_deleted(brokers, name) for name in names)


def _deleted(brokers: Brokers, name: str) -> tuple[int, str, str | None, str]:
    answer = brokers.ask_coordinator(name, DeleteGroupsRequest(groups_names=[name]))
    code = answer.results[0].error_code
    return code, f"group {name}", _GROUP_HINTS.get(code), f"deleted {name}"
