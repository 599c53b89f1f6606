"""Commands of transcripts about consumer groups (KIP-848), beside those of transcripts.py.

    topic t 4               make a topic, or let it grow      untopic t
    tell a epoch=0 names=t,u regex=t.* timeout=60000 assignor=range instance=i owned=t:0+1
                            a heartbeat; what is left out is not said, the epoch is the last told
    hail a names=t          a heartbeat that joins: epoch 0, owned nothing, a timeout of a minute
    bye a epoch=-2          a heartbeat that leaves (-1 unless said otherwise)
    look                    the group as ConsumerGroupDescribe shows it
    offset a t-0=5          OffsetCommit of a member, v9, in its epoch (or epoch=3)
    carol t                 JoinGroup of a classic consumer of that name that subscribes to t

Members go by the ids that they choose. Partitions are shown as t:0+1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from odradek.emulator.groups.group import CommitRequest, OffsetCommit
from odradek.emulator.groups.records import MessageRecord, Record
from odradek.wire.errors import Refused
from odradek.wire.stored.consumer_protocol import ConsumerProtocolSubscription
from odradek.wire.stored.keyed import keyed

from tests.emulator.groups.support.transcripts import Options, Stage, options, partition


class ConsumerStage(Stage):
    """Plays commands about consumer groups too."""

    def __init__(self) -> None:
        super().__init__()
        self.epochs: dict[str, int] = {}

    def do_topic(self, name: str, partitions: str) -> None:
        self.world.topics.make(name, int(partitions))

    def do_untopic(self, name: str) -> None:
        self.world.topics.delete(name)

    def do_tell(self, name: str, *words: str) -> None:
        self.tell(name, options(words))

    def do_hail(self, name: str, *words: str) -> None:
        self.tell(name, {"epoch": "0", "owned": "", "timeout": "60000"} | options(words))

    def do_bye(self, name: str, *words: str) -> None:
        self.tell(name, {"epoch": "-1"} | options(words))

    def tell(self, name: str, chosen: Options) -> None:
        said: dict[str, Any] = {
            "instance_id": chosen.get("instance"),
            "rebalance_timeout_ms": int(chosen.get("timeout", -1)),
            "names": [n for n in chosen["names"].split(",") if n] if "names" in chosen else None,
            "regex": chosen.get("regex"),
            "assignor": chosen.get("assignor"),
            "owned": self.owned(chosen["owned"]) if "owned" in chosen else None,
        }
        epoch = int(chosen.get("epoch", self.epochs.get(name, 0)))
        try:
            answer = self.world.consumer_beat(name, epoch, client=name, **said)
        except Refused as refusal:
            self.note(f"{name}: {refusal.error.name}")
            return
        self.epochs[name] = answer.member_epoch
        news = ""
        if answer.assignment is not None:
            parts = answer.assignment.topic_partitions
            news = f" [{shown({each.topic_id: each.partitions for each in parts})}]"
        self.note(f"{name}: epoch={answer.member_epoch}{news}")
        self.world.advance(0)  # what is due now happens behind the answer

    def owned(self, text: str) -> dict[bytes, list[int]]:
        pairs = [part.split(":") for part in text.split(",") if part]
        return {
            name.encode().ljust(16, b"\0"): [int(number) for number in numbers.split("+") if number]
            for name, numbers in pairs
        }

    def do_look(self) -> None:
        try:
            group = self.world.coordinator.consumer.group("g")
        except Refused as refusal:
            self.note(refusal.error.name)
            return
        self.note(f"{group.state} epoch={group.epoch} target={group.target_epoch}")
        for member in group:
            target = shown(group.targets.get(member.member_id, {}))
            giving = f" gives up [{shown(member.revoking)}]" if member.revoking else ""
            kind = "" if member.classic is None else " (classic)"
            self.note(
                f"  {member.member_id}{kind} {member.state.name} epoch={member.epoch}"
                f" has [{shown(member.assigned)}]{giving} shall have [{target}]"
            )

    def do_offset(self, name: str, *words: str) -> None:
        chosen = options(words)
        epoch = int(chosen.pop("epoch", self.epochs.get(name, -1)))
        commits = []
        for key, offset in chosen.items():
            topic, number = partition(key)
            known = self.world.topics.get(topic)
            assert known is not None
            commits.append(OffsetCommit(topic, number, int(offset), topic_id=known.id))
        try:
            errors = self.world.coordinator.offsets.commit(
                "g", CommitRequest(9, name, None, epoch, commits)
            )
            self.note(f"{name}: {' '.join(error.name for error in errors)}")
        except Refused as refusal:
            self.note(f"{name}: {refusal.error.name}")

    def do_carol(self, *names: str) -> None:
        decoded = ConsumerProtocolSubscription(topics=list(names), user_data=None)
        protocols = (("range", keyed(decoded, 1)),)
        self.world.ask_join("carol", "carol", version=3, member_id="carol", protocols=protocols)

    def written(self, record: Record) -> str:
        return stored(record) if isinstance(record, MessageRecord) else super().written(record)


def shown(held: Mapping[bytes, Iterable[int]]) -> str:
    """Partitions by topic, like t:0+1."""
    parts = [
        f"{topic.rstrip(bytes(1)).decode()}:{'+'.join(str(n) for n in sorted(numbers))}"
        for topic, numbers in held.items()
    ]
    return " ".join(sorted(parts))


def stored(record: MessageRecord) -> str:
    """A record of a consumer group in a few words."""
    key: Any = record.key
    value: Any = record.value
    names = [getattr(key, name, None) for name in ("member_id", "regular_expression")]
    what = " ".join([str(key.first_type), *(name for name in names if name)])
    if value is None:
        return f"delete {what}"
    match key.first_type:
        case 3:
            return f"{what} epoch={value.epoch}"
        case 5:
            topics = [*value.subscribed_topic_names, value.subscribed_topic_regex]
            return f"{what} subscribes to {','.join(topic for topic in topics if topic)}"
        case 6:
            return f"{what} epoch={value.assignment_epoch}"
        case 7:
            return f"{what} [{shown({t.topic_id: t.partitions for t in value.topic_partitions})}]"
        case 8:
            has = shown({t.topic_id: t.partitions for t in value.assigned_partitions})
            return f"{what} epoch={value.member_epoch} state={value.state} [{has}]"
        case 16:
            return f"{what} matches {','.join(value.topics)}"
    raise AssertionError(key)
