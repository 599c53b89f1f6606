"""The table of clients: each registers a schema, writes a value, and reads one of the kit's.

    python -m tests.schemas.clients                 print it
    python -m tests.schemas.clients --write         put it into docs/schemas.md
    python -m tests.schemas.clients --confluent CP  with Confluent's Java serializers, whose classes
                                                    are in this class path: no registry has them

Packages come from npm, Go's module proxy and Maven; what cannot be had is a row that says so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from odradek import Emulator
from odradek.compat.java.jars import cache_dir

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs/schemas.md"
BEGIN = "<!-- clients: made by `python -m tests.schemas.clients --write` -->"
END = "<!-- end of clients -->"
ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "id", "type": "long"}, {"name": "item", "type": "string"}],
    }
)
OURS, THEIRS = {"id": 2, "item": "bolt"}, {"id": 1, "item": "nut"}
_TIMEOUT_S = 300
_BUILT = cache_dir() / "schema-clients"


class Absent(Exception):
    """A client cannot be had here: `str` says why."""


class Client(NamedTuple):
    """A client: its row, and what makes the command that runs it."""

    name: str
    version: str
    command: Callable[[argparse.Namespace], list[str]]


def _run(command: list[str], where: Path | None = None) -> str:
    try:
        done = subprocess.run(
            command, cwd=where, capture_output=True, text=True, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Absent(str(error)) from None
    if done.returncode:
        raise Absent((done.stderr.strip() or done.stdout.strip()).splitlines()[-1][:160])
    return done.stdout


def _node(program: str) -> Callable[[argparse.Namespace], list[str]]:
    def command(_: argparse.Namespace) -> list[str]:
        home = _BUILT / "js"
        if not (home / "node_modules").is_dir():
            home.mkdir(parents=True, exist_ok=True)
            shutil.copy(HERE / "js/package.json", home)
            _run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"], home)
        shutil.copy(HERE / "js" / program, home)
        return ["node", str(home / program)]

    return command


def _go(package: str) -> Callable[[argparse.Namespace], list[str]]:
    def command(_: argparse.Namespace) -> list[str]:
        _BUILT.mkdir(parents=True, exist_ok=True)
        binary = _BUILT / f"{package}.bin"
        _run(["go", "build", "-o", str(binary), f"./{package}"], HERE / "go")
        return [str(binary)]

    return command


def _java(which: str) -> Callable[[argparse.Namespace], list[str]]:
    def command(options: argparse.Namespace) -> list[str]:
        if options.confluent is None:
            raise Absent("not in Maven Central; `--confluent` names a build of its source")
        classes = _BUILT / "java"
        classes.mkdir(parents=True, exist_ok=True)
        source = str(HERE / "java/Serializers.java")
        _run(["javac", "-nowarn", "-cp", options.confluent, "-d", str(classes), source])
        return ["java", "-cp", f"{classes}{os.pathsep}{options.confluent}", "Serializers", which]

    return command


def _python(module: str) -> Callable[[argparse.Namespace], list[str]]:
    return lambda _: [sys.executable, "-m", f"tests.schemas.clients.{module}"]


def _none(why: str) -> Callable[[argparse.Namespace], list[str]]:
    def command(_: argparse.Namespace) -> list[str]:
        raise Absent(why)

    return command


CLIENTS = (
    Client("Python, confluent-kafka", "2.16", _python("confluent")),
    Client("Go, franz-go `sr`, hamba/avro", "1.8", _go("franz")),
    Client("Go, confluent-kafka-go `schemaregistry`", "2.11", _go("confluent")),
    Client("Node, `@kafkajs/confluent-schema-registry`", "3.9", _node("kafkajs.js")),
    Client("Node, `@confluentinc/schemaregistry`", "1.10", _node("confluent.js")),
    Client("Java, `KafkaAvroSerializer`, built from its source", "8.5", _java("serializer")),
    Client("Kafka Connect, `AvroConverter`, built from its source", "8.5", _java("connect")),
    Client("Spark, `from_avro`, `to_avro`", "4.0", _python("spark_avro")),
    Client("Python, Karapace's client", "", _none("PyPI has no package `karapace`")),
)


def tried(client: Client, options: argparse.Namespace) -> str:
    """What came of it, in a few words."""
    try:
        command = client.command(options)
        with Emulator(schema_registry=True, topics=["orders"]) as kafka:
            kafka.schemas.register("orders-value", ORDER)
            given = kafka.schemas.encode("orders-value", OURS).hex()
            said = json.loads(
                _run([*command, kafka.schema_registry_url, ORDER, given]).splitlines()[-1]
            )
            wrote = kafka.schemas.decode(bytes.fromhex(said["wrote"]))
    except Absent as absent:
        return f"not tried: {absent}"
    if wrote != THEIRS or said["read"] != OURS:
        return f"wrong: wrote {wrote}, read {said['read']}"
    return "registers, writes, reads"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--confluent", metavar="CLASSPATH")
    options = parser.parse_args()
    lines = ["| client | version | |", "|---|---|---|"]
    for client in CLIENTS:
        lines.append(f"| {client.name} | {client.version} | {tried(client, options)} |")
        print(lines[-1], flush=True)
    if options.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text("\n".join([f"{before}{BEGIN}", "", *lines, "", END]) + after)
    return any("wrong" in line for line in lines)


if __name__ == "__main__":
    sys.exit(main())
