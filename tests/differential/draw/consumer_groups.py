"""Members of a consumer group (KIP-848), drawn from a seed: they join, reconcile, commit and leave,
some of them by the classic protocol; topics grow, administrators remove and delete.

Members have ids of their own choice, so that both brokers keep them in the same order. For the same
reason all subscribe to one topic under the uniform assignor: which of two comes first depends on
their ids. Under the range assignor it does not.
"""

from __future__ import annotations

from random import Random
from typing import Any

from odradek.wire import Request
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.list_groups import ListGroupsRequest

from ..ask.consumer_groups import (
    RESOLVED_S,
    SETTLED_S,
    classic,
    delete_groups,
    delete_offsets,
    describe_consumers,
    enter,
    fetch_offsets_as,
    heartbeat,
)
from ..ask.groups import FAR_MS, beat, commit, describe, join, leave, offsets_of, sync
from ..ask.topics import create
from ..engine.served import Served
from ..engine.steps import Ask, Sleep, Steps, seen

_MEMBERS = ("a", "b", "c", "d")
_INSTANCES = {"c": "i", "d": "i", "b": None, "a": None}


class _Group:
    """The steps so far, and the topic's number of partitions."""

    def __init__(self, random: Random, served: Served) -> None:
        self.random = random
        self.served = served
        self.assignor = random.choice((None, None, "range", "uniform"))
        self.size = random.choice((1, 3, 4, 7))
        self.steps: Steps = [create("~t", self.size), create("~u", 2), Sleep(3 * SETTLED_S)]

    def ask(self, request: Request, first: int = 0, **more: Any) -> None:
        versions = [v for v in self.served.versions(type(request)) if v >= first]
        self.steps.append(Ask(request, self.random.choice(versions), **more))

    def member(self) -> str:
        return self.random.choice((*_MEMBERS, "a", "b", "c", "a", "b"))

    def names(self) -> list[str]:
        random = self.random
        if self.assignor == "range":
            return random.choice((["~t"], ["~t", "~u"], ["~u"], ["~u", "~t", "~none"], []))
        return random.choice((["~t"],) * 8 + ([], ["~none"], ["~t", "~none"]))

    def epoch(self, member: str) -> Any:
        random = self.random
        if random.random() < 0.1:
            return random.choice((1, 2, 3, 4, 5, 9))
        return seen(f"e{member}", 1)

    def owned(self, member: str) -> list[tuple[str, Any]]:
        """What a member says it owns: most of the time the partitions it was assigned last."""
        choice = self.random.random()
        if choice < 0.7 and self.assignor != "range":  # with `range`, the first topic may differ
            return [("~t", seen(f"o{member}", []))]
        if choice < 0.85:
            return []
        return [("~t", self.random.sample(range(self.size + 1), self.random.choice((0, 1, 2))))]

    def add_enter(self) -> None:
        random, member = self.random, self.member()
        more: dict[str, Any] = {"assignor": self.assignor}
        if random.random() < 0.9:
            more["instance"] = _INSTANCES[member]
        if random.random() < 0.1:
            more["rack"] = "r"
        is_regex = random.random() < 0.1 and self.assignor != "range"
        if is_regex:
            more |= {"names": None, "regex": random.choice(("~t", "~t.*", "~none.*", ""))}
        else:
            more["names"] = self.names()
        self.tell(member, enter(member, **more))
        if is_regex:
            self.steps.append(Sleep(RESOLVED_S))

    def add_tell(self) -> None:
        random, member = self.random, self.member()
        more: dict[str, Any] = {}
        if random.random() < 0.75:
            more["owned"] = self.owned(member)
        if random.random() < 0.12:
            more["names"] = self.names()
        if random.random() < 0.1:
            more["timeout_ms"] = FAR_MS
        if random.random() < 0.8:
            more["instance"] = _INSTANCES[member]
        self.tell(member, heartbeat(member, self.epoch(member), **more))

    def tell(self, member: str, request: Any) -> None:
        keep = {f"e{member}": "member_epoch"}
        keep[f"o{member}"] = "assignment.topic_partitions.0.partitions"
        first = 1 if request.subscribed_topic_regex is not None else 0
        self.ask(request, first, keep=keep)

    def add_depart(self) -> None:
        random, member = self.random, self.member()
        instance = _INSTANCES[member] if random.random() < 0.9 else None
        epoch = -1
        if instance is not None and random.random() < 0.7:
            epoch = -2
        self.ask(heartbeat(member, epoch, instance=instance))

    def add_classic(self) -> None:
        random, member = self.random, "m"
        choice = random.random()
        topics = random.choice((("~t",),) * 5 + (("~none",),))
        if choice < 0.45:
            who = random.choice((member,) * 8 + ("",))
            request = join(who, protocols=classic(*topics, version=random.choice((0, 1, 3))))
            first = (
                0 if who else 4
            )  # an id chosen by the broker would sort differently on each side
            self.ask(request, first, keep={"em": "generation_id"}, limit_s=0.3)
        elif choice < 0.65:
            self.ask(sync(member, seen("em", 1)), limit_s=0.3)
        elif choice < 0.85:
            self.ask(beat(member, seen("em", 1)))
        else:
            request_ = commit(("~t", 0, 9), member=member, generation=seen("em", 1))
            self.ask(request_)

    def add_offsets(self) -> None:
        random, member = self.random, self.member()
        choice = random.random()
        if choice < 0.6:
            entries = [("~t", n, 5) for n in random.sample(range(2), random.choice((1, 2)))]
            who = random.choice((member,) * 6 + ("", "stranger"))
            generation = random.choice((self.epoch(member),) * 6 + (-1,))
            self.ask(commit(*entries, member=who, generation=generation))
        elif choice < 0.85:
            epoch = random.choice((self.epoch(member), -1))
            self.ask(fetch_offsets_as(random.choice((member, None)), epoch), 8)
        elif choice < 0.95:
            self.steps.append(delete_offsets(("~t", [0]), ("~u", [0, 5])))
        else:
            self.steps.append(delete_groups())

    def add_grown(self) -> None:
        self.size += 1
        grow = CreatePartitionsRequest.Topic(name="~t", count=self.size, assignments=None)
        request = CreatePartitionsRequest(topics=[grow], timeout_ms=9000, validate_only=False)
        self.steps += [Ask(request), Sleep(3 * SETTLED_S)]

    def add_look(self) -> None:
        choice = self.random.random()
        if choice < 0.7:
            self.ask(describe_consumers())
        elif choice < 0.8:
            self.ask(describe())
        elif choice < 0.9:
            self.steps.append(Ask(ListGroupsRequest(states_filter=[], types_filter=[])))
        else:
            member = self.member()
            instance = self.random.choice((None, _INSTANCES[member]))
            self.ask(leave((self.random.choice((member, "")), instance)), 3)


def members(random: Random, served: Served) -> Steps:
    """Forty things that members and administrators of one group may do."""
    group = _Group(random, served)
    mixes = random.random() < 0.3
    if mixes:
        # One member stays: a real broker forgets a part of an Empty group when a classic one joins.
        group.ask(enter("k", assignor=group.assignor))
    for _ in range(40):
        choice = random.random()
        if choice < 0.16:
            group.add_enter()
        elif choice < 0.58:
            group.add_tell()
        elif choice < 0.65:
            group.add_depart()
        elif choice < 0.78:
            group.add_look()
        elif choice < 0.8:
            group.add_grown()
        elif mixes and choice < 0.92:
            group.add_classic()
        else:
            group.add_offsets()
    return [*group.steps, Ask(describe_consumers()), Ask(describe(), 6), Ask(offsets_of(), 8)]
