"""`python -m tests.bench.bench_groups`: many consumer groups, and large ones.

    python -m tests.bench.bench_groups [--quick] [--only odradek|kafka] [--case NAME]

Each case runs against Odradek and, where it can be started, a real Kafka, each a fresh process,
with both protocols, classic and consumer (KIP-848):

- many: 1,000 groups of 10 members, each group on a topic of 10 partitions;
- large: one group of 500 members on a topic of 1,000 partitions.

Every member has a connection of its own and does what a client does, in one thread of asyncio. A
case is stable when every member has its share, and the broker calls the group so. That takes at
least the initial rebalance delay (classic), or a few heartbeats at the assignment's pace
(consumer). Then members heartbeat as fast as they are answered, some in flight at once: the load
generator shares the machine, so the broker's own CPU time for a heartbeat says more than the rate.
Memory is what the process has more than before the members came, their connections included.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from odradek.compat import Unavailable
from odradek.wire import Request
from odradek.wire.api import response_class
from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.sync_group import SyncGroupRequest
from odradek.wire.errors import Error
from odradek.wire.headers import RequestHeader, read_response_header, write_request_header
from odradek.wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from odradek.wire.stored.keyed import keyed

from tests.differential.engine.asker import Asker
from tests.support.processes import cpu_seconds, describe_machine, memory

from .brokers import SCRIPT_JVM, Broker, Kafka, Odradek, _TimedKafka

TOPIC = "shared"
SESSION_MS, REBALANCE_MS = 60_000, 60_000
CONFIG = {
    "group.initial.rebalance.delay.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "500",
}
STABLE_WITHIN_S = 300.0
IN_FLIGHT = 32
_ERROR_AT = 4 + 4 + 1 + 4  # size, correlation id, tags, throttle time


class Line(asyncio.Protocol):
    """A connection with one request at a time."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._answer: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        if len(self._data) >= 4 and len(self._data) == 4 + struct.unpack_from(">i", self._data)[0]:
            frame, self._data = bytes(self._data), bytearray()
            assert self._answer is not None
            self._answer.set_result(frame)

    def connection_lost(self, failure: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(failure or EOFError("the broker closed the connection"))

    async def exchange(self, frame: bytes) -> bytes:
        """Send a frame and wait for the next one, its size included."""
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(frame)
        return await self._answer

    async def ask(self, request: Request, version: int) -> Any:
        frame = await self.exchange(framed(request, version))
        _, pos = read_response_header(frame[4:], request.api_key, version)
        return response_class(request.api_key).decode_from(frame[4:], version, pos)[0]


def framed(request: Request, version: int) -> bytes:
    """A request as it goes over the wire."""
    header = write_request_header(RequestHeader(request.api_key, version, 1, "bench"))
    body = header + request.encode(version)
    return struct.pack(">i", len(body)) + body


@dataclass
class Group:
    """What its members have in common. `shares`: who has how many partitions, and since when."""

    name: str
    partitions: int
    size: int
    shares: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def is_shared(self) -> bool:
        """Every partition is with a member, and all are in one generation."""
        generations = {generation for generation, _ in self.shares.values()}
        counts = sum(count for _, count in self.shares.values())
        return len(self.shares) == self.size and len(generations) == 1 and counts == self.partitions


class Member:
    """One member: its connection, and its number in the group."""

    def __init__(self, line: Line, group: Group, number: int) -> None:
        self.line, self.group, self.number = line, group, number
        self.id, self.generation = "", 0

    async def run(self, over: asyncio.Event, pause_s: float) -> None:
        """Take part until it is over."""
        raise NotImplementedError

    def heartbeat(self) -> bytes:
        """The frame of a heartbeat that says nothing new."""
        raise NotImplementedError


class Classic(Member):
    """Joins, syncs, and assigns if it leads."""

    async def run(self, over: asyncio.Event, pause_s: float) -> None:
        while not over.is_set():
            if await self._join():
                while not over.is_set():
                    await _rest(over, pause_s)
                    if over.is_set() or _error(await self.line.exchange(self.heartbeat())):
                        break

    async def _join(self) -> bool:
        self.group.shares.pop(self.number, None)
        topics = ConsumerProtocolSubscription(topics=[TOPIC])
        protocol = JoinGroupRequest.Protocol(name="range", metadata=keyed(topics, 1))
        while True:
            request = JoinGroupRequest(
                group_id=self.group.name,
                session_timeout_ms=SESSION_MS,
                rebalance_timeout_ms=REBALANCE_MS,
                member_id=self.id,
                protocol_type="consumer",
                protocols=[protocol],
            )
            joined = await self.line.ask(request, 9)
            self.id = joined.member_id
            if joined.error_code == Error.NONE:
                break
            if joined.error_code == Error.UNKNOWN_MEMBER_ID:
                self.id = ""
        self.generation = joined.generation_id
        sync = SyncGroupRequest(
            group_id=self.group.name,
            generation_id=self.generation,
            member_id=self.id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=self._assignments([member.member_id for member in joined.members]),
        )
        synced = await self.line.ask(sync, 5)
        if synced.error_code:
            return False
        given, _ = ConsumerProtocolAssignment.decode_from(synced.assignment, 1, 2)
        count = sum(len(each.partitions) for each in given.assigned_partitions)
        self.group.shares[self.number] = self.generation, count
        return True

    def _assignments(self, members: Sequence[str]) -> list[SyncGroupRequest.Assignment]:
        part = ConsumerProtocolAssignment.AssignedPartition
        found = []
        for index, member_id in enumerate(members):
            share = list(range(index, self.group.partitions, len(members)))
            assignment_text = ConsumerProtocolAssignment(
                assigned_partitions=[part(topic=TOPIC, partitions=share)]
            )
            found.append(
                SyncGroupRequest.Assignment(
                    member_id=member_id, assignment=keyed(assignment_text, 1)
                )
            )
        return found

    def heartbeat(self) -> bytes:
        request = HeartbeatRequest(
            group_id=self.group.name, generation_id=self.generation, member_id=self.id
        )
        return framed(request, 4)


class Modern(Member):
    """Heartbeats, and does at once what it is told."""

    async def run(self, over: asyncio.Event, pause_s: float) -> None:
        self.id = f"{self.group.name}-{self.number}"
        owned: list[tuple[bytes, list[int]]] | None = []
        first = True
        while not over.is_set():
            part = ConsumerGroupHeartbeatRequest.TopicPartitions
            owned_parts = (
                None if owned is None else [part(topic_id=i, partitions=p) for i, p in owned]
            )
            request = ConsumerGroupHeartbeatRequest(
                group_id=self.group.name,
                member_id=self.id,
                member_epoch=self.generation,
                rebalance_timeout_ms=REBALANCE_MS if first else -1,
                subscribed_topic_names=[TOPIC] if first else None,
                topic_partitions=owned_parts,
            )
            answer = await self.line.ask(request, 1)
            if answer.error_code:
                raise ValueError(f"{self.id}: {answer.error_code} {answer.error_message}")
            first, owned = False, None
            self.generation = answer.member_epoch
            if answer.assignment is not None:
                rows = answer.assignment.topic_partitions
                owned = [(row.topic_id, list(row.partitions)) for row in rows]
                count = sum(len(partitions) for _, partitions in owned)
            else:
                count = self.group.shares.get(self.number, (0, 0))[1]
            self.group.shares[self.number] = self.generation, count
            if owned is None:
                await _rest(over, answer.heartbeat_interval_ms / 1000)

    def heartbeat(self) -> bytes:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group.name, member_id=self.id, member_epoch=self.generation
        )
        return framed(request, 1)


def _error(frame: bytes) -> int:
    return cast(int, struct.unpack_from(">h", frame, _ERROR_AT)[0])


async def _rest(over: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(over.wait(), seconds)
    except TimeoutError:
        return


@dataclass(frozen=True)
class Case:
    """Some groups of so many members, on a topic of so many partitions."""

    name: str
    kind: type[Member]
    groups: int
    members: int
    partitions: int
    interval_ms: int  # of heartbeats, until all is stable

    @property
    def config(self) -> dict[str, str]:
        """Of the broker."""
        return {**CONFIG, "group.consumer.heartbeat.interval.ms": f"{self.interval_ms}"}

    async def measure(self, broker: Broker, seconds: float) -> dict[str, float]:
        """Its rows, by label."""
        assert broker.pid is not None
        _prepared(broker.address, self.partitions)
        host, _, port = broker.address.rpartition(":")
        loop = asyncio.get_running_loop()
        before, cpu = memory(broker.pid).resident, cpu_seconds(broker.pid) or 0.0
        groups = [
            Group(f"group-{number}", self.partitions, self.members) for number in range(self.groups)
        ]
        members: list[Member] = []
        for group in groups:
            for number in range(self.members):
                _, line = await loop.create_connection(Line, host, int(port))
                members.append(self.kind(line, group, number))
        over = asyncio.Event()
        began = time.perf_counter()
        tasks = [
            asyncio.create_task(member.run(over, self.interval_ms / 1000)) for member in members
        ]
        asker = Asker((host, int(port)))
        await _until_stable(groups, tasks, asker)
        asker.close()
        rows = {"time to stable, s": time.perf_counter() - began}
        over.set()
        await asyncio.gather(*tasks)
        rows["CPU to stable, s"] = (cpu_seconds(broker.pid) or 0.0) - cpu
        rows["memory, MB"] = (memory(broker.pid).resident - before) / 1e6
        rows |= await _heartbeats(members, broker.pid, seconds)
        for member in members:
            member.line.transport.abort()
        return rows


async def _until_stable(
    groups: Sequence[Group], tasks: Sequence[asyncio.Task[None]], asker: Asker
) -> None:
    deadline = time.monotonic() + STABLE_WITHIN_S
    waiting = list(groups)
    while True:
        waiting = [group for group in waiting if not group.is_shared]
        if not waiting:
            # A share may be that of a generation before the last: the broker knows.
            states = _states(asker)
            waiting = [group for group in groups if states[group.name] != "Stable"]
            if not waiting:
                return
        for task in tasks:
            if task.done():
                task.result()  # raises
        if time.monotonic() > deadline:
            shares = Counter(waiting[0].shares.values())
            raise TimeoutError(f"{len(waiting)} groups are not stable; the first: {shares}")
        await asyncio.sleep(0.05)


def _states(asker: Asker) -> dict[str, str]:
    return {group.group_id: group.group_state for group in asker.ask(ListGroupsRequest(), 5).groups}


async def _heartbeats(members: Sequence[Member], pid: int, seconds: float) -> dict[str, float]:
    """Heartbeats as fast as they are answered: every member's in turn."""
    frames = [(member.line, member.heartbeat()) for member in members]
    times: list[float] = []
    wrong: Counter[int] = Counter()
    began, cpu = time.perf_counter(), cpu_seconds(pid) or 0.0

    async def work(first: int) -> None:
        at = first
        while time.perf_counter() < began + seconds:
            line, frame = frames[at % len(frames)]
            sent = time.perf_counter()
            answer = await line.exchange(frame)
            times.append(time.perf_counter() - sent)
            wrong[_error(answer)] += 1
            at += workers

    workers = _walkers(IN_FLIGHT, len(frames))
    await asyncio.gather(*(work(first) for first in range(workers)))
    elapsed = time.perf_counter() - began
    del wrong[0]
    if wrong:
        raise ValueError(f"heartbeats were refused: {wrong}")
    cuts = statistics.quantiles(times, n=100)
    return {
        "heartbeats/s": len(times) / elapsed,
        "heartbeat CPU, us": ((cpu_seconds(pid) or 0.0) - cpu) / len(times) * 1e6,
        "heartbeat p50, ms": cuts[49] * 1000,
        "heartbeat p99, ms": cuts[98] * 1000,
    }


def _walkers(most: int, size: int) -> int:
    """How many may walk round a ring, each so many places at a time, and never meet: a divisor of
    its size, so that each keeps to places of its own."""
    return next(count for count in range(min(most, size), 0, -1) if size % count == 0)


def _prepared(address: str, partitions: int) -> None:
    """Create the topic, and wait for the coordinator."""
    host, _, port = address.rpartition(":")
    asker = Asker((host, int(port)))
    topic = CreateTopicsRequest.Topic(
        name=TOPIC, num_partitions=partitions, replication_factor=1, assignments=[], configs=[]
    )
    asker.ask(CreateTopicsRequest(topics=[topic], timeout_ms=60_000), 7)
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=["group-0"])
    while asker.ask(request, 4).coordinators[0].error_code:
        time.sleep(0.1)
    time.sleep(3)  # until every partition of __consumer_offsets is loaded
    asker.close()


class GroupsOdradek(Odradek):
    """Odradek with the settings of a case."""

    def __init__(self, config: dict[str, str]) -> None:
        super().__init__()
        self._config = config

    def command(self) -> Sequence[str]:
        options = [word for pair in self._config.items() for word in ("--set", "=".join(pair))]
        return [*super().command(), *options]


class GroupsKafka(Kafka):
    """A real Kafka with the settings of a case."""

    def __init__(self, config: dict[str, str]) -> None:
        super().__init__()
        self._config = config

    def start(self) -> None:
        self._node = _TimedKafka(config=self._config, jvm=SCRIPT_JVM)
        self._node.start()
        self.address, self.ready_s = self._node.bootstrap_servers, self._node.ready_s


def cases(quick: bool) -> list[Case]:
    """What is measured."""
    many = 100 if quick else 1000
    members, partitions = (100, 200) if quick else (500, 1000)
    often_ms, rarely_ms = 1000, 5000
    return [
        Case("many-classic", Classic, many, 10, 10, rarely_ms),
        Case("many-consumer", Modern, many, 10, 10, rarely_ms),
        Case("large-classic", Classic, 1, members, partitions, often_ms),
        Case("large-consumer", Modern, 1, members, partitions, often_ms),
    ]


Start = Callable[[dict[str, str]], Broker]


def measured(case: Case, kind: Start, seconds: float) -> dict[str, float]:
    """Start a broker, measure, stop it. Raises Unavailable."""
    broker = kind(case.config)
    broker.prepare()
    broker.start()
    try:
        return asyncio.run(case.measure(broker, seconds))
    finally:
        broker.stop()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_groups")
    parser.add_argument("--quick", action="store_true", help="a tenth, or a fifth, of all that")
    parser.add_argument("--only", choices=("odradek", "kafka"))
    parser.add_argument("--case", choices=[case.name for case in cases(quick=True)])
    parser.add_argument("--seconds", type=float, default=5.0, help="of heartbeats")
    given = parser.parse_args(arguments)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    kinds: dict[str, Callable[[dict[str, str]], Broker]] = {
        "odradek": GroupsOdradek,
        "kafka": GroupsKafka,
    }
    print(describe_machine())
    for case in cases(given.quick):
        if given.case not in (None, case.name):
            continue
        found: dict[str, dict[str, float]] = {}
        for name, kind in kinds.items():
            if given.only in (None, name):
                try:
                    found[name] = measured(case, kind, given.seconds)
                except Unavailable as reason:
                    print(f"{name} unavailable: {reason}", file=sys.stderr)
        title = f"{case.name}: {case.groups} x {case.members} on {case.partitions} partitions"
        print(f"{title:48}" + "".join(f"{name:>12}" for name in found) + f"{'ratio':>9}")
        for row in next(iter(found.values()), {}):
            values = [rows[row] for rows in found.values()]
            ratio = f"{values[0] / values[1]:8.2f}x" if len(values) == 2 and values[1] else ""
            print(f"  {row:46}" + "".join(f"{value:12.2f}" for value in values) + ratio, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
