"""The members of a share group, and what is done to them while records are written."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
)
from odradek.compat.clients import wait_until
from odradek.compat.java.jars import classpath, jars, java
from odradek.compat.java.process import JVM, QUIET, compiled
from odradek.compat.real_kafka import VERSION, class_archive

from tests.share_chaos.verdict import Report, Verdict, judged, lag
from tests.share_chaos.worker import POISON_EACH

TOPIC, GROUP, PARTITIONS = "jobs", "workers", 4
LOCK_MS = 2000
CONFIG = {
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": str(LOCK_MS),
    "group.share.min.heartbeat.interval.ms": "500",
    "group.share.heartbeat.interval.ms": "500",
    "group.share.min.session.timeout.ms": "3000",
    "group.share.session.timeout.ms": "3000",
    "share.coordinator.state.topic.num.partitions": "1",
}
"""For a broker: short locks, which it does not allow by default (15 s at least)."""
KINDS = ("java", "confluent-kafka")
_BETWEEN_S, _PAUSE_S = (0.2, 1.2), (0.5, 2.5 * LOCK_MS / 1000)
_ENOUGH_S = 120.0
_RECORDS_S = 300


class Member:
    """A share consumer's process. `calm`: it accepts all that is not poison, at once."""

    def __init__(
        self, kind: str, bootstrap: str, path: Path, seed: int, *, calm: bool = False
    ) -> None:
        self.kind = kind
        self.path = path
        self.is_paused = False
        task = {"bootstrap": bootstrap, "topic": TOPIC, "group": GROUP, "seed": seed, "calm": calm}
        command = _java() if kind == "java" else [sys.executable, "-m", "tests.share_chaos.worker"]
        path.touch()
        self.process = subprocess.Popen(
            [*command, str(path), json.dumps(task), str(POISON_EACH)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL if "ODRADEK_LOUD" not in os.environ else None,
        )

    def __enter__(self) -> Member:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()

    @property
    def works(self) -> bool:
        """Whether it has got something yet."""
        return self.path.stat().st_size > 0

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        self.is_paused = True

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.is_paused = False

    def leave(self) -> None:
        """Let it come to its end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(_ENOUGH_S) == 0, f"{self.kind} ended badly"


def _java() -> list[str]:
    sources = {"ShareWorker.java": Path(__file__).with_name("ShareWorker.java").read_text("utf-8")}
    classes = compiled("shareworker", VERSION, sources)
    path = os.pathsep.join([str(classes), classpath(jars(VERSION))])
    return [java(), *JVM, *class_archive.java_options(VERSION), QUIET, "-cp", path, "ShareWorker"]


class Chaos:
    def __init__(self, bootstrap: str, work: Path, members: int, seed: int, stack: ExitStack):
        self.bootstrap = bootstrap
        self.written: dict[tuple[int, int], int] = {}
        self.done: Counter[str] = Counter()
        self._work = work
        self._random = random.Random(seed)
        self._stack = stack
        self._paths: list[Path] = []
        _prepare(bootstrap)
        self._members = [self._new(KINDS[number % len(KINDS)]) for number in range(members)]
        self._paused: list[tuple[float, Member]] = []
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
        self._number = 0

    def _new(self, kind: str, *, calm: bool = False) -> Member:
        path = self._work / f"{len(self._paths)}-{kind}"
        self._paths.append(path)
        seed = self._random.randrange(1 << 30)
        return self._stack.enter_context(Member(kind, self.bootstrap, path, seed, calm=calm))

    def run(self, seconds: float) -> Verdict:
        """Write and disturb for so long, and at least until each thing was done once; then let the
        rest be read, and judge."""
        self._write_until(lambda: any(each.works for each in self._members), _ENOUGH_S)
        end = time.monotonic() + seconds
        deadline = end + _ENOUGH_S
        while time.monotonic() < end or len(self.done) < len(_VERBS):
            assert time.monotonic() < deadline, self.done
            pause_s = self._random.uniform(*_BETWEEN_S)
            self._write_until(lambda: False, pause_s)
            self._resume(time.monotonic())
            self._disturb()
        self._resume(float("inf"))
        self._producer.flush(_ENOUGH_S)
        for member in self._members:
            member.leave()
        self._drain()
        reports = [Report.of(path) for path in self._paths]
        return judged(self.bootstrap, TOPIC, set(self.written), reports, dict(self.done))

    def _write_until(self, holds: Callable[[], bool], seconds: float) -> None:
        """Write records for so long, or until something holds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not holds():
            for _ in range(_RECORDS_S // 20):
                self._producer.produce(
                    TOPIC,
                    str(self._number),
                    partition=self._number // POISON_EACH % PARTITIONS,
                    on_delivery=self._is_written,
                )
                self._number += 1
            self._producer.poll(0.05)

    def _is_written(self, error: object, message: object) -> None:
        assert error is None, error
        self.written[message.partition(), message.offset()] = 1  # type: ignore[attr-defined]

    def _disturb(self) -> None:
        """Do something to one of the members."""
        missing = [verb for verb in _VERBS if not self.done[verb]]
        verb = self._random.choice(missing or _VERBS)
        awake = [at for at, member in enumerate(self._members) if not member.is_paused]
        at = self._random.choice(awake or range(len(self._members)))
        member = self._members[at]
        if verb == "pause":
            if member.works and awake:
                member.pause()
                until = time.monotonic() + self._random.uniform(*_PAUSE_S)
                self._paused.append((until, member))
                self.done[verb] += 1
            return
        if verb == "kill":
            member.process.kill()
        elif member.works and not member.is_paused:
            member.leave()
        else:
            return
        self._paused = [each for each in self._paused if each[1] is not member]
        self._members[at] = self._new(member.kind)
        self.done[verb] += 1

    def _resume(self, now: float) -> None:
        for until, member in self._paused:
            if until <= now:
                member.go_on()
        self._paused = [each for each in self._paused if each[0] > now]

    def _drain(self) -> None:
        """Let one more member of each kind read what is left, until that is nothing."""
        last = [self._new(kind, calm=True) for kind in KINDS]
        wait_until(
            lambda: lag(self.bootstrap, GROUP, TOPIC, PARTITIONS) == 0, "all is read", _ENOUGH_S
        )
        for member in last:
            member.leave()


_VERBS = ("kill", "pause", "leave")


def chaos(bootstrap: str, work: Path, seconds: float, seed: int, members: int = 8) -> Verdict:
    """What became of all records. `work`: a directory for what the members were told."""
    with ExitStack() as stack:
        return Chaos(bootstrap, work, members, seed, stack).run(seconds)


def _prepare(bootstrap: str) -> None:
    """The topic, and the group's config: it begins with the first record."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for done in admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)]).values():
        done.result(_ENOUGH_S)
    entry = ConfigEntry(
        "share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET
    )
    resource = ConfigResource(ConfigResource.Type.GROUP, GROUP, incremental_configs=[entry])
    for done in admin.incremental_alter_configs([resource]).values():
        done.result(_ENOUGH_S)
