"""Does the tasks with one tool, at a broker of its own, and measures them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

from odradek.compat.java.jars import classpath, jars, java

from tests.tasks.tasks import Task

KAFKA = "4.3.1"
SCRIPTS = {
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-configs.sh": "kafka.admin.ConfigCommand",
    "kafka-consumer-groups.sh": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-console-producer.sh": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-consumer.sh": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-delete-records.sh": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-get-offsets.sh": "org.apache.kafka.tools.GetOffsetShell",
}
JVM = "-Xmx256M -server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -Djava.awt.headless=true"
"""As kafka-run-class.sh gives them to tools."""
TIMEOUT_S = 120


class Failed(Exception):
    """A command failed, or did not print what it should."""


class Done(NamedTuple):
    """How a task went: `seconds` of its commands together."""

    commands: int
    seconds: float


def programs(directory: Path) -> None:
    """The program `odradek`, for bash."""
    _write(directory / "odradek", shlex.join([sys.executable, "-m", "odradek"]))


def scripts(directory: Path) -> None:
    """Programs named as Kafka's scripts. Raises Unavailable."""
    for name, main in SCRIPTS.items():
        program = [java(), *JVM.split(), "-cp", classpath(jars(KAFKA)), main]
        _write(directory / name, shlex.join(program))


def do(tool: str, tasks: Sequence[Task], directory: Path) -> Iterator[Done | None]:
    """Do the tasks one after the other; None for what the tool cannot do. Raises Failed."""
    with broker(directory) as around:
        for task in tasks:
            commands = task.commands(tool)
            if not commands:
                for command in task.odradek:
                    _run(command, around, directory)
                yield None
                continue
            begin = monotonic()
            said = "".join([_run(command, around, directory) for command in commands])
            seconds = monotonic() - begin
            if not re.search(task.shows, said):
                raise Failed(f"{tool}: {task.name}: {commands}: {said!r}")
            yield Done(len(commands), seconds)


@contextmanager
def broker(directory: Path) -> Iterator[dict[str, str]]:
    """A broker with a group `stuck`; the environment for commands."""
    around = {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}
    # As where odradek is installed: there is bytecode.
    around["PYTHONPYCACHEPREFIX"] = str(directory / "bytecode")
    around.pop("PYTHONDONTWRITEBYTECODE", None)
    with ExitStack() as running:
        serve = ["serve", "--no-file", "--port", "0", "--quiet", "--topic", "orders:2"]
        process = _started([*serve, "--set", "group.initial.rebalance.delay.ms=0"], around, running)
        assert process.stdout is not None
        address = process.stdout.readline().split()[3]
        around |= {"B": address, "ODRADEK_BOOTSTRAP": address}
        _started(["consume", address, "orders", "--group", "stuck", "--follow"], around, running)
        end = monotonic() + TIMEOUT_S
        while "orders:0-1" not in _run("odradek groups show stuck || true", around, directory):
            if monotonic() > end:
                raise Failed("the group `stuck` has no member")
            sleep(0.1)
        yield around


def _started(
    arguments: list[str], around: dict[str, str], running: ExitStack
) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "odradek", *arguments]
    process = subprocess.Popen(command, env=around, stdout=subprocess.PIPE, text=True)
    running.enter_context(process)
    running.callback(process.kill)
    return process


def _run(command: str, around: dict[str, str], directory: Path) -> str:
    """What a command prints. Raises Failed."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=directory,
        env=around,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    if done.returncode:
        raise Failed(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def _write(path: Path, command: str) -> None:
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    path.chmod(0o755)
