"""docs/spark.md, mirror and replay: every example is run, in order."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.commands import main
from odradek.compat.spark.pipeline.broker.coordinator import commit_offsets, committed_offsets
from odradek.compat.spark.pipeline.broker.topics import create_topic

from tests.compat.spark.pipeline.clusters import CONFIG, Writer, fill, seen
from tests.docs.spark_page import commands

PORTS = (9092, 9192, 9292)
SIZE = re.compile(r"[\d.]+ k?B")  # depends on the codecs' libraries
Printed = pytest.CaptureFixture[str]


@pytest.fixture
def brokers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The addresses in the examples, to those of three brokers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with ExitStack() as stack:
        started = [stack.enter_context(Emulator(CONFIG)) for _ in PORTS]
        yield {
            f"localhost:{port}": emulator.bootstrap_servers
            for port, emulator in zip(PORTS, started, strict=True)
        }


def here(arguments: list[str], brokers: dict[str, str]) -> list[str]:
    for name, address in brokers.items():
        arguments = [each.replace(name, address) for each in arguments]
    return arguments


def test_every_example_of_mirror(brokers: dict[str, str], capsys: Printed) -> None:
    source, target, _ = brokers.values()
    writer = Writer(source)
    fill(writer, "orders")
    create_topic(writer.cluster, "payments", 1)
    commit_offsets(writer.cluster, "billing", {("orders", 0): 11})
    for arguments, output in of_arrow("mirror"):
        result = here(arguments, brokers)
        if "--follow" in result:
            follow(result, writer, target)
            continue
        assert main(result) == 0, arguments
        said = capsys.readouterr().out
        assert SIZE.sub("", said).startswith(SIZE.sub("", output))
    assert json.loads(said)["records"] == 16
    for topic in ("orders", "payments", "later"):
        assert seen(target, topic) == seen(source, topic)
    with Emulator(CONFIG, data_dir="copy") as opened:
        assert seen(opened.bootstrap_servers, "orders")
        copy = Writer(opened.bootstrap_servers)
        assert committed_offsets(copy.cluster, "billing") == {("orders", 0): 11}
        copy.close()
    writer.close()


def of_arrow(heading: str) -> list[tuple[list[str], str]]:
    return [each for each in commands(heading) if "spark" not in each[0]]


def on_spark(heading: str) -> list[str]:
    (found,) = [arguments for arguments, _ in commands(heading) if "spark" in arguments]
    return found


@pytest.mark.spark
def test_the_examples_on_spark(brokers: dict[str, str], capsys: Printed) -> None:
    source, target, _ = brokers.values()
    writer = Writer(source)
    fill(writer, "orders")
    assert main(here(on_spark("mirror"), brokers)) == 0
    assert seen(target, "orders") == seen(source, "orders")
    assert main(["export", f"{source}/orders", "orders.parquet"]) == 0
    assert main(["load", "orders.parquet", "data/orders", "--create-topic=3"]) == 0
    assert main(here(on_spark("replay"), brokers)) == 0
    copied = seen(source, "fast")
    for partition, records in seen(source, "orders").items():
        assert [each[1:] for each in copied[partition]] == [each[1:] for each in records]
    writer.close()


def follow(arguments: list[str], writer: Writer, target: str) -> None:
    """Run it until a new topic is there."""
    command = [sys.executable, "-m", "odradek.compat.commands", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    create_topic(writer.cluster, "later", 1)
    writer.write(("later", 0), b"a")
    there = Writer(target)
    deadline = time.monotonic() + 40
    while not there.cluster.brokers.topics(["later"])[0].partitions or not seen(target, "later")[0]:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    there.close()
    process.send_signal(signal.SIGINT)
    _, output = process.communicate(timeout=20)
    assert process.returncode == 0, output


def test_every_example_of_replay(brokers: dict[str, str], capsys: Printed) -> None:
    target, source, _ = brokers.values()
    Path("secret.txt").write_text("hush\n")
    rows = [{"id": n, "customer": f"k{n % 8}", "total": 12.5} for n in range(16)]
    Path("orders.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    load = ("--create-topic=3", "--key=customer")
    assert main(["load", "orders.jsonl", f"{source}/orders", *load]) == 0
    assert main(["export", f"{source}/orders", "orders.parquet"]) == 0
    assert main(["load", "orders.parquet", "data/orders", "--create-topic=3"]) == 0
    Path("orders.jsonl").unlink()
    assert main(["export", f"{source}/orders", "orders.jsonl"]) == 0
    capsys.readouterr()
    for arguments, output in of_arrow("replay"):
        assert main(here(arguments, brokers)) == 0, arguments
        said = capsys.readouterr().out
        assert SIZE.sub("", said).startswith(SIZE.sub("", output))
    sizes = {
        topic: sum(map(len, seen(target, topic).values()))
        for topic in ("orders", "again", "some", "hidden")
    }
    assert sizes == {"orders": 16, "again": 16, "some": 4, "hidden": 16}
    hidden = [each for part in seen(target, "hidden").values() for each in part]
    assert {len(each.key or b"") for each in hidden} == {32}
    assert len({json.loads(each.value or b"")["customer"] for each in hidden}) == 8
