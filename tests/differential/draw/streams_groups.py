"""Members of a streams group (KIP-1071), drawn from a seed: threads of several processes join with
one of a few topologies, report what they own, move, commit and leave, while topics come, grow and
go, and administrators set standbys.

Ids of members and processes are the client's: the assignor visits both in the order of hash maps,
which is that of either broker then. Most heartbeats report what the member was assigned last.
"""

from __future__ import annotations

from random import Random
from typing import Any

from odradek.wire import Request
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.list_groups import ListGroupsRequest

from ..ask.consumer_groups import (
    SETTLED_S,
    delete_groups,
    delete_offsets,
    enter,
    fetch_offsets_as,
    known_topic,
)
from ..ask.group_records import WRITTEN_S
from ..ask.groups import commit, describe, join, leave, offsets_of
from ..ask.share_groups import share_enter
from ..ask.streams_groups import (
    Topology,
    describe_streams,
    internal,
    plain,
    stateful,
    stream_beat,
    stream_depart,
    stream_enter,
    streams_config,
    subtopology,
    topology,
    words,
)
from ..engine.served import Served
from ..engine.steps import Ask, Sleep, Steps, seen

_MEMBERS = ("a", "b", "c", "worker-10", "worker-9", "Zoë", "0f8a6c1e")
_PROCESSES = ("p1", "p1", "p2", "p3", "process-20")
_DELAY_MS, _DELAYED_S = "800", 1.2
_LONG_MS = "60000"
"""A delay that is not over before the sequence is."""


def _chain(count: int) -> Topology:
    """Three subtopologies, one after the other; the last reads "~u" too."""
    return topology(
        subtopology("0", "~t", writes=["~x-repartition"]),
        subtopology(
            "1",
            reads=[internal("~x-repartition", count)],
            writes=["~y-repartition"],
            changelogs=[internal("~one-changelog")],
        ),
        subtopology(
            "2",
            "~u",
            reads=[internal("~y-repartition")],
            changelogs=[internal("~two-changelog"), internal("~three-changelog")],
            together=[([0], [0])],
        ),
    )


def _apart() -> Topology:
    """Two subtopologies that have nothing to do with each other."""
    return topology(
        subtopology("sub-b", "~t", changelogs=[internal("~b-changelog", cleanup_policy="compact")]),
        subtopology("sub-a", "~u"),
    )


def _topologies() -> list[Topology]:
    return [
        plain(),
        plain("~t", "~u"),
        stateful(),
        words(),
        words(3),
        _chain(0),
        _chain(4),
        _apart(),
        topology(subtopology("0", "~t", "~u", together=[([0, 1], [])])),
    ]


class _Group:
    """The steps so far, and what they say of the group."""

    def __init__(self, random: Random, served: Served) -> None:
        self.random = random
        self.served = served
        self.topology = random.choice(_topologies())
        self.size, other = random.choice((1, 2, 3, 5)), random.choice((1, 2, 3, 3))
        self.members: set[str] = set()
        self.steps: Steps = [*known_topic("~t", self.size)]
        if random.random() < 0.9:
            self.steps += known_topic("~u", self.size if random.random() < 0.5 else other)
        if random.random() < 0.5:
            self.steps.append(streams_config(num_standby_replicas=random.choice("112")))

    def ask(self, request: Request, first: int = 0, **more: Any) -> None:
        """A request in one of its versions from `first` on."""
        versions = [v for v in self.served.versions(type(request)) if v >= first]
        self.steps.append(Ask(request, self.random.choice(versions), **more))

    def tell(self, member: str, request: Request) -> None:
        """A heartbeat whose answer is kept."""
        keep = {
            f"epoch {member}": "member_epoch",
            f"active {member}": "active_tasks",
            f"standby {member}": "standby_tasks",
            f"known {member}": "endpoint_information_epoch",
        }
        self.steps.append(Ask(request, 0, keep=keep))

    def member(self) -> str:
        random = self.random
        if self.members and random.random() < 0.93:
            return random.choice(sorted(self.members))
        return random.choice(_MEMBERS)

    def epoch(self, member: str) -> Any:
        if self.random.random() < 0.07:
            return self.random.choice((1, 2, 3, 4, 5, 9))
        return seen(f"epoch {member}", 1)

    def more(self, often: float) -> dict[str, Any]:
        """Fields that a member may change."""
        random, more = self.random, {}
        choices: dict[str, tuple[Any, ...]] = {
            "rack": ("r", "s"),
            "process": _PROCESSES,
            "tags": ({"zone": "z"}, {"zone": "z", "b": "a", "area-51": "x"}, {}),
            "endpoint": (("here", 80), ("there", 65535)),
            "timeout_ms": (60_000, 70_000),
        }
        for name, values in choices.items():
            if random.random() < often:
                more[name] = random.choice(values)
        return more

    def known(self, member: str) -> Any:
        """The endpoint epoch that a member knows."""
        if self.random.random() < 0.3:
            return self.random.choice((-1, 0, 1, 2, 5))
        return seen(f"known {member}", 0)

    def add_enter(self) -> None:
        random, sent = self.random, self.topology
        member = random.choice(_MEMBERS)
        if random.random() < 0.06:
            sent = random.choice(_topologies())
        if random.random() < 0.06:
            sent = topology(*sent.subtopologies, epoch=random.choice((-1, 1, 2)))
        more = {"process": random.choice(_PROCESSES), **self.more(0.2)}
        self.members.add(member)
        self.tell(member, stream_enter(member, sent, known=self.known(member), **more))

    def add_tell(self) -> None:
        random, member = self.random, self.member()
        more = self.more(0.04)
        owned = random.random()
        if owned < 0.7:
            more |= self.held(member)
        elif owned < 0.85:
            more |= {"active": self.tasks(), "standby": self.tasks()}
        if random.random() < 0.01:
            more["shutdown"] = True
        self.tell(member, stream_beat(member, self.epoch(member), known=self.known(member), **more))

    def tasks(self) -> list[tuple[str, list[int]]]:
        """Some tasks, of which a few do not exist."""
        random = self.random
        ids = [each.subtopology_id for each in self.topology.subtopologies]
        if random.random() < 0.05:
            ids.append("9")
        chosen = random.sample(ids, random.randint(0, len(ids)))
        most = self.size + (random.random() < 0.1)
        return [(id, sorted(random.sample(range(most), random.randint(0, most)))) for id in chosen]

    def add_rounds(self) -> None:
        """All members report what they have, in some order."""
        for member in self.random.sample(sorted(self.members), len(self.members)):
            epoch = seen(f"epoch {member}", 1)
            self.tell(member, stream_beat(member, epoch, **self.held(member)))

    def held(self, member: str) -> dict[str, Any]:
        """The tasks that a member was assigned last."""
        kinds = ("active", "standby")
        return {kind: seen(f"{kind} {member}", []) for kind in kinds}

    def add_depart(self) -> None:
        member = self.member()
        more: dict[str, Any] = {"shutdown": True} if self.random.random() < 0.05 else {}
        self.leave(member, **more)

    def leave(self, member: str, **more: Any) -> None:
        self.members.discard(member)
        self.steps.append(Ask(stream_depart(member, **more), 0))

    def add_end(self) -> None:
        """All leave; perhaps the group is deleted, or waits for new members."""
        for member in sorted(self.members):
            self.leave(member)
        what = self.random.choice(("delete", "delay", "another topology", "nothing"))
        if what == "delete":
            self.steps += [Sleep(WRITTEN_S), delete_groups()]
        elif what == "delay":
            self.add_delay()
        elif what == "another topology":
            self.topology = self.random.choice(_topologies())
        self.add_enter()

    def add_topic(self) -> None:
        """A topic is made, grows or goes."""
        random = self.random
        made = [
            topic.name
            for each in self.topology.subtopologies
            for topic in (*each.repartition_source_topics, *each.state_changelog_topics)
        ]
        name = random.choice(["~t", "~u", *made])
        what = random.choice(("make", "make", "grow", "grow", "delete"))
        if what == "make":
            self.steps += known_topic(name, random.choice((1, 2, self.size)))
        elif what == "grow":
            topic = CreatePartitionsRequest.Topic(
                name=name, count=random.choice((2, 3, 4, 6)), assignments=None
            )
            self.ask(
                CreatePartitionsRequest(topics=[topic], timeout_ms=9000, validate_only=False), 2
            )
        else:
            self.steps.append(Ask(DeleteTopicsRequest(topic_names=[name], timeout_ms=9000), 5))
        self.steps.append(Sleep(3 * SETTLED_S))

    def add_config(self) -> None:
        value = self.random.choice((*"0122", None))
        self.steps.append(streams_config(num_standby_replicas=value))

    def add_offsets(self) -> None:
        random, member = self.random, self.member()
        names = ("~t", "~u", "~x-repartition", "~words-repartition")
        name, index = random.choice(names), random.choice((0, 1, 2))
        what = random.choice(("commit", "commit", "commit", "fetch", "delete", "all"))
        if what == "commit":
            who = random.choice((member,) * 8 + ("", "stranger"))
            request = commit((name, index, 5), member=who, generation=self.epoch(member))
            self.ask(request, random.choice((9, 9, 9, 0)))
        elif what == "fetch":
            self.ask(fetch_offsets_as(member, self.epoch(member)), 9)
        elif what == "delete":
            self.steps.append(delete_offsets(("~t", [0]), (name, [index])))
        else:
            self.ask(offsets_of("~g"), 2)

    def add_look(self) -> None:
        self.steps.append(Ask(describe_streams()))
        if self.random.random() < 0.3:
            states = self.random.choice(([], ["stable"], ["not_ready"], ["Empty"]))
            self.ask(ListGroupsRequest(states_filter=states, types_filter=[]), 4)

    def add_other(self) -> None:
        """Members of other types, and the end of the group."""
        requests: list[Request] = [
            enter("c"),
            share_enter("s"),
            join("j"),
            leave((self.member(), None)),
            describe(),
        ]
        if self.random.random() < 0.2:
            self.steps.append(delete_groups())
        else:
            request = self.random.choice(requests)
            self.ask(request, 3 if isinstance(request, JoinGroupRequest) else 0)

    def add_delay(self) -> None:
        """If the group is empty, its first assignment comes later: after a while, or not at all."""
        delay_ms = self.random.choice((_DELAY_MS, _LONG_MS))
        self.steps.append(streams_config(initial_rebalance_delay_ms=delay_ms))
        self.add_enter()
        self.add_rounds()
        if delay_ms == _DELAY_MS:
            self.steps.append(Sleep(_DELAYED_S))
        self.steps.append(streams_config(initial_rebalance_delay_ms="0"))


def stream_members(random: Random, served: Served) -> Steps:
    """Forty steps, of which most are heartbeats."""
    group = _Group(random, served)
    often = {
        group.add_tell: 16,
        group.add_enter: 7,
        group.add_rounds: 5,
        group.add_depart: 3,
        group.add_topic: 3,
        group.add_offsets: 3,
        group.add_look: 2,
        group.add_config: 1,
        group.add_end: 1,
        group.add_other: 1,
    }
    if random.random() < 0.1:
        group.ask(commit(("~t", 0, 5)))
    if random.random() < 0.1:
        group.add_delay()
    group.add_enter()
    for _ in range(40):
        random.choices(list(often), list(often.values()))[0]()
    return [*group.steps, Ask(describe_streams())]
