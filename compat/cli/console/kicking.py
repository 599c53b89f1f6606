"""`odradek groups kick`: members of a group are removed, as by an administrator (LeaveGroup v3)."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ....wire import Error
from ....wire.api.leave_group import LeaveGroupRequest
from .client import Brokers, ConsoleError, check, report
from .group_reading import SHARE, STREAMS, Member, describe, list_groups

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


def kick_members(brokers: Brokers, asked: Namespace) -> None:
    """Remove members. Raises ConsoleError."""
    if not (asked.member or asked.client or asked.all):
        raise ConsoleError("which members? name them with --member or --client, or say --all")
    listed = list_groups(brokers).get(asked.group)
    if listed is not None and listed.kind in (SHARE, STREAMS):
        raise ConsoleError(
            f"{asked.group} is a {listed.kind} group: Kafka has no request that removes its members"
        )
    group = describe(brokers, asked.group, listed)
    for option, given, known in (
        ("--member", asked.member, {name for each in group.members for name in _names(each)}),
        ("--client", asked.client, {each.client_id for each in group.members}),
    ):
        if missing := [each for each in given if each not in known]:
            there = ", ".join(sorted(known)) or "none"
            raise ConsoleError(f"{option}: group {asked.group} has no {missing[0]}; it has {there}")
    chosen = [
        each
        for each in group.members
        if asked.all or each.client_id in asked.client or set(asked.member) & _names(each)
    ]
    members = [
        LeaveGroupRequest.Member(
            member_id=each.member_id, group_instance_id=each.instance_id, reason=_REASON
        )
        for each in chosen
    ]
    request = LeaveGroupRequest(group_id=asked.group, members=members)
    answer = brokers.ask_coordinator(asked.group, request)
    check(answer.error_code, f"group {asked.group}")
    clients = {each.member_id: each.client_id for each in chosen}
    report(
        (
            each.error_code,
            f"member {each.member_id}",
            _HINTS.get(Error(each.error_code)),
            f"removed {clients.get(each.member_id, '')} ({each.member_id}) from {asked.group}",
        )
        for each in answer.members
    )


def _names(member: Member) -> set[str]:
    return {member.member_id, *([member.instance_id] if member.instance_id else ())}
