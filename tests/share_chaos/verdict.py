"""What must hold when all is over: what the members were told, and what the share coordinator has
written of each record, are compared."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from odradek.emulator.share.in_flight_batches import RecordState
from odradek.emulator.share.state import Update, decoded
from odradek.wire.api.describe_share_group_offsets import DescribeShareGroupOffsetsRequest

from tests.support.connection import Connection

STATES = "__share_group_state"
MOST = 5
_READ_S = 60.0
_KEPT = {"ACCEPT": RecordState.ACKNOWLEDGED, "REJECT": RecordState.ARCHIVED}

Place = tuple[int, int]
"""A record: its partition and offset."""


class End(NamedTuple):
    """How a record is done with, and at which delivery."""

    state: RecordState
    delivery: int


class Said(NamedTuple):
    """An acknowledgement: its type, and at which delivery."""

    kind: str
    delivery: int


@dataclass
class Report:
    """What one member was told: by record its deliveries, and its acknowledgements by what the
    member says of them (worker.py)."""

    got: dict[Place, list[int]] = field(default_factory=lambda: defaultdict(list))
    said: dict[str, dict[Place, list[Said]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    failed: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read a member's file, whose last line may be cut short."""
        report = cls()
        for line in path.read_text("utf-8").splitlines(keepends=True):
            word, _, rest = line.rstrip("\n").partition(" ")
            if not line.endswith("\n"):
                continue
            if word == "failed":
                report.failed[rest[:60]] += 1
                continue
            partition, offset, what = rest.split()
            place = int(partition), int(offset)
            if word == "got":
                report.got[place].append(int(what))
            else:
                report.said[word][place].append(Said(what, report.got[place][-1]))
        return report


@dataclass
class Verdict:
    """`wrong` is what must not be."""

    counts: dict[str, int]
    failed: dict[str, int]
    wrong: list[str]

    def lines(self) -> list[str]:
        """For people."""
        counts = ", ".join(f"{number} {name}" for name, number in self.counts.items())
        failed = [f"    {number} x {text}" for text, number in self.failed.items()]
        return [counts, *failed, *(f"    WRONG: {each}" for each in self.wrong)]


def judged(
    bootstrap: str,
    topic: str,
    written: set[Place],
    members: Sequence[Report],
    done: dict[str, int],
) -> Verdict:
    """Judge what became of these records."""
    ends = _ends(bootstrap)
    wrong: list[str] = []

    def check(what: str, which: set[Place]) -> None:
        if which:
            wrong.append(f"{what}: {len(which)} ({sorted(which)[:5]})")

    check("lost", written - set(ends))
    check("done with twice", {place for place, found in ends.items() if len(found) > 1})
    stored = {place: found[0] for place, found in ends.items()}
    asked, done_ = _said(members, "asked"), _said(members, "done")
    at_limit = {place for place, end in stored.items() if end == (RecordState.ARCHIVED, MOST)}
    check(
        "done with as nobody has asked",
        {place for place, end in stored.items() if not _is_among(end, asked[place])} - at_limit,
    )
    check(
        "answered, and something else is stored",
        {place for place, said in done_.items() if not _is_true(said, stored.get(place))},
    )
    deliveries = [
        (place, n) for member in members for place, all_ in member.got.items() for n in all_
    ]
    check("delivered, and never written", {place for place, _ in deliveries} - written)
    check("delivered too often", {place for place, number in deliveries if number > MOST})
    check(
        "delivered twice with one count", {p for (p, _), n in Counter(deliveries).items() if n > 1}
    )
    failed = sum((member.failed for member in members), Counter())
    late = [
        place
        for place, said in done_.items()
        for each in said
        if each.kind != "RELEASE" and place in stored and each.delivery < stored[place].delivery
    ]
    accepted = [place for place, end in stored.items() if end.state is RecordState.ACKNOWLEDGED]
    counts = {
        "written": len(written),
        "accepted": len(accepted),
        "rejected": len(stored) - len(accepted) - len(at_limit),
        "archived at the limit": len(at_limit),
        "deliveries": len(deliveries),
        "acknowledgements refused": sum(map(len, _said(members, "refused").values())),
        "acknowledgements too late": len(late),
        **{f"times {verb}": number for verb, number in done.items()},
    }
    return Verdict(counts, dict(failed), wrong)


def _said(members: Sequence[Report], word: str) -> dict[Place, list[Said]]:
    found: dict[Place, list[Said]] = defaultdict(list)
    for member in members:
        for place, said in member.said[word].items():
            found[place] += said
    return found


def _is_among(end: End, asked: Sequence[Said]) -> bool:
    """Whether somebody has asked for what a record has come to, at that delivery."""
    return any(_KEPT.get(kind) is end.state and n == end.delivery for kind, n in asked)


def _is_true(said: Sequence[Said], end: End | None) -> bool:
    """Whether what was answered is what is stored. An acknowledgement that comes too late, after
    others are done with all up to there, is passed over and answered without an error, as by
    Kafka."""
    ends = [each for each in said if each.kind != "RELEASE"]
    return not ends or (
        end is not None
        and all(n < end.delivery or _is_among(end, [Said(kind, n)]) for kind, n in ends)
    )


def _ends(bootstrap: str) -> dict[Place, list[End]]:
    """By record, how the records of its state say that it is done with. A snapshot says again what
    updates have said, and has one change itself."""
    found: dict[Place, list[End]] = defaultdict(list)
    for message in _read(bootstrap):
        stored = SimpleNamespace(key=message.key(), value=message.value())
        record = decoded(stored)  # type: ignore[arg-type]
        value = record.value
        if value is None:
            continue
        for batch in value.change.batches if isinstance(value, Update) else value.batches:
            end = End(RecordState(batch.delivery_state), batch.delivery_count)
            for offset in range(batch.first_offset, batch.last_offset + 1):
                ends = found[record.key.partition, offset]
                if end.state.is_done and (isinstance(value, Update) or end not in ends):
                    ends.append(end)
    return {place: ends for place, ends in found.items() if ends}


def _read(bootstrap: str) -> Iterator[Any]:
    """The records of the topic of states, whose only partition is 0. Raises TimeoutError."""
    settings = {"bootstrap.servers": bootstrap, "group.id": "verdict", "enable.auto.commit": False}
    consumer = Consumer({**settings, "enable.partition.eof": True})
    deadline = time.monotonic() + _READ_S
    try:
        consumer.assign([TopicPartition(STATES, 0, 0)])
        while time.monotonic() < deadline:
            for message in consumer.consume(1000, 0.2):
                error = message.error()
                if error is None:
                    yield message
                elif error.code() == KafkaError._PARTITION_EOF:
                    return
                elif not error.retriable():
                    raise KafkaException(error)
    finally:
        consumer.close()
    raise TimeoutError(f"{STATES} was not read to its end")


def lag(bootstrap: str, group: str, topic: str, partitions: int) -> int | None:
    """How many records a group is yet to be done with; None if that cannot be told."""
    kind = DescribeShareGroupOffsetsRequest.Group
    asked = kind.Topic(topic_name=topic, partitions=[*range(partitions)])
    request = DescribeShareGroupOffsetsRequest(groups=[kind(group_id=group, topics=[asked])])
    with Connection(bootstrap) as connection:
        answer = connection.ask(request, 1)
    found = [each for topic in answer.groups[0].topics for each in topic.partitions]
    if len(found) != partitions or any(each.lag < 0 for each in found):
        return None
    return sum(each.lag for each in found)
