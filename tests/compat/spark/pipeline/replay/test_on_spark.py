"""odradek replay on Spark, at full speed: the same records, each once, whatever is run again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.commands import main
from odradek.compat.spark.pipeline.broker import Place, Producer, create_topic
from odradek.compat.spark.pipeline.engine import SparkEngine
from odradek.compat.spark.pipeline.replay import on_spark, planning
from odradek.wire.records import Record

from tests.compat.spark.pipeline.clusters import TIME, Writer, seen

Printed = pytest.CaptureFixture[str]
MAX = ("--speed", "max")
ON_SPARK = (*MAX, "--engine", "spark")


@pytest.fixture
def source(writer: Writer, kafka: Emulator) -> str:
    """Three partitions, keys and none, an aborted transaction."""
    create_topic(writer.cluster, "orders", 3)
    for number in range(60):
        key = None if number % 5 == 0 else b"k%d" % (number % 7)
        value = json.dumps({"n": number, "who": f"w{number % 4}"}).encode()
        writer.write(("orders", number % 3), value, value, key=key, time=TIME + number)
    writer.transaction("t", ("orders", 0), b"aborted", commit=False)
    return f"{kafka.bootstrap_servers}/orders"


def contents(found: dict[int, list[Record]]) -> dict[int, list[tuple[Any, ...]]]:
    return {index: [each[1:] for each in records] for index, records in found.items()}


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["topic", "directory", "parquet"])
@pytest.mark.parametrize("how", ["plain", "changed"])
def test_both_engines_send_the_same(
    kind: str,
    how: str,
    source: str,
    kafka: Emulator,
    target: str,
    replay: Any,
    tmp_path: Path,
    capsys: Printed,
) -> None:
    place = {"directory": f"{kafka.data_dir}/orders", "topic": source}.get(kind)
    if place is None:
        place = str(tmp_path / "orders.parquet")
        assert main(["export", source, place]) == 0
        capsys.readouterr()
    (tmp_path / "secret").write_text("hush")
    masks = ("--mask-keys", "--mask-value", "who", "--secret", str(tmp_path / "secret"))
    more = ("--partitions", "key", *masks, "--shift", "3600", "--where", "n=[0-5]$")
    changes = more if how == "changed" else ()
    report = [
        replay(place, f"{target}/{name}", *MAX, "--engine", name, *changes)
        for name in ("arrow", "spark")
    ]
    assert [each.pop("engine") for each in report] == ["arrow", "spark"]
    assert [each.pop("bytes") > 0 for each in report] == [True, True]
    assert report[0] == report[1]
    by_arrow, by_spark = (contents(seen(target, name)) for name in ("arrow", "spark"))
    assert sum(map(len, by_spark.values())) == report[0]["records"] > 0
    if how == "plain":
        assert by_spark == by_arrow == contents(seen(source.partition("/")[0], "orders"))
    else:  # partitions of the source come into one of the target in any order
        assert {n: sorted(each, key=str) for n, each in by_spark.items()} == {
            n: sorted(each, key=str) for n, each in by_arrow.items()
        }


class InProcess(SparkEngine):
    """Spark's tasks, run right here."""

    def __init__(self) -> None:
        super().__init__({})

    def start(self) -> None: ...

    def run(
        self, task: Callable[[Any], Any], pieces: Sequence[Any], size: int | None = None
    ) -> Iterator[tuple[int, Any]]:
        for number, piece in enumerate(pieces):
            yield number, task(piece)


@pytest.fixture
def _spark_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "choose", lambda *given, **more: InProcess())


@pytest.mark.usefixtures("_spark_in_process")
def test_a_replay_that_was_cut_short_goes_on_where_each_task_was(
    source: str, target: str, replay: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second task dies after its first batches; the third is not begun."""
    monkeypatch.setattr(on_spark, "STREAM_ROWS", 7)
    send, sent = Producer.send, []

    def failing(producer: Producer, batches: Mapping[Place, bytearray], **more: Any) -> Any:
        if len(sent) == 9:
            raise OSError("killed")
        sent.append(batches)
        return send(producer, batches, **more)

    with monkeypatch.context() as failure:
        failure.setattr(Producer, "send", failing)
        assert "killed" in replay(source, target, *MAX, status=2)["error"]
    report = replay(source, target, *MAX, status=2)["error"]
    assert "--resume goes on with it" in report
    assert "(at least 40 records were sent already: a new run would send them again)" in report
    assert [len(each) for each in seen(target, "orders").values()] == [40, 21, 0]
    monkeypatch.setattr(on_spark, "STREAM_ROWS", 11)
    assert replay(source, target, *MAX, "--resume")["records"] == 120
    theirs = seen(source.partition("/")[0], "orders")
    assert contents(seen(target, "orders")) == contents(theirs)


@pytest.mark.usefixtures("_spark_in_process")
def test_what_goes_on_has_the_engine_that_it_began_with(
    source: str, target: str, replay: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as failure:
        failure.setattr(Producer, "send", lambda *given, **more: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            replay(source, target, *MAX)
    for more, said in (
        (("--speed", "5"), "has the engine spark: give --speed max"),
        ((*MAX, "--engine", "arrow"), "has the engine spark: give that, or none"),
    ):
        assert said in replay(source, target, *more, "--resume", status=2)["error"]
    assert replay(source, target, *MAX, "--resume")["records"] == 120


def test_a_pace_is_kept_by_one_process(source: str, target: str, replay: Any) -> None:
    report = replay(source, target, "--engine", "spark", status=2)["error"]
    assert "--engine spark needs --speed max: one process keeps the pace" in report
