"""The job that every application has, and what is checked of its work.

Orders of nine customers come in, in three parts. The broker is killed (SIGKILL) when the
application has made something of a third of the first part; it comes back, and the second part
comes in. When a third of that is done the application's processes are killed, and started again. In
the end there must be something for each order, and nothing else; read with read_committed. Under
`exactly once` it must be there once, and under `counts` the counts of a customer must be 1, 2, 3,
... without a gap: the state was restored.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import urllib.request
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...emulator.base.real_time import monotonic, sleep
from ...wire import Refused
from ..real_kafka.process import free_ports
from ..wire_client.produced import NewRecord
from ..wire_client.reading import READ_COMMITTED, partition_count, read
from ..wire_client.remote import RemoteCluster
from ..wire_client.topics import create_topic, produce_all
from .application import EXACTLY_ONCE, Application
from .brokers import Broker
from .install import JAVA_OPTIONS
from .processes import Ended, Processes

ORDERS, PARTITIONS, CUSTOMERS = 300, 3, 9
_POLL_S = 0.1
_QUIET_S = 2.0
_FEED_S = 60.0
_ORDER = re.compile(rb'"?order"?\s*[:=]\s*(\d+)')
_COUNT = re.compile(rb'"count"\s*:\s*(\d+)')
_SHOWN = 10


class Wrong(Exception):
    """The application's work is not what it must be; the text says how."""


@dataclass(frozen=True)
class Work:
    records: int
    distinct: int
    ended: int
    """How often one of its processes has ended by itself."""

    @property
    def repeated(self) -> int:
        """How many records are there once more."""
        return self.records - self.distinct


class Job:
    """One run of an application on a broker, which is started here."""

    def __init__(
        self, application: Application, broker: Broker, words: Mapping[str, str], work: Path
    ) -> None:
        """`words`: those of the application's commands; `work`: an empty directory."""
        self._application = application
        self._broker = broker
        self._words = {**words, "work": str(work), "port": str(free_ports(1)[0])}
        self._work = work
        self._processes: Processes | None = None
        self._source: RemoteCluster | None = None

    def run(self) -> Work:
        """Do it. Raises Wrong, Unavailable if there is no such broker."""
        try:
            self._broker.start()
            return self._run()
        finally:
            if self._processes is not None:
                self._processes.kill()
            if self._source is not None:
                self._source.close()
            self._broker.close()

    def _run(self) -> Work:
        address = self._broker.bootstrap_servers
        self._source = RemoteCluster(address)
        self._words["bootstrap"] = address
        self._write_files()
        given = [] if self._application.creates else [self._application.output]
        for name in ["orders", *given]:
            create_topic(self._source, name, PARTITIONS, {})
        environment = {"KAFKA_BOOTSTRAP_SERVERS": address, "PYTHONUNBUFFERED": "1"}
        command, count = self._command(self._application.command), self._application.processes
        self._processes = Processes(command, count, environment, self._work)
        third = ORDERS // 3
        self._processes.keep()
        self._feed(range(third))
        self._until(third // 3)
        self._broker.kill()
        self._broker.start()
        self._source.close()
        self._feed(range(third, 2 * third))
        self._until(third + third // 3)
        if self._application.killed:
            self._processes.kill()
            self._processes.keep()
        self._feed(range(2 * third, ORDERS))
        self._until(ORDERS)
        self._ask()
        return self._checked()

    def _command(self, arguments: list[str]) -> list[str]:
        words = [filled(each, self._words) for each in arguments]
        return [words[0], *JAVA_OPTIONS, *words[1:]] if arguments[0] == "{java}" else words

    def _write_files(self) -> None:
        for each in self._application.folder.iterdir():
            if each.suffix in (".properties", ".json"):
                (self._work / each.name).write_text(filled(each.read_text(), self._words))

    def _feed(self, numbers: range) -> None:
        if self._application.feed:
            text = "".join(f"{number}\n" for number in numbers)
            environment = {"KAFKA_BOOTSTRAP_SERVERS": self._words["bootstrap"]}
            feed(self._command(self._application.feed), text, environment, self._work)
            return
        assert self._source is not None
        records = [NewRecord(order(number), customer(number)) for number in numbers]
        produce_all(self._source, "orders", records)

    def _until(self, distinct: int) -> None:
        """Wait until there is something for this many orders. Raises Wrong."""
        assert self._processes is not None
        deadline = monotonic() + self._application.patience
        while len(set(seen := [number for number, _, _ in self._output()])) < distinct:
            if monotonic() > deadline:
                what = f"{len(set(seen))} of {distinct} orders within"
                what += f" {self._application.patience:.0f} s; its last output:\n"
                raise Wrong(what + self._processes.output)
            try:
                self._processes.keep()
            except Ended as error:
                raise Wrong(str(error)) from None
            sleep(_POLL_S)

    def _output(self) -> list[tuple[int, bytes, int]]:
        """Of each record of the output: order, customer, count."""
        assert self._source is not None
        topic = self._application.output
        with suppress(Refused):  # not created yet, or not readable for a moment
            found = read(self._source, topic, range(partition_count(self._source, topic)))
            values = [
                (each.key or b"", each.value or b"")
                for partition in found.values()
                for each in partition.visible(READ_COMMITTED)
            ]
            return [understood(key, value) for key, value in values]
        return []

    def _ask(self) -> None:
        """Ask the addresses that must answer. Raises Wrong."""
        for address, patterns in self._application.asks.items():
            wanted = [re.compile(filled(each, self._words), re.M) for each in patterns]
            self._until_answered(filled(address, self._words), wanted)

    def _until_answered(self, address: str, wanted: list[re.Pattern[str]]) -> None:
        deadline = monotonic() + self._application.patience
        text = ""
        while missing := [each.pattern for each in wanted if not each.search(text)]:
            if monotonic() > deadline:
                raise Wrong(f"{address} does not answer {missing}, but:\n{text[-2000:]}")
            sleep(_POLL_S)
            with suppress(OSError), urllib.request.urlopen(address, timeout=10) as answer:
                text = answer.read().decode()

    def _checked(self) -> Work:
        """What is there when nothing more comes. Raises Wrong."""
        assert self._processes is not None
        seen = self._output()
        sleep(_QUIET_S)
        while len(now := self._output()) > len(seen):
            seen = now
            sleep(_QUIET_S)
        check(now, self._application)
        numbers = [number for number, _, _ in now]
        return Work(len(numbers), len(set(numbers)), self._processes.ended)


def check(seen: list[tuple[int, bytes, int]], application: Application) -> None:
    """Raises Wrong if these, the order, customer and count of each record, are not right."""
    numbers = Counter(number for number, _, _ in seen)
    if foreign := [each for each in numbers if each not in range(ORDERS)]:
        raise Wrong(_listed("that nobody has placed", foreign))
    if lost := [each for each in range(ORDERS) if each not in numbers]:
        raise Wrong(_listed("are lost", lost))
    repeated = [each for each, times in numbers.items() if times > 1]
    if repeated and application.guarantee == EXACTLY_ONCE:
        raise Wrong(_listed("are there more than once", repeated))
    if application.counts:
        _check_counts(seen)


def _listed(what: str, orders: list[int]) -> str:
    return f"{len(orders)} orders {what}: {sorted(orders)[:_SHOWN]}"


def _check_counts(seen: list[tuple[int, bytes, int]]) -> None:
    for name in sorted({name for _, name, _ in seen}):
        counts = sorted({count for _, each, count in seen if each == name})
        if counts != list(range(1, len(counts) + 1)):
            raise Wrong(f"the counts of {name.decode()} have gaps: {counts}")
        orders = len({number for number, each, _ in seen if each == name})
        if counts[-1] != orders:
            raise Wrong(f"{name.decode()} has {orders} orders, and was counted to {counts[-1]}")


def order(number: int) -> str:
    return json.dumps({"order": number, "customer": customer(number)})


def customer(number: int) -> str:
    return f"c{number % CUSTOMERS}"


def understood(key: bytes, value: bytes) -> tuple[int, bytes, int]:
    """Order, customer and count of a record of the output. Raises Wrong if it names no order."""
    found, count = _ORDER.search(value), _COUNT.search(value)
    if found is None:
        raise Wrong(f"a record of the output names no order: {value[:200]!r}")
    return int(found[1]), key, int(count[1]) if count else 0


def filled(text: str, words: Mapping[str, str]) -> str:
    """The text with these words in the place of {word}; other braces stay."""
    return re.sub(r"\{([a-z]+)\}", lambda found: words.get(found[1], found[0]), text)


def feed(command: list[str], text: str, environment: Mapping[str, str], work: Path) -> None:
    """Run what brings orders in. Raises Wrong if it does not end well."""
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        cwd=work,
        env={**os.environ, **environment},
        timeout=_FEED_S,
    )
    if done.returncode:
        raise Wrong(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
