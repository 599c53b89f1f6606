"""What must hold in a group whatever becomes of its members: judged by what the members said, and
by what the broker wrote to `__consumer_offsets`.

A member's time with a partition is a *stint*: from "assigned" to "revoked" or "lost", or its end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from odradek.emulator.groups.classic.members import DECODERS as CLASSIC_RECORDS
from odradek.emulator.groups.classic.members import GroupRecord, GroupTombstone
from odradek.emulator.groups.consumer.members import RECORDS as CONSUMER_RECORDS
from odradek.emulator.groups.offsets.store import DECODERS as OFFSET_RECORDS
from odradek.emulator.groups.offsets.store import OffsetRecord
from odradek.emulator.groups.records import MessageRecord, Record, decode
from odradek.wire.stored import consumer_groups as stored
from odradek.wire.stored.consumer_protocol import ConsumerProtocolAssignment
from odradek.wire.stored.keyed import read_value

from tests.clients.support.chaos.group import Event, History

OFFSETS = "__consumer_offsets"
DECODERS = OFFSET_RECORDS | CLASSIC_RECORDS | CONSUMER_RECORDS.decoders


@dataclass
class Stint:
    """`ended` is None if nobody said so: the member was killed. `is_clean`: it gave the partition
    up itself, and had not lost it unnoticed."""

    member: tuple[int, int]
    partition: int
    generation: int
    began: float
    next_offset: int | None = None
    ended: float | None = None
    is_clean: bool = False


class Read:
    """The members' words, made into stints. `wrong` is what contradicts itself."""

    def __init__(self, history: History) -> None:
        self.wrong: list[str] = []
        self.stints: list[Stint] = []
        self.delivered: list[set[int]] = [set() for _ in history.ends]
        self.deliveries = 0
        self.errors: Counter[str] = Counter()
        self.owners: dict[tuple[int, int], set[str]] = defaultdict(set)
        self._now: dict[tuple[tuple[int, int], int], Stint] = {}
        for event in history.events:
            self._take(event)

    def _take(self, event: Event) -> None:
        said, member = event.said, (event.host, event.said["who"])
        match said["is"]:
            case "assigned":
                for partition in said["partitions"]:
                    self._begin(Stint(member, partition, said["generation"], said["at"]))
                    self.owners[said["generation"], partition].add(said["member"])
            case "revoked" | "lost" as how:
                for partition in said["partitions"]:
                    self._end(member, partition, said["at"], is_clean=how == "revoked")
            case "records":
                for partition, first, last in said["runs"]:
                    self._saw(member, partition, first, last)
            case "closed":
                for owner, partition in list(self._now):
                    if owner == member:
                        self._end(member, partition, said["at"], is_clean=False)
            case "wrong":
                self.wrong.append(f"{member}: {said}")
            case "error":
                self.errors[said["text"][:90]] += 1

    def _begin(self, stint: Stint) -> None:
        key = stint.member, stint.partition
        if (before := self._now.get(key)) is not None:
            # Some clients do not say that they lost what they are given again.
            before.ended = stint.began
        self._now[key] = stint
        self.stints.append(stint)

    def _end(self, member: tuple[int, int], partition: int, at: float, *, is_clean: bool) -> None:
        stint = self._now.pop((member, partition), None)
        if stint is not None:
            stint.ended, stint.is_clean = at, is_clean

    def _saw(self, member: tuple[int, int], partition: int, first: int, last: int) -> None:
        self.delivered[partition].update(range(first, last + 1))
        self.deliveries += last + 1 - first
        stint = self._now.get((member, partition))
        if stint is None:
            self.wrong.append(f"{member} read {first} of {partition}, which it does not own")
        elif stint.next_offset is not None and stint.next_offset != first:
            self.wrong.append(f"{member} read {first} of {partition}, not {stint.next_offset}")
        if stint is not None:
            stint.next_offset = last + 1


def missing(history: History, read: Read) -> list[tuple[int, list[int]]]:
    """Records that were produced and never delivered: partition and offsets."""
    return [
        (partition, gaps)
        for partition, end in enumerate(history.ends)
        if (gaps := sorted(set(range(end)) - read.delivered[partition]))
    ]


def shared(read: Read) -> list[tuple[tuple[int, int], set[str]]]:
    """(generation, partition) that more than one member was given."""
    return [(which, members) for which, members in read.owners.items() if len(members) > 1]


def overlapping(history: History, read: Read) -> list[tuple[Stint, Stint]]:
    """Stints in a partition at the same time, where neither member had lost it without noticing:
    both gave it up themselves, and were awake throughout."""
    of_partition: dict[int, list[Stint]] = defaultdict(list)
    for stint in read.stints:
        if stint.is_clean and not history.hosts[stint.member[0]].slept:
            of_partition[stint.partition].append(stint)
    found = []
    for stints in of_partition.values():
        stints.sort(key=lambda stint: stint.began)
        for index, one in enumerate(stints):
            assert one.ended is not None
            for other in stints[index + 1 :]:
                if other.began >= one.ended:
                    break
                if other.member != one.member:
                    found.append((one, other))
    return found


# What the broker wrote


def written(bootstrap: str, group: str) -> list[Record]:
    """The records of a group in `__consumer_offsets`, in their order."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "none", "enable.auto.commit": False}
    )
    place = TopicPartition(OFFSETS, 0, 0)
    _, end = consumer.get_watermark_offsets(place, timeout=30)
    consumer.assign([place])
    found: list[Record] = []
    position = 0
    while position < end:
        message = consumer.poll(30)
        assert message is not None, f"{OFFSETS} ends at {position}, not at {end}"
        assert message.error() is None, message.error()
        position = message.offset() + 1
        raw: Any = SimpleNamespace(key=message.key(), value=message.value(), offset=position - 1)
        record = decode(raw, DECODERS.get)
        if record is not None and _group_of(record) == group:
            found.append(record)
    consumer.close()
    return found


def _group_of(record: Record) -> str:
    return record.group_id


def steps_back(records: Sequence[Record]) -> list[str]:
    """Commits before what was committed already."""
    last: dict[int, int] = {}
    found = []
    for record in records:
        if isinstance(record, OffsetRecord):
            if record.offset < last.get(record.partition, 0):
                found.append(f"{record.partition}: {last[record.partition]} -> {record.offset}")
            last[record.partition] = record.offset
    return found


def generations_that_go_back(records: Sequence[Record]) -> list[tuple[int, int]]:
    """Generations of a classic group, or epochs of a consumer group, below the one before."""
    last, found = 0, []
    for record in records:
        number = last
        if isinstance(record, GroupRecord):
            number = record.generation
        elif isinstance(record, GroupTombstone):
            continue  # it becomes a consumer group, in the same generation
        elif isinstance(record, MessageRecord) and record.value is not None:
            value: Any = record.value
            if isinstance(value, stored.ConsumerGroupMetadataValue):
                number = value.epoch
        if number < last:
            found.append((last, number))
        last = number
    return found


def given_twice(records: Sequence[Record]) -> Iterator[str]:
    """Partitions that two members had at once, by what was written."""
    held: dict[str, set[tuple[bytes, int]]] = {}
    for record in records:
        if isinstance(record, GroupRecord):
            yield from _doubles(record)
        elif isinstance(record, MessageRecord) and isinstance(
            record.key, stored.ConsumerGroupCurrentMemberAssignmentKey
        ):
            member, value = record.key.member_id, record.value
            held.pop(member, None)
            if value is None:
                continue
            has = _partitions(value)
            for other, theirs in held.items():
                if both := has & theirs:
                    yield f"{member} and {other} have {sorted(p for _, p in both)}"
            held[member] = has


def _partitions(value: Any) -> set[tuple[bytes, int]]:
    rows = [*value.assigned_partitions, *value.partitions_pending_revocation]
    return {(row.topic_id, partition) for row in rows for partition in row.partitions}


def _doubles(record: GroupRecord) -> Iterator[str]:
    counted: Counter[tuple[str, int]] = Counter()
    for member in record.members:
        if not member.assignment:
            continue
        decoded, _ = read_value(ConsumerProtocolAssignment, member.assignment, newer=True)
        for row in decoded.assigned_partitions:
            counted.update((row.topic, partition) for partition in row.partitions)
    for (_, partition), count in counted.items():
        if count > 1:
            yield f"generation {record.generation}: {count} members have {partition}"
