"""A group whose members come, leave, die and sleep at random while records arrive.

`Chaos` keeps about ten members going, in processes of their own (member.py, or ChaosMembers
in a JVM, two members in each), and notes what they say. What becomes of them is drawn from a seed;
when it happens depends on the machine. At the end it lets the sleepers go on, waits until the group
has committed everything, and lets all leave. What must hold then is in rules.py.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from odradek.compat.java.jars import classpath, jars, java
from odradek.compat.java.process import JVM, QUIET, compiled
from odradek.compat.real_kafka import VERSION
from odradek.wire.api.offset_fetch import OffsetFetchRequest

from tests.clients.support.chaos.member import HEARTBEAT_MS, POLL_INTERVAL_MS, SESSION_MS
from tests.support.connection import Connection

HERE = Path(__file__).parent
PARTITIONS, MEMBERS, LEAST_MEMBERS = 12, 10, 3
RECORD_EVERY_S = 0.05  # in each partition
SETTLE_S, CLOSE_S = 150.0, 60.0
SLEEPS_S, NAPS_S = (SESSION_MS / 1000 + 1, SESSION_MS / 1000 + 4), (0.5, 4.0)

BROKER = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.session.timeout.ms": f"{SESSION_MS}",
    "group.consumer.session.timeout.ms": f"{SESSION_MS}",
    "group.consumer.min.heartbeat.interval.ms": f"{HEARTBEAT_MS}",
    "group.consumer.heartbeat.interval.ms": f"{HEARTBEAT_MS}",
    "offsets.topic.num.partitions": "1",
}
"""What the broker is told, so that in a short time much happens."""


@dataclass(frozen=True)
class Kind:
    """What sort of member."""

    client: str
    protocol: str = "classic"
    assignor: str = "cooperative-sticky"

    @property
    def members(self) -> int:
        """How many live in one process."""
        return 2 if self.client == "java" else 1

    def command(self, bootstrap: str, topic: str, group: str) -> list[str]:
        """How to start such a process."""
        if self.client != "java":
            task = {"client": self.client, "protocol": self.protocol, "assignor": self.assignor}
            task |= {"bootstrap": bootstrap, "topic": topic, "group": group}
            return [sys.executable, str(HERE / "member.py"), json.dumps(task)]
        config: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "group.protocol": self.protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": "false",
            "max.poll.interval.ms": POLL_INTERVAL_MS,
        }
        if self.protocol == "classic":
            assignors = {"range": "Range", "cooperative-sticky": "CooperativeSticky"}
            name = f"org.apache.kafka.clients.consumer.{assignors[self.assignor]}Assignor"
            config["partition.assignment.strategy"] = name
            config |= {"session.timeout.ms": SESSION_MS, "heartbeat.interval.ms": HEARTBEAT_MS}
        source = HERE / "ChaosMembers.java"
        classes = compiled("chaosmembers", VERSION, {source.name: source.read_text("utf-8")})
        path = os.pathsep.join([str(classes), classpath(jars(VERSION))])
        pairs = [f"{name}={value}" for name, value in config.items()]
        main = ["ChaosMembers", topic, f"{self.members}", *pairs]
        return [java(), *JVM, QUIET, "-cp", path, *main]


@dataclass(frozen=True)
class Event:
    """What a member said. `host` and `who` tell which one it is, in which process."""

    host: int
    said: dict[str, Any]


@dataclass
class Host:
    """A process with members, running or not."""

    number: int
    kind: Kind
    process: subprocess.Popen[bytes]
    reader: threading.Thread
    wakes_at: float | None = None
    slept: bool = False
    killed_at: float | None = None


@dataclass
class History:
    events: list[Event] = field(default_factory=list)
    hosts: list[Host] = field(default_factory=list)
    ends: list[int] = field(default_factory=lambda: [0] * PARTITIONS)
    actions: list[str] = field(default_factory=list)


class Chaos:
    """One group on a topic of its own."""

    def __init__(self, bootstrap: str, name: str, kinds: list[Kind], seed: int, work: Path) -> None:
        self.topic, self.group = f"chaos-{name}", f"group-{name}"
        self.history = History()
        self._bootstrap = bootstrap
        self._kinds = kinds
        self._random = random.Random(seed)
        self._work = work
        self._here: list[Host] = []
        self._began = time.monotonic()
        self._is_over = threading.Event()
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic(self.topic, PARTITIONS, 1)])[self.topic].result()

    def run(self, seconds: float) -> History:
        """Let it happen. Raises TimeoutError if the group does not come to rest."""
        producing = threading.Thread(target=self._produce, daemon=True)
        producing.start()
        try:
            while self._count() < MEMBERS:
                self._join()
            self._until_all_are_in()
            self._began = time.monotonic()
            while time.monotonic() < self._began + seconds:
                time.sleep(self._random.uniform(0.3, 1.7))
                self._wake(time.monotonic())
                self._act()
            self._wake(None)
            self._is_over.set()
            producing.join()
            self._until_all_is_committed()
            for host in list(self._here):
                self._leave(host)
            for host in self.history.hosts:
                self._await_end(host)
        finally:
            self._is_over.set()
            for host in self.history.hosts:
                host.process.kill()
                host.process.wait()
                host.reader.join(CLOSE_S)
        return self.history

    # What may happen

    def _act(self) -> None:
        count = self._count()
        what = self._random.choices(
            ["join", "leave", "kill", "sleep", "nap"], [4 if count < MEMBERS else 0, 2, 2, 1.5, 1]
        )[0]
        if what == "join":
            self._join()
            return
        awake = [host for host in self._here if host.wakes_at is None]
        host = self._random.choice(awake) if awake else None
        if host is None or count - host.kind.members < LEAST_MEMBERS:
            return
        if what == "leave":
            self._leave(host)
        elif what == "kill":
            self._note("kill", host)
            host.killed_at = time.monotonic()
            host.process.kill()
            self._here.remove(host)
        else:
            self._note(what, host)
            span = SLEEPS_S if what == "sleep" else NAPS_S
            host.wakes_at = time.monotonic() + self._random.uniform(*span)
            host.slept = True
            host.process.send_signal(signal.SIGSTOP)

    def _count(self) -> int:
        return sum(host.kind.members for host in self._here)

    def _join(self) -> None:
        number = len(self.history.hosts)
        kind = self._kinds[number % len(self._kinds)]
        with (self._work / f"{self.group}-{number}.err").open("wb") as err:
            process = subprocess.Popen(
                kind.command(self._bootstrap, self.topic, self.group),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=err,
            )
        reader = threading.Thread(target=self._listen, args=(number, process), daemon=True)
        host = Host(number, kind, process, reader)
        self.history.hosts.append(host)
        self._here.append(host)
        reader.start()
        self._note("join", host)

    def _leave(self, host: Host) -> None:
        self._note("leave", host)
        assert host.process.stdin is not None
        host.process.stdin.close()
        self._here.remove(host)

    def _wake(self, now: float | None) -> None:
        """Let those go on whose time has come, or all."""
        for host in self.history.hosts:
            if host.wakes_at is not None and (now is None or host.wakes_at <= now):
                host.wakes_at = None
                self._note("wake", host)
                host.process.send_signal(signal.SIGCONT)

    def _note(self, what: str, host: Host) -> None:
        moment = time.monotonic() - self._began
        self.history.actions.append(f"{moment:6.2f} s: {what} {host.kind.client} #{host.number}")

    # What goes on beside

    def _listen(self, number: int, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.endswith(b"\n"):  # else its end came in between
                self.history.events.append(Event(number, json.loads(line)))

    def _produce(self) -> None:
        options = {"bootstrap.servers": self._bootstrap, "enable.idempotence": True}
        producer = Producer(options)
        ends = self.history.ends
        while not self._is_over.wait(RECORD_EVERY_S):
            for partition in range(PARTITIONS):
                value = b"%d:%d" % (partition, ends[partition])
                producer.produce(self.topic, value, partition=partition)
                ends[partition] += 1
            producer.poll(0)
        if left := producer.flush(SETTLE_S):
            raise TimeoutError(f"{left} records were not delivered")

    def _until_all_are_in(self) -> None:
        """Wait for those who begin: there is a partition for everybody."""
        deadline = time.monotonic() + SETTLE_S
        while len(self._members_in()) < MEMBERS:
            if time.monotonic() > deadline:
                raise TimeoutError(f"only {sorted(self._members_in())} have joined")
            time.sleep(0.1)

    def _members_in(self) -> set[tuple[int, int]]:
        said = [event for event in list(self.history.events) if event.said.get("partitions")]
        return {(event.host, event.said["who"]) for event in said}

    def _until_all_is_committed(self) -> None:
        deadline = time.monotonic() + SETTLE_S
        while (found := committed(self._bootstrap, self.group, self.topic)) != self.history.ends:
            if time.monotonic() > deadline:
                said = [(e.host, e.said) for e in self.history.events[-30:]]
                raise TimeoutError(
                    f"committed {found} of {self.history.ends}\n{said}\n"
                    + "\n".join(self.history.actions)
                )
            time.sleep(0.2)

    def _await_end(self, host: Host) -> None:
        try:
            status = host.process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{host.kind} #{host.number} does not leave") from None
        wanted = 0 if host.killed_at is None else -signal.SIGKILL
        if status != wanted:
            err = (self._work / f"{self.group}-{host.number}.err").read_text(errors="replace")
            raise RuntimeError(f"{host.kind} #{host.number} ended with {status}:\n{err[-3000:]}")


def committed(bootstrap: str, group: str, topic: str) -> list[int]:
    """What the group has committed, by partition; -1 where it has not."""
    one = OffsetFetchRequest.Group
    wanted = [one.Topic(name=topic, partition_indexes=list(range(PARTITIONS)))]
    request = OffsetFetchRequest(groups=[one(group_id=group, topics=wanted)])
    with Connection(bootstrap) as connection:
        (found,) = connection.ask(request, 8).groups
    if not found.topics:
        return []
    return [part.committed_offset for part in found.topics[0].partitions]
