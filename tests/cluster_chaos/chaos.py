"""The workers of some clients, and the brokers that are stopped and killed under them."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from odradek.compat.clients import within

from tests.clients.support.ground import IDS, Ground
from tests.cluster_chaos.verdict import Verdict, judged
from tests.cluster_chaos.worker import KINDS, PARTITIONS, topic_of

READY_S, END_S = 90.0, 240.0
AWAY_S, BETWEEN_S = (0.3, 1.5), (0.2, 1.0)


class Working:
    """One client's process."""

    def __init__(self, client: str, bootstrap: str, kinds: Sequence[str]) -> None:
        self.client = client
        task = {"client": client, "bootstrap": bootstrap, "kinds": kinds}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.cluster_chaos.worker", json.dumps(task)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if "ODRADEK_LOUD" not in os.environ else None,
            text=True,
        )

    def __enter__(self) -> Working:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def await_ready(self) -> None:
        assert self._line(READY_S) == "ready\n", f"{self.client} does not begin"

    def end(self) -> dict[str, Any]:
        """Let it come to its end; what it was told."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        report: dict[str, Any] = json.loads(self._line(END_S))
        return report

    def _line(self, limit_s: float) -> str:
        assert self.process.stdout is not None
        return within(limit_s, f"{self.client}'s line", self.process.stdout.readline)


def chaos(
    ground: Ground,
    clients: Sequence[str],
    seconds: float,
    seed: int,
    kinds: Sequence[str] = KINDS,
) -> tuple[list[str], list[Verdict]]:
    """What was done to the brokers, and the verdicts, with these kinds of producers. At least one
    broker is stopped and one killed, however long that takes."""
    for client in clients:
        for kind in KINDS:
            places = [[IDS[(n + k) % 3] for k in range(3)] for n in range(PARTITIONS)]
            ground.create(topic_of(client, kind), *places)
    with ExitStack() as stack:
        workers = [
            stack.enter_context(Working(client, ground.bootstrap_servers, kinds))
            for client in clients
        ]
        for worker in workers:
            worker.await_ready()
        done = _in_turn(ground, seconds, random.Random(seed))
        reports = {worker.client: worker.end() for worker in workers}
    return done, [judged(ground, client, reports[client]) for client in clients]


def _in_turn(ground: Ground, seconds: float, drawn: random.Random) -> list[str]:
    """Stop or kill one broker after the other; the next when all replicas are in sync again."""
    begin = time.monotonic()
    done: list[str] = []
    for number in itertools.count():
        if number >= 2 and time.monotonic() - begin > seconds:
            return done
        broker = IDS[number % len(IDS)]
        verb = ("stop", "kill")[number % 2]
        done.append(f"{time.monotonic() - begin:5.1f} s: {verb} {broker}")
        ground.do(verb, broker)
        time.sleep(drawn.uniform(*AWAY_S))
        ground.start_all()
        time.sleep(drawn.uniform(*BETWEEN_S))
    raise AssertionError
