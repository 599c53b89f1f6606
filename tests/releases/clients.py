"""`python -m tests.releases.clients`: what clients of many ages do with each release.

    --client NAME   only clients whose name begins so; may be repeated
    --release NAME  only this release; may be repeated
    --real          ask a real broker of each release, too
    --write         keep what was seen in clients.tsv, which docs/versions.md shows

A client produces three records, reads them, and reads them as a group that commits; each step is
`ok` or not. Old libraries are installed in directories of their own in the cache; kafka-clients run
Steps.java, but for 0.8, where Kafka's shell produces and reads; those of Go and Node are programs
of compat/clients. Three clients run at once. A cell is `ok`, the steps that worked, or `-`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from odradek import Emulator
from odradek.compat.clients.programs import Program
from odradek.compat.clients.verbs import NewRecord
from odradek.compat.java.jars import cache_dir, classpath, jars, java
from odradek.compat.java.jars import numbers as version_numbers
from odradek.compat.real_kafka import RealKafka
from odradek.emulator.releases.tables import NAMES, numbers
from odradek.wire.api.metadata import MetadataRequest

from tests.differential.engine.asker import Asker

from .brokers import VERSIONS

TABLE = Path(__file__).with_suffix(".tsv")
STEPS = ("produce", "read", "group")
LIMIT_S = 60.0
AT_ONCE = 3
_STEPS = Path(__file__).with_name("Steps.java")
_RECORDS = ("one", "two", "three")
_TRY = """
import sys
address, topic, group = sys.argv[1:4]
def step(name, work):
    try:
        work()
        print(name, flush=True)
    except BaseException as error:
        print(repr(error)[:300], file=sys.stderr, flush=True)
"""
_KAFKA_PYTHON = """
from kafka import KafkaConsumer, KafkaProducer
asked = {"api_version": tuple(map(int, sys.argv[4].split(".")))} if sys.argv[4] else {}
def produce():
    producer = KafkaProducer(bootstrap_servers=address, **asked)
    for text in (b"one", b"two", b"three"):
        producer.send(topic, text).get(20)
    producer.close()
def read():
    consumer = KafkaConsumer(bootstrap_servers=address, auto_offset_reset="earliest",
        consumer_timeout_ms=15000, **asked)
    from kafka import TopicPartition
    consumer.assign([TopicPartition(topic, 0)])
    consumer.seek(TopicPartition(topic, 0), 0)
    assert [next(consumer).value for _ in range(3)] == [b"one", b"two", b"three"]
    consumer.close()
def group_():
    for offset in (0, 2):
        consumer = KafkaConsumer(topic, bootstrap_servers=address, group_id=group,
            auto_offset_reset="earliest", consumer_timeout_ms=15000, enable_auto_commit=False,
            **asked)
        for expected in range(offset, offset + 2 if offset == 0 else 3):
            assert next(consumer).offset == expected
            consumer.commit()
        consumer.close()
for name, work in (("produce", produce), ("read", read), ("group", group_)):
    step(name, work)
"""
_CONFLUENT = """
from confluent_kafka import Consumer, Producer, TopicPartition
asked = {"bootstrap.servers": address}
if sys.argv[4]:
    asked |= {"api.version.request": False, "broker.version.fallback": sys.argv[4]}
def produce():
    failed = []
    producer = Producer({**asked, "message.timeout.ms": 15000})
    for text in ("one", "two", "three"):
        producer.produce(topic, text, partition=0,
            on_delivery=lambda error, message: error and failed.append(error))
    assert producer.flush(20) == 0 and not failed, failed
def polled(consumer, count):
    import time
    found, end = [], time.monotonic() + 20
    while len(found) < count and time.monotonic() < end:
        message = consumer.poll(0.5)
        if message is not None and not message.error():
            found.append(message.offset())
    return found
def read():
    consumer = Consumer({**asked, "group.id": "none", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    assert polled(consumer, 3) == [0, 1, 2]
    consumer.close()
def group_():
    for offsets in ([0, 1], [2]):
        consumer = Consumer({**asked, "group.id": group, "auto.offset.reset": "earliest",
            "enable.auto.commit": False})
        consumer.subscribe([topic])
        assert polled(consumer, len(offsets)) == offsets
        consumer.commit(offsets=[TopicPartition(topic, 0, offsets[-1] + 1)], asynchronous=False)
        consumer.close()
for name, work in (("produce", produce), ("read", read), ("group", group_)):
    step(name, work)
"""
_PYKAFKA = """
from pykafka import KafkaClient
made = KafkaClient(hosts=address, broker_version=sys.argv[4])
def produce():
    with made.topics[topic].get_sync_producer() as producer:
        for text in (b"one", b"two", b"three"):
            producer.produce(text)
def read():
    consumer = made.topics[topic].get_simple_consumer(consumer_timeout_ms=15000)
    assert [consumer.consume().value for _ in range(3)] == [b"one", b"two", b"three"]
    consumer.stop()
def group_():
    for offsets in ((0, 1), (2,)):
        consumer = made.topics[topic].get_simple_consumer(
            consumer_group=group, consumer_timeout_ms=15000)
        assert tuple(consumer.consume().offset for _ in offsets) == offsets
        consumer.commit_offsets()
        consumer.stop()
for name, work in (("produce", produce), ("read", read), ("group", group_)):
    step(name, work)
"""


class Client(NamedTuple):
    """A client: how to run it with an address, a topic, a group and a release. It prints the steps
    that have worked."""

    name: str
    run: Callable[[str, str, str, str], set[str]]


def clients() -> list[Client]:
    """Every client, the newest libraries first."""
    found = [
        Client("kafka-python 3.0.12", _python(_KAFKA_PYTHON, lambda release: "")),
        Client("kafka-python 3.0.12, api_version", _python(_KAFKA_PYTHON, _dotted)),
        Client("confluent-kafka 2.16.1", _python(_CONFLUENT, lambda release: "")),
        Client("confluent-kafka 2.16.1, broker.version.fallback", _python(_CONFLUENT, _dotted)),
    ]
    for version in ("2.0.2", "1.4.7"):
        libraries = [f"kafka-python=={version}"]
        found += [
            Client(f"kafka-python {version}", _python(_KAFKA_PYTHON, lambda _: "", libraries)),
            Client(
                f"kafka-python {version}, api_version", _python(_KAFKA_PYTHON, _dotted, libraries)
            ),
        ]
    found.append(
        Client(
            "pykafka 2.8.0",
            _python(_PYKAFKA, _dotted, ["pykafka==2.8.0", "six", "setuptools==75.8.0"]),
        )
    )
    for version in ("4.3.1", "4.0.0", "3.9.2", "2.7.2", "1.1.1", "0.10.2.2", "0.8.2.2"):
        found.append(Client(f"Java {version}", _java(version)))
    for name, version in (("sarama", "1.61.1"), ("kafkajs", "2.2.4")):
        found.append(Client(f"{name} {version}", _program(name)))
    return found


def _dotted(release: str) -> str:
    """A release as these libraries name it: three numbers at least."""
    version = VERSIONS[release]
    return version if version.startswith("0.") else ".".join(version.split(".")[:3])


def _python(
    script: str, named: Callable[[str], str], libraries: Sequence[str] = ()
) -> Callable[[str, str, str, str], set[str]]:
    def run(address: str, topic: str, group: str, release: str) -> set[str]:
        path = {"PYTHONPATH": str(_installed(libraries))} if libraries else {}
        command = [sys.executable, "-c", _TRY + script, address, topic, group, named(release)]
        return _steps(command, path)

    return run


def _installed(libraries: Sequence[str]) -> Path:
    """A directory with these, installed if it is not there."""
    target = cache_dir() / f"python-{'-'.join(libraries).replace('==', '-')}"
    if not target.exists():
        command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(target)]
        subprocess.run([*command, *libraries], check=True)
    return target


def _steps(command: Sequence[str], environment: dict[str, str]) -> set[str]:
    import os

    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=2 * LIMIT_S,
            env={**os.environ, **environment},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        said = error.stdout or b""
        return set(said.decode().split() if isinstance(said, bytes) else said.split())
    return set(done.stdout.split())


def _java(version: str) -> Callable[[str, str, str, str], set[str]]:
    """The Java client of a version; that of 0.8 has no consumer that works, so Kafka's shell."""
    if version_numbers(version) < (0, 9):
        return _java_0_8(version)

    def run(address: str, topic: str, group: str, release: str) -> set[str]:
        return _steps([*_jvm(version), str(_STEPS), address, topic, group], {})

    return run


def _jvm(version: str) -> list[str]:
    return [java(), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", classpath(jars(version))]


def _java_0_8(version: str) -> Callable[[str, str, str, str], set[str]]:
    def tool(*args: str, text: str = "") -> list[str]:
        command = [*_jvm(version), *args]
        limits: dict[str, Any] = {"capture_output": True, "text": True, "timeout": LIMIT_S}
        try:
            done = subprocess.run(command, input=text, check=False, **limits)
        except subprocess.TimeoutExpired:
            return []
        return [line for line in done.stdout.splitlines() if line in _RECORDS]

    def run(address: str, topic: str, group: str, release: str) -> set[str]:
        producer = ["kafka.tools.ConsoleProducer", "--broker-list", address, "--topic", topic]
        tool(*producer, text="\n".join(_RECORDS) + "\n")
        place = ["--topic", topic, "--partition", "0", "--offset", "-2", "--max-messages", "3"]
        found = tool("kafka.tools.SimpleConsumerShell", "--broker-list", address, *place)
        return {"produce", "read"} if found == [*_RECORDS] else set()

    return run


def _program(name: str) -> Callable[[str, str, str, str], set[str]]:
    """One of the clients in other languages."""

    def run(address: str, topic: str, group: str, release: str) -> set[str]:
        program, found = Program(name), set()
        sent = [NewRecord(text.encode()) for text in _RECORDS]

        def read(group: str | None, count: int) -> list[int]:
            records = program.consume(address, topic, group=group, count=count, timeout_s=25)
            return [each.offset for each in records]

        for step, work in (
            ("produce", lambda: program.produce(address, topic, sent, partition=0)),
            ("read", lambda: _expected(read(None, 3), [0, 1, 2])),
            ("group", lambda: _expected(read(group, 2) + read(group, 1), [0, 1, 2])),
        ):
            try:
                work()
                found.add(step)
            except Exception as error:  # whatever a client says
                print(f"{name} {release} {step}: {error!r:.300}", file=sys.stderr)
        return found

    return run


def _expected(found: list[int], wanted: list[int]) -> None:
    if found != wanted:
        raise ValueError(f"offsets {found}")


@contextmanager
def _ours(release: str) -> Iterator[str]:
    with Emulator(version=release) as kafka:
        yield kafka.bootstrap_servers


@contextmanager
def _real(release: str) -> Iterator[str]:
    with RealKafka(VERSIONS[release]) as kafka:
        yield kafka.bootstrap_servers


def _create(address: str, topic: str) -> None:
    """Have a topic made, as every release does for who asks for one that is not there."""
    host, _, port = address.partition(":")
    asker, end = Asker((host, int(port))), time.monotonic() + LIMIT_S
    request = MetadataRequest(topics=[MetadataRequest.Topic(name=topic)])
    while asker.ask(request, 0).topics[0].error_code and time.monotonic() < end:
        time.sleep(0.1)
    asker.close()


def cell(steps: set[str]) -> str:
    """What has worked, in few words."""
    if {*STEPS} <= steps:
        return "ok"
    return "+".join(each for each in STEPS if each in steps) or "-"


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; the exit status is 1 where ours and the real one differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.releases.clients")
    parser.add_argument("--client", action="append", default=[])
    parser.add_argument("--release", action="append", default=[], choices=NAMES)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    seen = read_table()
    chosen = [c for c in clients() if not given.client or c.name.startswith(tuple(given.client))]
    differ = 0
    for release in sorted(given.release or NAMES, key=numbers, reverse=True):
        places = {"ours": _ours} | ({"real": _real} if given.real else {})
        for where, place in places.items():
            with place(release) as address, ThreadPoolExecutor(AT_ONCE) as pool:
                for number in range(len(chosen)):
                    _create(address, f"t{number}")
                done = {
                    client.name: pool.submit(client.run, address, f"t{n}", f"g{n}", release)
                    for n, client in enumerate(chosen)
                }
                for name, steps in done.items():
                    seen[name, release, where] = cell(steps.result())
        for client in chosen:
            cells = [seen.get((client.name, release, where), "?") for where in ("ours", "real")]
            differ += given.real and cells[0] != cells[1]
            print(f"{release:7} {client.name:48} ours {cells[0]:15} real {cells[1]}", flush=True)
        if given.write:
            write_table(seen)
    return 1 if differ else 0


def read_table() -> dict[tuple[str, str, str], str]:
    """What was seen: client, release, "ours" or "real", to a cell."""
    lines = TABLE.read_text().splitlines() if TABLE.exists() else []
    rows = (line.split("\t") for line in lines)
    return {(client, release, where): cell for client, release, where, cell in rows}


def write_table(seen: dict[tuple[str, str, str], str]) -> None:
    TABLE.write_text("".join("\t".join((*key, cell)) + "\n" for key, cell in sorted(seen.items())))


if __name__ == "__main__":
    sys.exit(main())
