"""Members of a classic group, drawn from a seed: they join, sync, send heartbeats, commit, leave.

Joins and syncs may have to wait, so each has a connection of its own and the next step does not
wait for its answer; a short sleep lets the group settle before it is described. Member ids are
those of earlier answers.
"""

from __future__ import annotations

from random import Random
from typing import Any

from odradek.wire import Request
from odradek.wire.api.join_group import JoinGroupRequest

from ..ask.groups import FAR_MS, beat, commit, describe, join, leave, sync
from ..engine.served import Served
from ..engine.steps import Ask, Send, Sleep, Steps, seen

REST_S = 0.015
STATIC_SINCE = 5
"""The version of JoinGroup that has static members."""
_PROTOCOLS = [
    (("range", b"r"),),
    (("range", b"r"),),
    (("range", b"r"), ("sticky", b"s")),
    (("sticky", b"s"), ("range", b"r")),
    (("range", b"other"),),
    (("roundrobin", b"q"), ("range", b"r")),
    (("sticky", b"s"),),
]


class _Group:
    """The steps so far, the labels of members, and a guess at the generation."""

    def __init__(self, random: Random, served: Served) -> None:
        self.random = random
        self.served = served
        self.members = 0
        self.generation = 1
        self.steps: Steps = []

    def version(self, request: Request, first: int = 0) -> int:
        """A version of a request, not below the first; the last one of a release that has none."""
        if not self.served.serves(type(request), first):
            return self.served.ranges.get(type(request), (0, 0))[1]
        return self.random.choice([v for v in self.served.versions(type(request)) if v >= first])

    def someone(self) -> Any:
        if not self.members or self.random.random() < 0.08:
            return self.random.choice(("", "stranger"))
        return seen(f"m{self.random.randrange(self.members)}")

    def instance(self) -> str | None:
        chosen = self.random.choice((None, None, None, None, "i", "j"))
        return chosen if self.served.serves(JoinGroupRequest, STATIC_SINCE) else None

    def add_join(self, member: Any, first: int = 0) -> None:
        random, number = self.random, len(self.steps)
        label = f"m{self.members}"
        instance = self.instance()
        request = join(
            member,
            protocols=random.choice(_PROTOCOLS),
            rebalance_ms=FAR_MS,
            instance=instance,
            kind=random.choice(("consumer",) * 9 + ("connect",)),
        )
        version = self.version(request, STATIC_SINCE if instance else first)
        keep = {label: "member_id"} if member == "" else {}
        self.members += member == ""
        self.steps += [Send(request, version, f"j{number}", keep=keep), Sleep(REST_S)]

    def add_sync(self) -> None:
        random, number = self.random, len(self.steps)
        known = [seen(f"m{n}") for n in range(self.members)]
        assignments = [(who, b"for %d" % n) for n, who in enumerate(known)]
        request = sync(
            self.someone(),
            self.guess(),
            assignments=assignments if random.random() < 0.8 else [],
            instance=random.choice((None,) * 6 + ("i",)),
        )
        self.steps += [Send(request, self.version(request), f"s{number}"), Sleep(REST_S)]

    def guess(self) -> int:
        return self.generation + self.random.choice((0,) * 8 + (1, 1, -1))


def members(random: Random, served: Served) -> Steps:
    """Thirty things that members of one group may do, and a description of the group."""
    group = _Group(random, served)
    for _ in range(30):
        choice = random.random()
        if choice < 0.2:
            group.add_join("")
        elif choice < 0.42:
            group.add_join(group.someone())
            group.generation += random.random() < 0.4
        elif choice < 0.65:
            group.add_sync()
        elif choice < 0.75:
            request = beat(group.someone(), group.guess(), instance=group.instance())
            group.steps.append(Ask(request, group.version(request)))
        elif choice < 0.83:
            who = [(group.someone(), group.instance()) for _ in range(random.choice((1, 1, 2)))]
            left = leave(*who)
            group.steps += [Ask(left, group.version(left)), Sleep(REST_S)]
        elif choice < 0.92:
            committed = commit(("~a", 0, 5), member=group.someone(), generation=group.guess())
            group.steps.append(Ask(committed, group.version(committed)))
        else:
            group.steps.append(Ask(describe(), group.version(describe())))
    return [*group.steps, Ask(describe())]
