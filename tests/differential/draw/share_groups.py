"""Members of a share group (KIP-932), drawn from a seed: what they acquire, acknowledge and lose.

Two members fetch and acknowledge, each on its own connection, while records are written and
deleted. Most acknowledgements are of what the member has, as far as a guess goes; others are of
records that another member has, that nobody has, or that are done with. At the end the states that
were written of the group are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from ..ask.batches import batch
from ..ask.group_records import WRITTEN_S, state_written
from ..ask.records import delete_records, produce, put
from ..ask.share_groups import (
    ACCEPT,
    GAP,
    LEAVES,
    REJECT,
    RELEASE,
    RENEW,
    share_ack,
    share_enter,
    share_fetch,
    share_group,
    share_offsets,
)
from ..engine.served import Served
from ..engine.steps import Ask, Sleep, Steps

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
    return [*steps, Sleep(WRITTEN_S), Ask(state_written(), _LOG_VERSION)]


def _open(group: _Group, member: str) -> Steps:
    """A session; a real broker loads the partition first."""
    group.epochs[member] = 1
    group.held[member].clear()
    group.acquire(member, 1)
    return [Ask(share_fetch({_T0: ()}, 0, member, max_wait_ms=600, max_records=1), on=member)]


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
    acks = group.acks(member) if random.random() < 0.4 else []
    group.acquire(member, more["max_records"], is_limit=more["share_acquire_mode"] == 1)
    return [Ask(share_fetch({_T0: acks}, _next(group, member), member, **more), on=member)]


def _acknowledge(group: _Group) -> Steps:
    random = group.random
    member = random.choice("ab")
    acks = group.acks(member)
    renews = any(RENEW in kinds for *_, kinds in acks) or random.random() < 0.1
    request = share_ack({_T0: acks}, _next(group, member), member, is_renew_ack=renews)
    return [Ask(request, on=member)]


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
    """Something rarer: records are deleted, a session ends, the offset is described."""
    random = group.random
    what = random.choice(("delete", "end", "acknowledge and end", "offsets"))
    if what == "delete":
        before = random.randint(0, group.records // 2)
        return [Ask(delete_records(("~t", 0, before))), Sleep(WRITTEN_S)]
    if what == "offsets":
        return [Sleep(WRITTEN_S), Ask(share_offsets({"~t": [0]}))]
    member = random.choice("ab")
    if what == "end":
        ended = Ask(share_fetch({}, LEAVES, member), on=member)
    else:
        ended = Ask(share_ack({_T0: group.acks(member)}, LEAVES, member), on=member)
    return [ended, Sleep(WRITTEN_S), *_open(group, member)]
