"""A mirror that is killed at any moment, and run again: nothing is lost or doubled."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.spark.pipeline.broker import Cluster, create_topic

from tests.compat.spark.pipeline.clusters import (
    CONFIG,
    Writer,
    bounds,
    end,
    mirror,
    options,
    seen,
    until,
)

COMMAND = [sys.executable, "-m", "odradek.compat.commands", "mirror"]
KILLS = 2


def fill(writer: Writer, topic: str) -> None:
    """Records between many transactions, so that much is filled."""
    create_topic(writer.cluster, topic, 2)
    for number in range(60):
        place = (topic, number % 2)
        writer.write(place, b"%d" % number, b"next")
        writer.transaction(f"{topic}.a", place, b"x", b"y", commit=number % 3 == 0)


def kill_some(
    source: str, target: str, topic: str, *more: str, done: Callable[[], int], kills: int = KILLS
) -> int:
    """Run the mirror and kill it when it has done a bit, several times. How often it was killed
    before its end."""
    chance, early = random.Random(7), 0
    for _ in range(kills):
        command = [*COMMAND, source, target, *options(topic, *more)]
        wanted = done() + chance.randrange(1, 25)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while process.poll() is None and done() < wanted:
            time.sleep(0.002)
        early += process.poll() is None
        process.kill()
        _, output = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), output
    return early


@pytest.mark.slow
@pytest.mark.parametrize("how", ["keep", pytest.param("ignore", marks=pytest.mark.long)])
def test_killed_and_run_again(
    pair: tuple[str, str], how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = pair
    topic = f"killed-{random.randrange(1 << 32):x}"
    writer = Writer(source)
    fill(writer, topic)
    with Cluster(target) as cluster:
        create_topic(cluster, topic, 2)

        def total() -> int:
            return sum(end(cluster, (topic, index)) for index in (0, 1))

        assert kill_some(source, target, topic, "--offsets", how, done=total) > 0
    mirror(capsys, source, target, *options(topic, "--offsets", how))
    ours, theirs = seen(target, topic), seen(source, topic)
    if how == "keep":
        assert ours == theirs
        assert bounds(target, topic) == bounds(source, topic)
    else:
        for partition in (0, 1):
            values = [each.value for each in ours[partition]]
            assert values == [each.value for each in theirs[partition]]
    writer.close()


@pytest.mark.slow
def test_killed_while_it_writes_a_directory(
    ours: Emulator, writer: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create_topic(writer.cluster, "orders", 2)
    for number in range(400):
        writer.write(("orders", number % 2), b"%d" % number * 20_000)
    log = tmp_path / "orders-0/00000000000000000000.log"

    def size() -> int:
        return log.stat().st_size if log.exists() else 0

    assert kill_some(ours.bootstrap_servers, str(tmp_path), "orders", done=size) > 0
    mirror(capsys, ours.bootstrap_servers, str(tmp_path), *options("orders"))
    with Emulator(CONFIG, data_dir=tmp_path) as opened:
        assert seen(opened.bootstrap_servers, "orders") == seen(ours.bootstrap_servers, "orders")


@pytest.mark.slow
def test_following_takes_up_what_is_new_until_it_is_interrupted(
    pair: tuple[str, str],
) -> None:
    source, target = pair
    name = f"follow-{random.randrange(1 << 32):x}"
    writer = Writer(source)
    create_topic(writer.cluster, f"{name}.a", 1)
    command = [*COMMAND, source, target, *options(f"{name}.*", "--follow"), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with Cluster(target) as cluster:
        until(lambda: bool(cluster.brokers.topics([f"{name}.a"])[0].partitions))
        writer.write((f"{name}.a", 0), b"one")
        writer.transaction(f"{name}.t", (f"{name}.a", 0), b"two", commit=True)
        until(lambda: end(cluster, (f"{name}.a", 0)) == 3)
        create_topic(writer.cluster, f"{name}.b", 1)
        writer.write((f"{name}.b", 0), b"three")
        until(lambda: bool(cluster.brokers.topics([f"{name}.b"])[0].partitions))
        until(lambda: end(cluster, (f"{name}.b", 0)) == 1)
    process.send_signal(signal.SIGINT)
    out, output = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert b'"records": 3' in out
    for topic in (f"{name}.a", f"{name}.b"):
        assert seen(target, topic) == seen(source, topic)
    writer.close()
