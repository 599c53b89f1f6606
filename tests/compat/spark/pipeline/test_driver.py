"""Past one machine: what Spark's driver is sent for a command does not grow with the rows.

What counts is measured: the bytes of each task's result, with accumulators, as Spark's own metrics
have them. Twenty times the rows in as many pieces must not make them larger: a result that held so
much as a byte of each row would.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from odradek import Emulator
from odradek.compat.commands import main

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FEW, MANY = 2_000, 40_000
PARTITIONS = 2
SLACK_BYTES = 4_096
"""Numbers have more digits, and a sketch fills up to its bound."""
MOST_BYTES = 64 << 10
"""What a task sends at most, as docs/spark.md says."""


class Sent(NamedTuple):
    """What the tasks of some jobs sent to the driver."""

    tasks: int
    most_bytes: int


@pytest.fixture
def sent(spark: Any) -> Callable[[Callable[[], object]], Sent]:
    """Runs something on Spark, and tells what its tasks sent."""
    context = spark.sparkContext
    scala = context._jsc.sc()
    tracker = context.statusTracker()

    def run(work: Callable[[], object]) -> Sent:
        before = set(tracker.getJobIdsForGroup())
        work()
        scala.listenerBus().waitUntilEmpty()
        jobs = set(tracker.getJobIdsForGroup()) - before
        stages = {stage for job in jobs for stage in tracker.getJobInfo(job).stageIds}
        seen = [scala.statusStore().lastStageAttempt(stage) for stage in stages]
        ran = [each for each in seen if each.numCompleteTasks()]
        tasks = sum(each.numCompleteTasks() for each in ran)
        return Sent(tasks, max(each.resultSize() // each.numCompleteTasks() for each in ran))

    return run


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Has a file of few rows and one of many, and directories with their topics."""
    found = tmp_path_factory.mktemp("places")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(found / "state"))
        for count in (FEW, MANY):
            rows = ({"key": f"k{n % 500}", "value": f"value {n}" * 3} for n in range(count))
            file = found / f"{count}.jsonl"
            file.write_text("".join(json.dumps(row) + "\n" for row in rows))
            for data in (f"data-{count}", f"copy-{count}"):
                load = ["load", str(file), f"{found / data}/t", "--create-topic", f"{PARTITIONS}"]
                assert main([*load, "--quiet"]) == 0
    return found


COMMANDS = [
    "load {n}.jsonl new-{n}/t --create-topic 2",
    "load {n}.jsonl {broker}/t-{n} --create-topic 2",
    "load {n}.jsonl {broker}/sink-{n} --create-topic 2 --sink connector",
    "export data-{n}/t out-{n} --format parquet",
    "diff data-{n}/t copy-{n}/t --ignore timestamp",
    "diff data-{n}/t copy-{n}/t --by key --ignore timestamp",
    "audit data-{n}",
    "profile data-{n}/t",
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split(" data")[0])
def test_what_the_driver_is_sent_does_not_grow_with_the_rows(
    command: str,
    sent: Callable[[Callable[[], object]], Sent],
    kafka: Emulator,
    places: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(places)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def work(count: int) -> None:
        arguments = command.format(n=count, broker=kafka.bootstrap_servers).split()
        assert main([*arguments, "--engine", "spark", "--quiet"]) == 0

    few, many = (sent(partial(work, count)) for count in (FEW, MANY))
    assert few.tasks == many.tasks
    assert many.most_bytes < few.most_bytes + SLACK_BYTES
    assert many.most_bytes < MOST_BYTES


def test_rows_that_are_sent_would_be_seen(
    spark: Any, sent: Callable[[Callable[[], object]], Sent]
) -> None:
    """Else the test above could not fail."""
    few, many = (sent(spark.range(0, count, numPartitions=2).collect) for count in (FEW, MANY))
    assert few.tasks == many.tasks == 2
    assert many.most_bytes > few.most_bytes + SLACK_BYTES
