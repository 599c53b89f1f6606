"""Transcripts: a command, a line of dashes, what it led to. ODRADEK_REWRITE=1 rewrites them.

Commands (milliseconds; a member is named by its client id, and its member id is remembered):
    set initial_rebalance_delay_ms=0       the settings, before anybody joins
    join a v=9 instance=i1 protocols=range:meta,sticky session=10000 rebalance=60000 id=other
    enter a ...                            the same, and once more with the id it is given
    sync a assign=a:x,b:y gen=1            assignments go to members by name
    beat a gen=1            leave a b i1=  (`i1=` removes an instance as an administrator does)
    commit a t-0=5 gen=1    fetch t-0      delete
    pass 3000               describe       list        restart      refuse NOT_ENOUGH_REPLICAS

Those of consumer groups (KIP-848) are in consumer_transcripts.py.

What it led to, with the time since the start: answers as `a: …`, records as `log: …`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from odradek.emulator.groups.classic.group import Answer
from odradek.emulator.groups.classic.members import GroupRecord, GroupTombstone
from odradek.emulator.groups.group import CommitRequest, OffsetCommit
from odradek.emulator.groups.offsets.store import OffsetRecord, OffsetTombstone
from odradek.emulator.groups.records import Record
from odradek.wire.api.join_group import JoinGroupResponse
from odradek.wire.api.leave_group import LeaveGroupResponse
from odradek.wire.api.sync_group import SyncGroupResponse
from odradek.wire.errors import Error, Refused

from tests.emulator.groups.support.world import START, World, leaver

Options = dict[str, str]


class Stage:
    """Plays the commands of one transcript in a world and notes what happens."""

    def __init__(self) -> None:
        self.world = World()
        self.lines: list[str] = []
        self.ids: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.joins: dict[str, Options] = {}
        self.world.on_write = lambda record: self.note(f"log: {self.written(record)}")
        self.world.on_answer = self.answered

    def note(self, line: str) -> None:
        self.lines.append(f"{self.world.now - START:>6} {line}")

    def written(self, record: Record) -> str:
        return written(record)

    def answered(self, name: str, answer: Answer) -> None:
        if isinstance(answer, JoinGroupResponse):
            if answer.member_id:
                self.ids[name] = answer.member_id
            if answer.error_code == Error.NONE:
                self.generations[name] = answer.generation_id
        self.note(f"{name}: {line_of(answer)}")

    def play(self, command: str) -> list[str]:
        self.lines = []
        verb, *words = command.split()
        getattr(self, f"do_{verb}")(*words)
        return self.lines

    def do_set(self, *words: str) -> None:
        for name, value in options(words).items():
            owner = self.world if hasattr(self.world, name) else self.world.settings
            assert hasattr(owner, name)
            setattr(owner, name, int(value))

    def do_join(self, name: str, *words: str) -> None:
        # What a member once said it says again, unless told otherwise.
        chosen = self.joins[name] = self.joins.get(name, {}) | options(words)
        protocols = []
        for protocol in chosen.get("protocols", "range").split(","):
            protocol_name, _, metadata = protocol.partition(":")
            protocols.append((protocol_name, metadata.encode()))
        self.world.ask_join(
            name,
            name,
            version=int(chosen.get("v", 9)),
            member_id=self.member_id(name, chosen.pop("id", None)),
            instance_id=chosen.get("instance"),
            session_timeout_ms=int(chosen.get("session", 10_000)),
            rebalance_timeout_ms=int(chosen.get("rebalance", 60_000)),
            protocol_type=chosen.get("type", "consumer"),
            protocols=protocols,
        )

    def do_enter(self, name: str, *words: str) -> None:
        self.do_join(name, *words)
        self.do_join(name)

    def do_sync(self, name: str, *words: str) -> None:
        chosen = options(words)
        pairs = [pair.split(":") for pair in chosen.get("assign", "").split(",") if pair]
        self.world.ask_sync(
            name,
            self.member_id(name, chosen.get("id")),
            self.generation(name, chosen),
            version=4,
            instance_id=chosen.get("instance"),
            protocol_type=None,
            protocol_name=None,
            assignments=[(self.ids.get(who, who), what.encode()) for who, what in pairs],
        )

    def do_beat(self, name: str, *words: str) -> None:
        chosen = options(words)
        error = self.world.beat(
            self.member_id(name, chosen.get("id")),
            self.generation(name, chosen),
            chosen.get("instance"),
        )
        self.note(f"{name}: {error.name if error else 'ok'}")

    def do_leave(self, *names: str) -> None:
        leavers = [
            leaver("", name[:-1]) if name.endswith("=") else leaver(self.ids.get(name, name))
            for name in names
        ]
        self.world.ask_leave(" ".join(names), *leavers)

    def do_commit(self, name: str, *words: str) -> None:
        chosen = options(words)
        request = CommitRequest(
            9,
            self.member_id(name, chosen.pop("id", None)),
            chosen.pop("instance", None),
            self.generation(name, chosen),
            [
                OffsetCommit(*partition(key), int(offset))
                for key, offset in chosen.items()
                if key != "gen"
            ],
        )
        try:
            errors = self.world.coordinator.offsets.commit("g", request)
            self.note(f"{name}: {' '.join(error.name for error in errors)}")
        except Refused as refusal:
            self.note(f"{name}: {refusal.error.name}")

    def do_fetch(self, *words: str) -> None:
        asked = [partition(word) for word in words] or None
        for one in self.world.coordinator.offsets.fetch("g", asked):
            self.note(f"{one.topic}-{one.partition} = {one.offset}")

    def do_delete(self) -> None:
        for group_id, error in self.world.coordinator.delete(["g"]):
            self.note(f"{group_id}: {error.name}")

    def do_pass(self, milliseconds: str) -> None:
        self.world.advance(int(milliseconds))

    def do_describe(self) -> None:
        group = self.world.coordinator.classic.describe("g", 5)
        kind = f"type={group.protocol_type} protocol={group.protocol_data}"
        self.note(f"{group.group_state} {kind}".strip())
        for member in group.members:
            metadata, assignment = (
                member.member_metadata.decode(),
                member.member_assignment.decode(),
            )
            self.note(f"  {member.member_id} metadata={metadata} assignment={assignment}")

    def do_list(self) -> None:
        for group in self.world.coordinator.list_groups():
            self.note(" ".join(group))

    def do_restart(self) -> None:
        self.world.restart()

    def do_refuse(self, error: str) -> None:
        self.world.refusals.append(Error[error])

    def member_id(self, name: str, other: str | None) -> str:
        """The id a member uses: the one it was given, or another one's, or - for none."""
        if other == "-":
            return ""
        return self.ids.get(name, "") if other is None else self.ids.get(other, other)

    def generation(self, name: str, chosen: Options) -> int:
        return int(chosen.get("gen", self.generations.get(name, -1)))


def options(words: tuple[str, ...]) -> Options:
    return dict(word.split("=", 1) for word in words)


def partition(text: str) -> tuple[str, int]:
    topic, _, number = text.rpartition("-")
    return topic, int(number)


def line_of(answer: Answer) -> str:
    error = Error(answer.error_code)
    if isinstance(answer, LeaveGroupResponse):
        left = (
            f"{m.member_id or m.group_instance_id} {Error(m.error_code).name}"
            for m in answer.members
        )
        return error.name if error else f"left: {', '.join(left)}"
    if isinstance(answer, SyncGroupResponse):
        assignment = answer.assignment.decode() or "(empty)"
        return error.name if error else f"assigned {assignment}"
    if error:
        return f"{error.name} {answer.member_id}".rstrip()
    parts = [f"joined generation={answer.generation_id} protocol={answer.protocol_name}"]
    parts.append(f"id={answer.member_id} leader={answer.leader}")
    if answer.skip_assignment:
        parts.append("skip-assignment")
    if answer.members:
        members = (f"{m.member_id}:{m.metadata.decode()}".rstrip(":") for m in answer.members)
        parts.append(f"members={','.join(members)}")
    return " ".join(parts)


def written(record: Record) -> str:
    if isinstance(record, GroupTombstone):
        return "delete group"
    if isinstance(record, OffsetTombstone):
        return f"delete {record.topic}-{record.partition}"
    if isinstance(record, OffsetRecord):
        return f"{record.topic}-{record.partition} = {record.offset}"
    assert isinstance(record, GroupRecord)
    members = (f"{m.member_id}={readable(m.assignment)}" for m in record.members)
    leader = f" leader={record.leader}" if record.leader else ""
    protocol = f" protocol={record.protocol_name}" if record.protocol_name else ""
    return f"group generation={record.generation}{protocol}{leader} [{' '.join(members)}]"


def readable(data: bytes) -> str:
    """Text, or what is no text in hexadecimal."""
    return data.decode() if data.isascii() and b"\0" not in data else data.hex()


def blocks(text: str) -> list[tuple[list[str], list[str]]]:
    """What is played (with comments) and what is expected, block by block."""
    found = []
    for block in text.strip().split("\n\n"):
        commands, _, expected = block.partition("\n----")
        found.append((commands.split("\n"), expected.strip("\n").split("\n")))
    return found


def play(path: Path) -> tuple[str, str]:
    """The transcript as it is, and as it should be."""
    from tests.emulator.groups.support.consumer_transcripts import ConsumerStage

    before = path.read_text()
    stage: Any = ConsumerStage()
    parts = []
    for commands, _ in blocks(before):
        lines = [line for c in commands if not c.startswith("#") for line in stage.play(c)]
        parts.append("\n".join([*commands, "----", *lines]))
    after = "\n\n".join(parts) + "\n"
    if os.environ.get("ODRADEK_REWRITE"):
        path.write_text(after)
        before = after
    return before, after
