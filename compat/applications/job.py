"""The job that every application has, and what is checked of its work.

Orders of nine customers come in, in three parts. The broker is killed (SIGKILL) when the
application has made something of a third of the first part; it comes back, and the second part
comes in. When a third of that is done the application's processes are killed, and started again. In
the end there must be something for each order, and nothing else; read with read_committed. Under
`exactly once` it must be there once, and under `counts` the counts of a customer must be 1, 2, 3,
... without a gap: the state was restored. Under `changes` there are several records of each order,
in this order; under `refused` some orders must be in another topic, and only there.
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
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

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
_SERVICE_S = 60.0
_ORDER = re.compile(rb'"?order"?\s*[:=]\s*(\d+)')
_COUNT = re.compile(rb'"count"\s*:\s*(\d+)')
_SHOWN = 10


class Wrong(Exception):
    """The application's work is not what it must be; the text says how."""


@dataclass(frozen=True)
class Work:
    repeated: int
    """How many records are there once more."""
    ended: int
    """How often one of its processes has ended by itself."""


class Seen(NamedTuple):
    """A record of the output."""

    order: int
    customer: bytes
    """Its key."""
    counted: int = 0
    """Which of its customer's it is, if it says so."""
    value: bytes = b""
    topic: str = ""


class Job:
    """One run of an application on a broker, which is started here."""

    def __init__(
        self, application: Application, broker: Broker, words: Mapping[str, str], work: Path
    ) -> None:
        """`words`: those of the application's commands; `work`: an empty directory."""
        self._application = application
        self._broker = broker
        port, service = map(str, free_ports(2))
        self._words = {**words, "work": str(work), "port": port, "service": service}
        self._work = work
        self._service: subprocess.Popen[bytes] | None = None
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
            self._end_service()

    def _run(self) -> Work:
        address = self._broker.bootstrap_servers
        self._source = RemoteCluster(address)
        self._words["bootstrap"] = address
        self._write_files()
        self._start_service()
        given = [] if self._application.creates else self._topics
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

    @property
    def _topics(self) -> list[str]:
        """Where its work is."""
        return [each for each in (self._application.output, self._application.refused) if each]

    def _start_service(self) -> None:
        if self._application.service:
            with (self._work / "service.log").open("ab") as log:
                self._service = subprocess.Popen(
                    self._command(self._application.service),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self._work,
                )

    def _end_service(self) -> None:
        service, self._service = self._service, None
        if service is not None:
            service.terminate()
            try:
                service.wait(_SERVICE_S)
            except subprocess.TimeoutExpired:
                service.kill()
                service.wait()

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
            command, patience = self._command(self._application.feed), self._application.patience
            feed(command, text, environment, self._work, patience)
            return
        assert self._source is not None
        records = [NewRecord(order(number), customer(number)) for number in numbers]
        produce_all(self._source, "orders", records)

    def _until(self, distinct: int) -> None:
        """Wait until there is something for this many orders. Raises Wrong."""
        assert self._processes is not None
        deadline = monotonic() + self._application.patience
        while len(done := complete(self._output(), self._application.changes)) < distinct:
            if monotonic() > deadline:
                what = f"{len(done)} of {distinct} orders within"
                what += f" {self._application.patience:.0f} s; its last output:\n"
                raise Wrong(what + self._processes.output)
            try:
                self._processes.keep()
            except Ended as error:
                raise Wrong(str(error)) from None
            sleep(_POLL_S)

    def _output(self) -> list[Seen]:
        """Each record of the output, those of a partition in their order."""
        assert self._source is not None
        with suppress(Refused):  # not created yet, or not readable for a moment
            return [each for topic in self._topics for each in self._read(topic)]
        return []

    def _read(self, topic: str) -> list[Seen]:
        assert self._source is not None
        found = read(self._source, topic, range(partition_count(self._source, topic)))
        records = [each for one in found.values() for each in one.visible(READ_COMMITTED)]
        return [understood(each.key or b"", each.value or b"", topic) for each in records]

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
        due = ORDERS * (len(self._application.changes) or 1)
        return Work(len(now) - due, self._processes.ended)


def complete(seen: list[Seen], changes: list[str]) -> set[int]:
    """The orders of which everything is there: the last of the changes, or any record."""
    last = re.compile(changes[-1].encode() if changes else b"")
    return {each.order for each in seen if last.search(each.value)}


def check(seen: list[Seen], application: Application) -> None:
    """Raises Wrong if these are not right."""
    numbers = Counter(each.order for each in seen)
    if foreign := [each for each in numbers if each not in range(ORDERS)]:
        raise Wrong(_listed("that nobody has placed", foreign))
    if lost := [each for each in range(ORDERS) if each not in numbers]:
        raise Wrong(_listed("are lost", lost))
    is_exact = application.guarantee == EXACTLY_ONCE
    repeated = [each for each, times in numbers.items() if times > 1]
    if application.changes:
        _check_changes(seen, application.changes, is_exact)
    elif repeated and is_exact:
        raise Wrong(_listed("are there more than once", repeated))
    if application.counts:
        _check_counts(seen)
    if application.refused:
        _check_refused(seen, application.refused)


def _listed(what: str, orders: list[int]) -> str:
    return f"{len(orders)} orders {what}: {sorted(orders)[:_SHOWN]}"


def _check_changes(seen: list[Seen], changes: list[str], is_exact: bool) -> None:
    """Each order's changes, in their order. What is there again begins at an earlier one."""
    patterns = [re.compile(each.encode()) for each in changes]
    whole = list(range(len(patterns)))
    by_order: dict[int, list[Seen]] = {}
    for each in seen:
        by_order.setdefault(each.order, []).append(each)
    for number, records in sorted(by_order.items()):
        if len(keys := {each.customer for each in records}) > 1:
            raise Wrong(f"the changes of order {number} are under several keys: {sorted(keys)}")
        texts = [each.value for each in records]
        kinds = [next((i for i in whole if patterns[i].search(text)), -1) for text in texts]
        leaves_none_out = all(0 <= after <= before + 1 for before, after in pairwise([-1, *kinds]))
        if not (kinds == whole if is_exact else leaves_none_out and kinds[-1] == whole[-1]):
            raise Wrong(f"the changes of order {number} are not {changes}, but {texts}")


def _check_refused(seen: list[Seen], topic: str) -> None:
    if wrong := [each.order for each in seen if (each.topic == topic) != is_refused(each.order)]:
        raise Wrong(_listed(f"are, or are not, in {topic!r} against what they should", wrong))


def is_refused(number: int) -> bool:
    """Whether it is one of the orders that an application with a topic for such must not take."""
    return number % 10 == 7


def _check_counts(seen: list[Seen]) -> None:
    for name in sorted({each.customer for each in seen}):
        counts = sorted({each.counted for each in seen if each.customer == name})
        if counts != list(range(1, len(counts) + 1)):
            raise Wrong(f"the counts of {name.decode()} have gaps: {counts}")
        orders = len({each.order for each in seen if each.customer == name})
        if counts[-1] != orders:
            raise Wrong(f"{name.decode()} has {orders} orders, and was counted to {counts[-1]}")


def order(number: int) -> str:
    return json.dumps({"order": number, "customer": customer(number)})


def customer(number: int) -> str:
    return f"c{number % CUSTOMERS}"


def understood(key: bytes, value: bytes, topic: str = "") -> Seen:
    """What a record of the output says; one without a value names its order in its key. Raises
    Wrong if it names no order, or two."""
    of_key, count = _ORDER.search(key), _COUNT.search(value)
    found = _ORDER.search(value) or of_key
    if found is None:
        raise Wrong(f"a record of the output names no order: {value[:200]!r}")
    if of_key is not None and of_key[1] != found[1]:
        raise Wrong(f"a record of order {found[1].decode()} has the key {key!r}")
    return Seen(int(found[1]), key, int(count[1]) if count else 0, value, topic)


def filled(text: str, words: Mapping[str, str]) -> str:
    """The text with these words in the place of {word}; other braces stay."""
    return re.sub(r"\{([a-z]+)\}", lambda found: words.get(found[1], found[0]), text)


def feed(
    command: list[str], text: str, environment: Mapping[str, str], work: Path, patience: float
) -> None:
    """Run what brings orders in, for so many seconds at most. Raises Wrong if it does not end
    well."""
    try:
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            cwd=work,
            env={**os.environ, **environment},
            timeout=patience,
        )
    except subprocess.TimeoutExpired:
        raise Wrong(f"{command[0]} has not brought all orders in within {patience} s") from None
    if done.returncode:
        raise Wrong(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
