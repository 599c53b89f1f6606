"""TLS: how fast one client produces and consumes over SSL and plain text, beside a real Kafka.

    python -m tests.bench.bench_tls [--records 100000] [--times 3] [--no-kafka]

Both brokers have a PLAINTEXT and an SSL listener with the same certificate (an EC key of P-256);
the client is confluent-kafka, with the settings of client.py: values of 1 KB, one partition, acks
all, uncompressed. In turn, after a warm-up of each that is not counted. Thousands of records a
second: the median, and the least and the most.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from confluent_kafka.admin import AdminClient
from odradek.compat import RealKafka, Unavailable
from odradek.compat.real_kafka.process import free_ports
from odradek.emulator.security.tls.certificates import Certificates

from . import client
from .brokers import SCRIPT_JVM, Command
from .client import Load

SIZE = 1000
MAP = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL"


class Listener(NamedTuple):
    """Where a broker is measured, and what its client is told."""

    name: str
    address: str
    settings: dict[str, Any]


class Serve(Command):
    """`odradek serve` with both listeners."""

    name = "Odradek"

    def __init__(self, config: dict[str, str]) -> None:
        super().__init__()
        self._config = config

    def prepare(self) -> str:
        return ""

    def command(self) -> list[str]:
        pairs = [part for each in self._config.items() for part in ("--set", "=".join(each))]
        return [sys.executable, "-m", "odradek.compat.cli", "serve", *pairs]


@contextmanager
def brokers(has_kafka: bool) -> Iterator[list[Listener]]:
    """The listeners of both."""
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="odradek-bench-")))
        made = Certificates()
        made.server().write(work / "server.pem")
        own = {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(work / "server.pem"),
        }
        plain, secure, controller, *ours = free_ports(5)
        served = Serve({**own, "listeners": listeners(*ours)})
        stack.callback(served.stop)
        served.start()
        places = [("Odradek", *ours)]
        if has_kafka:
            config = {
                **own,
                "listeners": f"{listeners(plain, secure)},CONTROLLER://127.0.0.1:{controller}",
                "listener.security.protocol.map": MAP,
            }
            kafka = RealKafka(config=config, jvm=SCRIPT_JVM, ports=(plain, controller))
            stack.enter_context(kafka)
            places.append(("Kafka", plain, secure))
        tls = {"security.protocol": "SSL", "ssl.ca.pem": made.ca}
        yield [
            Listener(f"{name}, {protocol}", f"127.0.0.1:{port}", settings)
            for name, one, two in places
            for protocol, port, settings in (("PLAINTEXT", one, {}), ("SSL", two, tls))
        ]


def listeners(plain: int, secure: int) -> str:
    """The config of that name."""
    return f"PLAINTEXT://127.0.0.1:{plain},SSL://127.0.0.1:{secure}"


def measured(listener: Listener, load: Load) -> tuple[float, float]:
    """Records produced and consumed per second."""
    before = dict(client.COMMON)
    client.COMMON.update(listener.settings)
    topic = f"bench-tls-{token_hex(4)}"  # one that was deleted is there for a while
    try:
        client.create_topic(listener.address, topic, load.partitions)
        produced = client.produce(listener.address, topic, load)
        consumed = client.consume(listener.address, topic, load)
        admin = AdminClient({**client.COMMON, "bootstrap.servers": listener.address})
        admin.delete_topics([topic])[topic].result(client.TIMEOUT_S)
        return produced, consumed
    finally:
        client.COMMON.clear()
        client.COMMON.update(before)


def main(arguments: list[str] | None = None) -> int:
    """Print the figures; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_tls")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--no-kafka", action="store_true", help="Odradek alone")
    given = parser.parse_args(arguments)
    load = Load(SIZE, given.records, 1)
    found: dict[str, list[tuple[float, float]]] = {}
    try:
        with brokers(not given.no_kafka) as places:
            for number in range(given.times + 1):
                for each in places:
                    rates = measured(each, load)
                    found.setdefault(each.name, []).extend([rates] if number else [])
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 1
    print(f"{client.describe_client()}; thousands of records of {SIZE} bytes a second")
    for name, rates_of in found.items():
        cells = []
        for verb, rates in zip(("produced", "consumed"), zip(*rates_of, strict=True), strict=True):
            least, middle, most = (f(rates) / 1000 for f in (min, statistics.median, max))
            cells.append(f"{verb} {middle:6.1f} ({least:.1f} to {most:.1f})")
        print(f"{name:20} {'   '.join(cells)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
