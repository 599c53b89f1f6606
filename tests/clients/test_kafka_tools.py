"""Kafka's own command line tools, against ours and against a real Kafka: the same words.

One script of commands runs from top to bottom on both brokers, each in a JVM of its own; then each
command's output is compared, after what may differ is replaced: addresses, ids, paths, moments and
speeds (`_plain`). What a tool writes to its log is not compared.
"""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from odradek import Emulator
from odradek.compat import RealKafka
from odradek.compat.java.tools import KafkaTools, Ran
from odradek.compat.real_kafka import VERSION

pytestmark = [pytest.mark.real, pytest.mark.slow]

ADDRESS = "ADDRESS"  # stands for the broker's in the script
FILES = "FILES"  # and this for a directory with the files below
VERBS = ("Read", "Write", "Initialize", "Delete", "Describe", "Alter")
NOT_SERVED = ("Share", "Streams", *(f"{verb}Share" for verb in VERBS))
UNORDERED = ("groups --list", "delete-records", "--all-groups")
LOOKS = ("--describe", "--list", " describe", " list", "get-offsets")
FOLLOWS_S = 1.0  # in which a real broker follows its controller
SPEEDS = ("ProducerPerformance", "ConsumerPerformance")
OLD_VERSION = "3.9.2"  # without share groups
CONFIG = {"group.initial.rebalance.delay.ms": "0"}

TOOLS = {
    "topics": "TopicCommand --bootstrap-server ADDRESS",
    "configs": "kafka.admin.ConfigCommand --bootstrap-server ADDRESS",
    "groups": "consumer.group.ConsumerGroupCommand --bootstrap-server ADDRESS",
    "produce": "ConsoleProducer --bootstrap-server ADDRESS",
    "consume": "consumer.ConsoleConsumer --bootstrap-server ADDRESS",
    "get-offsets": "GetOffsetShell --bootstrap-server ADDRESS",
    "delete-records": "DeleteRecordsCommand --bootstrap-server ADDRESS",
    "log-dirs": "LogDirsCommand --bootstrap-server ADDRESS",
    "api-versions": "BrokerApiVersionsCommand --bootstrap-server ADDRESS",
    "elect": "LeaderElectionCommand --bootstrap-server ADDRESS",
    "reassign": "reassign.ReassignPartitionsCommand --bootstrap-server ADDRESS",
    "features": "FeatureCommand --bootstrap-server ADDRESS",
    "quorum": "MetadataQuorumCommand --bootstrap-server ADDRESS",
    "cluster": "ClusterTool",
    "transactions": "TransactionsCommand --bootstrap-server ADDRESS",
    "all-groups": "GroupsCommand --bootstrap-server ADDRESS",
    "client-metrics": "ClientMetricsCommand --bootstrap-server ADDRESS",
    "acls": "AclCommand --bootstrap-server ADDRESS",
    "tokens": "DelegationTokenCommand --bootstrap-server ADDRESS",
    "produce-perf": "ProducerPerformance --bootstrap-server ADDRESS",
    "consume-perf": "ConsumerPerformance --bootstrap-server ADDRESS",
}

JSON_FILES = {
    "delete.json": {
        "version": 1,
        "partitions": [
            {"topic": "orders", "partition": 0, "offset": 2},
            {"topic": "orders", "partition": 1, "offset": -1},
            {"topic": "orders", "partition": 2, "offset": 99},
        ],
    },
    "topics.json": {"version": 1, "topics": [{"topic": "orders"}]},
    "plan.json": {
        "version": 1,
        "partitions": [{"topic": "orders", "partition": 0, "replicas": [1], "log_dirs": ["any"]}],
    },
    "bad-plan.json": {
        "version": 1,
        "partitions": [{"topic": "orders", "partition": 0, "replicas": [7]}],
    },
    "elect.json": {"partitions": [{"topic": "orders", "partition": 1}]},
}

# One command a line: a tool's short name, its arguments, and after `<` what is typed into it.
SCRIPT = Path(__file__).with_name("kafka_tools.txt")


class Command(NamedTuple):
    """One line of the script."""

    line: str
    tool: str
    args: list[str]
    stdin: str

    @property
    def looks(self) -> bool:
        """Whether it changes nothing."""
        return any(word in self.line for word in LOOKS)

    def run(self, tools: KafkaTools, address: str, files: Path) -> Ran:
        args = [a.replace(ADDRESS, address).replace(FILES, str(files)) for a in self.args]
        return tools.run(self.tool, *args, stdin=self.stdin)


def _commands() -> list[Command]:
    commands = []
    for line in SCRIPT.read_text().splitlines():
        text, _, typed = line.partition(" < ")
        name, *rest = shlex.split(text)
        tool, *fixed = TOOLS[name].split()
        if name == "cluster":
            fixed = []
        stdin = typed.replace("\\n", "\n").replace("\\t", "\t") + "\n" if typed else ""
        commands.append(Command(line, tool, [*fixed, *rest], stdin))
    return commands


COMMANDS = _commands()


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Ran, Ran]]]:
    """What each command of the script printed: of the real Kafka, and of ours."""
    files = tmp_path_factory.mktemp("files")
    for name, content in JSON_FILES.items():
        (files / name).write_text(json.dumps(content))
    with (
        RealKafka(config=CONFIG) as real,
        Emulator(CONFIG) as ours,
        KafkaTools(VERSION) as for_real,
        KafkaTools(VERSION) as for_ours,
        ThreadPoolExecutor(2) as both,
    ):
        done: dict[str, tuple[Ran, Ran]] = {}
        for number, command in enumerate(COMMANDS):
            first = both.submit(command.run, for_real, real.bootstrap_servers, files)
            second = both.submit(command.run, for_ours, ours.bootstrap_servers, files)
            done[f"{number}"] = first.result(), second.result()
            if command.looks and _differ(command, *done[f"{number}"]):
                time.sleep(FOLLOWS_S)
                again = command.run(for_real, real.bootstrap_servers, files)
                done[f"{number}"] = again, second.result()
        yield done


@pytest.mark.parametrize(
    "number", range(len(COMMANDS)), ids=[f"{n:03} {c.line}" for n, c in enumerate(COMMANDS)]
)
def test_a_tool_says_the_same(number: int, outcomes: dict[str, tuple[Ran, Ran]]) -> None:
    real, ours = outcomes[f"{number}"]
    command = COMMANDS[number]
    assert _plain(ours.out, command) == _plain(real.out, command), f"\n{ours.err}\n{real.err}"
    assert ours.status == real.status


_REPLACED = [
    (r"127\.0\.0\.1:\d+", "HOST:PORT"),
    (r"localhost:\d+", "HOST:PORT"),
    (r"console-consumer-[0-9a-f-]+", "MEMBER"),
    (r"\b[A-Za-z0-9_-]{22}\b", "ID"),
    (r"\b1[5-9]\d{11}\b", "TIME"),
    (r"127\.0\.0\.1(\s+)\d+", r"HOST\1PORT"),
    (r'"logDir":"[^"]*"', '"logDir":"DIR"'),
    (r'"log_dirs":\["/[^]]*"\]', '"log_dirs":["DIR"]'),
    (r'"(size|totalBytes|usableBytes)":\d+', r'"\1":N'),
    (r"(FinalizedVersionLevel: \S+\s+Epoch:) \d+", r"\1 N"),
    (r"(HighWatermark|LeaderEpoch|LogEndOffset|MaxFollowerLag\w*):(\s+)\d+", r"\1: N"),
]
_NUMBER = re.compile(r"\d[\d.,:-]*")


def _differ(command: Command, real: Ran, ours: Ran) -> bool:
    return _plain(real.out, command) != _plain(ours.out, command)


def _plain(out: str, command: Command) -> list[str]:
    """The lines of an output without what differs from run to run."""
    if "api-versions" in command.line:
        said = out.splitlines()
        out = "\n".join(line for line in said if not line.strip().startswith(NOT_SERVED))
    for pattern, symbol in _REPLACED:
        out = re.sub(pattern, symbol, out)
    if command.tool in SPEEDS or "quorum" in command.line:
        out = _NUMBER.sub("N", out)
    lines = [re.sub(r"\s+", " ", line).strip() for line in out.splitlines()]
    if "describe-producers" in command.line:
        lines = [re.sub(r"^\d+ ", "PID ", line) for line in lines]
    if "max-timestamp" in command.line:  # records of one millisecond, or not
        lines = [re.sub(r":\d+$", ":N", line) for line in lines]
    # A hash decides in which order these are told.
    unordered = any(word in command.line for word in UNORDERED)
    return sorted(lines) if unordered or command.line.endswith("-type topics") else lines


SHARE_GROUPS = [
    ["--list"],
    ["--describe", "--group", "shared"],
    ["--describe", "--all-groups", "--members"],
    ["--delete", "--group", "shared"],
    ["--delete-offsets", "--group", "shared", "--topic", "t"],
    ["--reset-offsets", "--group", "shared", "--topic", "t", "--to-earliest", "--execute"],
]


@pytest.mark.parametrize("version", [VERSION, OLD_VERSION])
def test_share_groups_are_looked_for_or_refused_as_by_the_same_release(version: str) -> None:
    def run(tools: KafkaTools, address: str) -> list[tuple[int, list[str]]]:
        command = Command("share-groups", "consumer.group.ShareGroupCommand", [], "")
        all_ran = [
            tools.run(command.tool, "--bootstrap-server", address, *args) for args in SHARE_GROUPS
        ]
        return [(ran.status, _plain(ran.out, command)) for ran in all_ran]

    with (
        RealKafka(version, CONFIG) as real,
        Emulator(CONFIG, version=version.rpartition(".")[0]) as ours,
        KafkaTools(VERSION) as tools,
    ):
        expected = run(tools, real.bootstrap_servers)
        assert run(tools, ours.bootstrap_servers) == expected
