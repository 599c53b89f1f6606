"""python -m tests.bugs.public: examples that frameworks show in their own documentation, as it
comes from the registries, held to promises; but for the broker's address they run unchanged.

FastStream and Quix Streams   the first example of the package's description
Kafka Streams                 Pipe.java of its archetype for Maven

What they need is installed into the cache directory. Takes some minutes.
"""

from __future__ import annotations

import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from odradek.compat import Unavailable
from odradek.compat.java.jars import cache_dir, classpath, java, resolve
from odradek.compat.java.process import JVM, QUIET

if TYPE_CHECKING:
    from odradek.fixtures.services.supervision import Service

KAFKA = "4.3.1"
_INSTALL_S = 600.0
_ADDRESS = "localhost:9092"
_DESCRIBED = "import importlib.metadata as m, sys; d = m.metadata(sys.argv[1])\n"
_DESCRIBED += "print(d['Description'] or d.get_payload())"


@dataclass(frozen=True)
class Example:
    """One of them."""

    name: str
    of: str
    to: str
    record: Callable[[Random, int], Any]
    """What it reads; the number is the record's."""
    number: Callable[[Any], Any]
    """What an input and its output have in common."""
    start: Callable[[Any], Service]


def _python(*packages: str) -> str:
    """A Python that has these. Raises Unavailable."""
    home = cache_dir() / f"public-{'-'.join(packages).replace('==', '-')}"
    program = home / "bin/python"
    if not (home / "done").exists():
        venv.create(home, with_pip=True)
        command = [str(program), "-m", "pip", "install", "-q", *packages]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_S)
        if done.returncode:
            raise Unavailable(f"{' and '.join(packages)} cannot be installed: {done.stderr}")
        (home / "done").touch()
    return str(program)


def _described(python: str, package: str) -> str:
    """The first example of a package's description."""
    command = [python, "-c", _DESCRIBED, package]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None, f"{package} shows no example"
    return found[1]


def _file(source: str) -> str:
    """With the broker's address, as a template."""
    assert _ADDRESS in source
    braces = source.replace("{", "{{").replace("}", "}}")
    return braces.replace(_ADDRESS, "{bootstrap_servers}")


FASTSTREAM, QUIX = "faststream[cli,kafka]==0.7.8", "quixstreams==3.28.1"
STREAMS = [f"org.apache.kafka:kafka-streams:{KAFKA}", "org.slf4j:slf4j-simple:1.7.36"]
ARCHETYPE = [f"org.apache.kafka:streams-quickstart-java:{KAFKA}"]


def install() -> None:
    """All that they need, before the time of the first one begins. Raises Unavailable."""
    _python(FASTSTREAM)
    _python(QUIX)
    resolve("streams-quickstart", ARCHETYPE)
    resolve("kafka-streams", STREAMS)


def _faststream(kafka: Any) -> Service:
    python = _python(FASTSTREAM)
    source = _described(python, "faststream")
    command = [python, "-m", "faststream", "run", "app:app"]
    files = {"app.py": _file(source)}
    started: Service = kafka.service(command, files=files, name="faststream")
    return started


def _quix(kafka: Any) -> Service:
    python = _python(QUIX)
    source = _described(python, "quixstreams")
    files = {"app.py": _file(source)}
    started: Service = kafka.service([python, "app.py"], files=files, name="quix")
    return started


def _streams(kafka: Any) -> Service:
    shown = resolve("streams-quickstart", ARCHETYPE)
    (archive,) = shown.glob("streams-quickstart-java*.jar")
    path = "archetype-resources/src/main/java/Pipe.java"
    source = zipfile.ZipFile(archive).read(path).decode().replace("${package}", "app")
    jars = classpath(resolve("kafka-streams", STREAMS))
    command = [java(), *JVM, QUIET, "-cp", jars, "Pipe.java"]
    files = {"Pipe.java": _file(source)}
    started: Service = kafka.service(command, files=files, name="pipe")
    return started


def _user(record: Any) -> Any:
    if record.value.rstrip(b'"').endswith(b"registered"):
        return int(record.value.split()[1])
    return record.json()["user_id"]


def _degrees(record: Any) -> Any:
    value = record.json()
    celsius = value.get("temperature")
    return round(value["temperature_F"] if celsius is None else celsius * 9 / 5 + 32)


EXAMPLES = (
    Example(
        *("FastStream", "in", "out"),
        lambda random, number: {"user": f"u{random.randint(1, 9)}", "user_id": number},
        *(_user, _faststream),
    ),
    Example(
        *("Quix Streams", "temperature-celsius", "temperature-alerts"),
        lambda _, number: {"temperature": 100 + number},
        *(_degrees, _quix),
    ),
    Example(
        *("Kafka Streams", "streams-plaintext-input", "streams-pipe-output"),
        lambda _, number: f"line {number}",
        *(lambda record: record.value, _streams),
    ),
)


def main() -> int:
    """Run them, and print a table."""
    from tests.bugs.__main__ import CAUSE, session

    install()
    names = [f"{e.name}-{promise}" for e in EXAMPLES for promise in PROMISES]
    reports = session(names, 60, "public_held.py::test_an_example")
    for name in names:
        report = reports.get(name)
        if report is None:
            print(f"| {name} | did not run |")
            continue
        text = report.longreprtext
        cause = CAUSE.search(text)
        wrong = re.search(r"what went wrong: (.*)", text)
        fault = re.search(r"E +((?:lost|doubled|committed first|gave up|from nothing): .*)", text)
        words = [each[1] if each else "" for each in (fault, wrong, cause)]
        print(f"| {name} | {'held' if report.passed else 'broken'} | {' | '.join(words)} |")
        for title, section in report.sections:
            if title == "kafka_promise":
                print(section)
    return 0


PROMISES = ("at_least_once",)

if __name__ == "__main__":
    sys.exit(main())
