"""Members of a share group (KIP-932), drawn from a seed: what they acquire, acknowledge and lose.

Two members fetch and acknowledge, each on a connection of its own, and later perhaps on two, while
records are written and deleted, configs of the group change, connections close, the topic is
deleted and created again, and another topic that is in sessions is deleted. Most acknowledgements
are of what the member has, as far as a guess goes; others are of records that another member has,
that nobody has, or that are done with. At the end the states that were written of the group are
compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from odradek.wire import id_text
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.share_fetch import ShareFetchRequest

from ..ask.batches import batch
from ..ask.consumer_groups import known_topic
from ..ask.group_records import WRITTEN_S, state_written
from ..ask.records import delete_records, produce, put
from ..ask.share_groups import (
    ACCEPT,
    GAP,
    INITIALIZED_S,
    LEAVES,
    REJECT,
    RELEASE,
    RENEW,
    share_ack,
    share_config,
    share_enter,
    share_fetch,
    share_group,
    share_offsets,
)
from ..engine.served import Served
from ..engine.steps import Ask, Close, Sleep, Steps

_T0 = ("~t", 0)
_LOG_VERSION = 12
_TYPES = (ACCEPT, ACCEPT, ACCEPT, RELEASE, RELEASE, REJECT, GAP, RENEW)
_LIMITS = ("2", "2", "3", "5", "10")


@dataclass
class _Group:
    """What is guessed of a group while its steps are drawn."""

    random: Random
    records: int = 0
    epochs: dict[str, int] = field(default_factory=dict)
    """The next epoch of each member's session."""
    held: dict[str, set[int]] = field(default_factory=lambda: {"a": set(), "b": set()})
    done: set[int] = field(default_factory=set)

    ends: list[int] = field(default_factory=list)
    """The last offset of each batch."""
    lines: dict[str, list[str]] = field(default_factory=lambda: {"a": ["a"], "b": ["b"]})
    """The connections of each member."""
    is_new: bool = False
    """Whether the topic was created again."""
    lost: set[str] = field(default_factory=set)
    """The members whose sessions have a topic that was deleted."""
    has_lost: bool = False
    """Whether there was one."""

    def line(self, member: str) -> str:
        """One of a member's connections."""
        return self.random.choice(self.lines[member])

    def acquire(self, member: str, most: int, *, is_limit: bool = False) -> None:
        """The member acquires so many records, up to the end of a batch if that is no limit."""
        taken = self.done | self.held["a"] | self.held["b"]
        free = [offset for offset in range(self.records) if offset not in taken]
        last = free[:most][-1] if free else 0
        if not is_limit:
            last = next(end for end in [*self.ends, last] if end >= last)
        self.held[member].update(offset for offset in free if offset <= last)

    def acks(self, member: str) -> list[tuple[int, int, list[int]]]:
        """Batches, each after the one before."""
        random, found = self.random, []
        for first, last in self._mine(member) or self._any():
            kinds = [random.choice(_TYPES) for _ in range(last - first + 1)]
            if random.random() < 0.7:
                kinds = kinds[:1]
            found.append((first, last, kinds))
            for offset, kind in zip(range(first, last + 1), kinds * (last + 1), strict=False):
                if offset in self.held[member] and kind != RENEW:
                    self.held[member].discard(offset)
                    self.done |= set() if kind == RELEASE else {offset}
        return found

    def _mine(self, member: str) -> list[tuple[int, int]]:
        """Runs of what the member has, perhaps cut; or none."""
        runs: list[tuple[int, int]] = []
        for offset in sorted(self.held[member]):
            if runs and offset == runs[-1][1] + 1 and self.random.random() < 0.8:
                runs[-1] = runs[-1][0], offset
            elif self.random.random() < 0.8:
                runs.append((offset, offset))
        return [] if self.random.random() < 0.2 else runs[:4]

    def _any(self) -> list[tuple[int, int]]:
        random, at, found = self.random, 0, []
        for _ in range(random.choice((1, 1, 2, 3))):
            first = at + random.choice((0, 0, 0, 1, 2, 3, 5))
            last = min(first + random.choice((0, 0, 1, 2, 4)), max(first, self.records - 1))
            found.append((first, last))
            at = last + 1
        return found


def share_members(random: Random, served: Served) -> Steps:
    """Twenty fetches, acknowledgements and changes of the log."""
    group = _Group(random)
    steps = share_group(delivery_count_limit=random.choice(_LIMITS))
    steps += [Ask(share_enter("b")), *_open(group, "a"), *_open(group, "b")]
    hows = (_fetch, _fetch, _fetch, _acknowledge, _acknowledge, _write, _other)
    for _ in range(20):
        steps += random.choice(hows)(group)
    if not served.serves(ShareFetchRequest, 2):
        steps = _with_uuids(steps)
    if group.is_new:  # the states of both topics may be in one partition, at one of the brokers
        return steps
    return [*steps, Sleep(WRITTEN_S), Ask(state_written(), _LOG_VERSION)]


def _with_uuids(steps: Steps) -> Steps:
    """The same of members whose ids are UUIDs, without which 4.1 fails."""
    for step in steps:
        member = getattr(step.request, "member_id", None) if isinstance(step, Ask) else None
        if isinstance(step, Ask) and member in ("a", "b"):
            setattr(step.request, "member_id", id_text(bytes(15) + member.encode()))  # noqa: B010
    return steps


def _open(group: _Group, member: str) -> Steps:
    """A session; a real broker loads the partition first."""
    group.epochs[member] = 1
    group.lost.discard(member)
    group.held[member].clear()
    group.acquire(member, 1)
    request = share_fetch({_T0: ()}, 0, member, max_wait_ms=600, max_records=1)
    return [Ask(request, on=group.line(member))]


def _next(group: _Group, member: str) -> int:
    epoch = group.epochs[member]
    group.epochs[member] += 1
    return epoch


def _fetch(group: _Group) -> Steps:
    random = group.random
    member = random.choice("ab")
    more: dict[str, Any] = {
        "max_records": random.choice((1, 2, 3, 500)),
        "batch_size": random.choice((1, 2, 500)),
        "share_acquire_mode": random.choice((0, 0, 1)),
    }
    if member in group.lost and random.random() < 0.3:
        group.lost.discard(member)
        more["forgotten"] = {"~u": [0]}
    acks = group.acks(member) if random.random() < 0.4 else []
    group.acquire(member, more["max_records"], is_limit=more["share_acquire_mode"] == 1)
    request = share_fetch({_T0: acks}, _next(group, member), member, **more)
    return [Ask(request, on=group.line(member))]


def _acknowledge(group: _Group) -> Steps:
    random = group.random
    member = random.choice("ab")
    acks = group.acks(member)
    renews = any(RENEW in kinds for *_, kinds in acks) or random.random() < 0.1
    request = share_ack({_T0: acks}, _next(group, member), member, is_renew_ack=renews)
    return [Ask(request, on=group.line(member))]


def _write(group: _Group) -> Steps:
    count = group.random.choice((1, 2, 5, 9))
    group.records += count
    rows = [b"%d" % number for number in range(count)]
    if group.random.random() < 0.3:
        group.ends += range(group.records - count, group.records)
        return [put(row, name="~t") for row in rows]
    group.ends.append(group.records - 1)
    return [Ask(produce(batch(*rows), "~t", 0))]


def _other(group: _Group) -> Steps:
    """Something rarer."""
    hows = (_delete, _describe, _end, _end, _configure, _connect, _hang_up, _create_again, _lose)
    return group.random.choice(hows)(group)


def _lose(group: _Group) -> Steps:
    """Once at most: sessions read another topic, too, which is deleted."""
    if group.has_lost:
        return []
    group.has_lost = True
    members = group.random.choice(("a", "b", "ab"))
    # Such a fetch waits to the end, and then has what a real broker had to load first.
    waits: dict[str, Any] = {"max_wait_ms": 600, "min_bytes": 100_000, "max_records": 1}
    steps: Steps = [*known_topic("~u", 1)]
    for member in members:
        group.lost.add(member)
        group.acquire(member, 1)
        request = share_fetch({("~u", 0): ()}, _next(group, member), member, **waits)
        steps.append(Ask(request, on=group.line(member)))
    gone = DeleteTopicsRequest(topic_names=["~u"], timeout_ms=5000)
    return [*steps, Ask(gone, 5), Sleep(WRITTEN_S)]


def _delete(group: _Group) -> Steps:
    before = group.random.randint(0, group.records // 2)
    return [Ask(delete_records(("~t", 0, before))), Sleep(WRITTEN_S)]


def _describe(group: _Group) -> Steps:
    return [Sleep(WRITTEN_S), Ask(share_offsets({"~t": [0]}))]


def _end(group: _Group) -> Steps:
    """A session ends, perhaps with acknowledgements, and another begins."""
    member = group.random.choice("ab")
    if group.random.random() < 0.5:
        ended = Ask(share_fetch({}, LEAVES, member), on=group.line(member))
    else:
        acks = {_T0: group.acks(member)}
        ended = Ask(share_ack(acks, LEAVES, member), on=group.line(member))
    return [ended, Sleep(WRITTEN_S), *_open(group, member)]


def _configure(group: _Group) -> Steps:
    random = group.random
    name, values = random.choice(
        (
            ("delivery_count_limit", _LIMITS),
            ("partition_max_record_locks", ("100", "200")),
            ("renew_acknowledge_enable", ("true", "false")),
            ("isolation_level", ("read_committed", "read_uncommitted")),
        )
    )
    return [share_config(**{name: random.choice(values)}), Sleep(WRITTEN_S)]


def _connect(group: _Group) -> Steps:
    """A member has one more connection, on which it perhaps opens its session anew."""
    member = group.random.choice("ab")
    line = f"{member}{len(group.lines[member])}"
    group.lines[member].append(line)
    return _open(group, member) if group.random.random() < 0.5 else []


def _hang_up(group: _Group) -> Steps:
    """One of a member's connections closes, and with it perhaps the session."""
    member = group.random.choice("ab")
    return [Close(group.line(member)), Sleep(WRITTEN_S), *_open(group, member)]


def _create_again(group: _Group) -> Steps:
    """Once at most: it takes a real broker long."""
    if group.is_new:
        return []
    group.is_new = True
    group.records = 0
    for known in (group.done, group.ends):
        known.clear()
    return [
        Ask(DeleteTopicsRequest(topic_names=["~t"], timeout_ms=5000), 5),
        Sleep(WRITTEN_S),
        Ask(share_fetch({}, _next(group, "a"), "a"), on=group.line("a")),
        *known_topic("~t", 1),
        Ask(share_enter("a")),
        Sleep(INITIALIZED_S),
        Ask(share_enter("a")),
        *_open(group, "a"),
        *_open(group, "b"),
    ]
