"""One client's producers of some kinds, and its member of a group.

It says "ready" when each has done something, and works until its standard input ends. Then it
says, in one line of JSON, what it was told: which records were acknowledged and which failed, what
became of each transaction, which records the member was given, and what went wrong.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from odradek.compat.clients import client

from tests.cluster_chaos.senders import SENDERS, Sender

PARTITIONS = 3
KINDS = ("plain", "idempotent", "transactions")
AT_ONCE = 12
PAUSE_S = 0.02
READ_S = 60.0
ABORTED_EACH = 4


@dataclass
class Report:
    """What a client said. A record is known by its number; so is a transaction."""

    acked: dict[str, list[int]] = field(default_factory=lambda: {kind: [] for kind in KINDS[:2]})
    failed: dict[str, list[int]] = field(default_factory=lambda: {kind: [] for kind in KINDS[:2]})
    committed: list[int] = field(default_factory=list)
    aborted: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)


def topic_of(name: str, kind: str) -> str:
    """Where a client's producer of that kind writes."""
    return f"{name}-{kind}"


class Worker:
    def __init__(self, name: str, bootstrap: str, kinds: Sequence[str]) -> None:
        self.name = name
        self.bootstrap = bootstrap
        self.kinds = kinds
        self.report = Report()
        self.over = threading.Event()
        self.written = threading.Event()

    def run(self) -> None:
        """Until standard input ends."""
        works: dict[str, Callable[[], None]] = {
            "plain": lambda: self._send("plain", idempotent=False),
            "idempotent": lambda: self._send("idempotent", idempotent=True),
            "transactions": self._transact,
        }
        threads = [
            threading.Thread(target=self._kept, args=(works[kind],), daemon=True)
            for kind in self.kinds
        ]
        reader = threading.Thread(target=self._read, daemon=True)
        for thread in (*threads, reader):
            thread.start()
        while len(self.report.done) < len(threads) + 1:
            time.sleep(0.05)
        print("ready", flush=True)
        while os.read(0, 4096):
            continue
        __import__("faulthandler").dump_traceback_later(55)
        self.over.set()
        for thread in threads:
            thread.join()
        self.written.set()
        reader.join()

    def _kept(self, work: Callable[[], None]) -> None:
        """Work that failed begins again, until the end."""
        while not self.over.is_set():
            try:
                work()
            except Exception as error:
                self._went_wrong(error)

    def _went_wrong(self, error: object) -> None:
        text = (str(error).splitlines() or [repr(error)])[0][:160]
        self.report.errors[text] = self.report.errors.get(text, 0) + 1

    # Producers

    def _send(self, kind: str, *, idempotent: bool) -> None:
        acked, failed = self.report.acked[kind], self.report.failed[kind]
        sender = SENDERS[self.name](self.bootstrap, idempotent=idempotent)
        try:
            while not self.over.wait(PAUSE_S):
                first = len(acked) + len(failed)
                numbers = range(first, first + AT_ONCE)
                records = [(number % PARTITIONS, b"%d" % number) for number in numbers]
                report = ["raised"] * AT_ONCE
                try:
                    report = sender.send(topic_of(self.name, kind), records)
                finally:
                    outcomes = list(zip(numbers, report, strict=True))
                    acked += [number for number, wrong in outcomes if not wrong]
                    failed += [number for number, wrong in outcomes if wrong]
                if wrongs := {wrong for wrong in report if wrong}:
                    raise RuntimeError(f"{kind}: {sorted(wrongs)}")
                self.report.done.add(kind)
        finally:
            sender.close()

    def _transact(self) -> None:
        report = self.report
        sender = SENDERS[self.name](self.bootstrap, transactional_id=f"{self.name}-transactions")
        try:
            while not self.over.wait(PAUSE_S):
                number = len(report.committed) + len(report.aborted) + len(report.unknown)
                outcome = report.unknown
                try:
                    outcome = self._transaction(sender, number)
                finally:
                    outcome.append(number)
                report.done.add("transactions")
        finally:
            sender.close()

    def _transaction(self, sender: Sender, number: int) -> list[int]:
        """One transaction; where its outcome is told. What is raised ends the producer."""
        topic = topic_of(self.name, "transactions")
        records = [(part % PARTITIONS, b"%d:%d" % (number, part)) for part in range(AT_ONCE)]
        sender.begin()
        wrongs = {wrong for wrong in sender.send(topic, records) if wrong}
        if wrongs:
            self._went_wrong(f"transactions: {sorted(wrongs)}")
        if wrongs or number % ABORTED_EACH == 0:
            sender.abort()
            return self.report.aborted
        sender.commit()
        return self.report.committed

    # The member of a group

    def _read(self) -> None:
        """Until everything that was acknowledged has come, or for a while more."""
        read: set[int] = set()
        deadline = None
        while deadline is None or time.monotonic() < deadline:
            try:
                self._be_member(read)
            except Exception as error:
                self._went_wrong(error)
            if self.written.is_set():
                if read.issuperset(self.report.acked["idempotent"]):
                    break
                deadline = deadline or time.monotonic() + READ_S
        self.report.read = sorted(read)

    def _be_member(self, read: set[int]) -> None:
        """Until nothing comes any more after the producers have ended."""
        topic, used = topic_of(self.name, "idempotent"), client(self.name)
        with used.consumer(self.bootstrap, topic, group=f"{self.name}-group") as consumer:
            while True:
                records = consumer.poll(used.poll_s)
                read.update(int(record.value or b"-1") for record in records)
                if records:
                    consumer.commit()
                    self.report.done.add("read")
                elif self.written.is_set():
                    return


def main() -> None:
    task: dict[str, Any] = json.loads(sys.argv[1])
    worker = Worker(task["client"], task["bootstrap"], task["kinds"])
    worker.run()
    report = asdict(worker.report)
    report["done"] = sorted(report["done"])
    print(json.dumps(report), flush=True)
    os._exit(0)  # clients whose producers are stuck would keep it


if __name__ == "__main__":
    main()
