"""odradek replay: what arrives, when, and once."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from odradek import Emulator
from odradek.compat import RealKafka
from odradek.compat.commands import main
from odradek.compat.spark.pipeline.broker import Cluster, create_topic, find_topics
from odradek.compat.spark.pipeline.progress_line import ProgressLine
from odradek.compat.spark.pipeline.replay.playing import Player, ProgressFile
from odradek.compat.spark.pipeline.replay.sending import Sender
from odradek.compat.spark.pipeline.replay.streams import Position
from odradek.compat.spark.pipeline.replay.times import Pace
from odradek.compat.spark.pipeline.stopping import Stop
from odradek.wire.records import Record

from tests.compat.spark.pipeline.clusters import CONFIG, TIME, Writer, end, seen

COMMAND = [sys.executable, "-m", "odradek.compat.commands", "replay"]
Printed = pytest.CaptureFixture[str]


def contents(records: list[Record]) -> list[tuple[Any, ...]]:
    return [each[1:] for each in records]


def fill(writer: Writer, count: int = 6) -> None:
    """Two partitions with records at every tenth of a second, and an aborted one."""
    create_topic(writer.cluster, "orders", 2)
    for number in range(count):
        place = ("orders", number % 2)
        value = b'{"n": %d}' % number
        writer.write(place, value, key=b"k%d" % number, time=TIME + number * 100)
    writer.transaction("t", ("orders", 0), b"aborted", commit=False)


@pytest.mark.parametrize("kind", ["topic", "parquet", "jsonl", "csv", "folder"])
def test_all_kinds_of_places(
    kafka: Emulator,
    writer: Writer,
    target: str,
    replay: Any,
    tmp_path: Path,
    kind: str,
    capsys: Printed,
) -> None:
    fill(writer)
    source = f"{kafka.bootstrap_servers}/orders"
    place = source if kind == "topic" else str(tmp_path / f"out.{kind}").removesuffix(".folder")
    if kind != "topic":
        how = ("--format", "jsonl", "--partition-by", "date") if kind == "folder" else ()
        assert main(["export", source, place, *how]) == 0
        capsys.readouterr()
    found = replay(place, target, "--speed", "max")
    assert (found["records"], found["done"]) == (6, True)
    ours, theirs = seen(target, "orders"), seen(kafka.bootstrap_servers, "orders")
    for partition in (0, 1):
        assert contents(ours[partition]) == contents(theirs[partition])


def test_a_directory_into_one_topic(
    writer: Writer, target: str, replay: Any, kafka: Emulator
) -> None:
    fill(writer)
    replay(f"{kafka.data_dir}/orders", f"{target}/copy", "--speed", "max", "--codec", "zstd")
    with Cluster(target) as cluster:
        assert [topic.name for topic in find_topics(cluster)] == ["copy"]
    assert [len(each) for each in seen(target, "copy").values()] == [3, 3]


def test_the_pace_is_kept(
    writer: Writer, target: str, replay: Any, kafka: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The target notes when each record came: partitions wait for each other."""
    asked: list[float] = []
    now_ms = Pace.now_ms

    def noted(pace: Pace, first_due_ms: int) -> float:
        asked.append(time.time() * 1000)
        return now_ms(pace, first_due_ms)

    monkeypatch.setattr(Pace, "now_ms", noted)
    fill(writer, 10)
    with Cluster(target) as cluster:
        create_topic(cluster, "orders", 2, configs={"message.timestamp.type": "LogAppendTime"})
    began = time.monotonic()
    found = replay(f"{kafka.bootstrap_servers}/orders", target, "--speed", "2")
    assert time.monotonic() - began >= 0.45
    ours = seen(target, "orders")
    came = {
        int(json.loads(each.value or b"")["n"]): each for part in ours.values() for each in part
    }
    times = [came[number].timestamp for number in range(10)]
    # What is late goes out together, so only a partition's times must ascend.
    assert [sorted(times[n::2]) for n in (0, 1)] == [times[n::2] for n in (0, 1)]
    for number, at in enumerate(times):
        assert at >= asked[0] + number * 50 - 2, "not before its time"
    assert found["late_seconds"] < 1


def test_how_late_records_were_is_reported_in_time_that_passed_here(tmp_path: Path) -> None:
    """And not in that of the source, which runs as fast as it is told."""

    class AtOnce:
        plan, position = None, Position()
        dues: ClassVar = [0, 50_000]

        def due_ms(self) -> int | None:
            return self.dues[0] if self.dues else None

        def take(self, until_ms: float, *limits: int) -> None:
            self.dues.clear()

    pace = Pace(100.0)
    pace.now_ms(0)
    pace._began -= 20  # seconds ago: 2,000 of the source
    sender = Sender(SimpleNamespace(sequences={}), {}, None)  # type: ignore[arg-type]
    player = Player([AtOnce()], sender, ProgressFile(tmp_path / "state"))  # type: ignore[list-item]
    assert player.play(pace, Stop(), ProgressLine(quiet=True))
    assert 20_000 <= player.late_ms < 200_000


def test_times_are_shifted(writer: Writer, target: str, replay: Any, kafka: Emulator) -> None:
    fill(writer)
    source = f"{kafka.bootstrap_servers}/orders"
    replay(source, f"{target}/later", "--speed", "max", "--shift", "-3600.5")
    first = seen(target, "later")
    assert [each.timestamp for each in first[0]] == [TIME - 3_600_500 + n * 200 for n in range(3)]
    before = int(time.time() * 1000)
    replay(source, f"{target}/now", "--speed", "5", "--shift", "now")
    times = sorted(each.timestamp for part in seen(target, "now").values() for each in part)
    assert before <= times[0] <= before + 5000
    assert [at - times[0] for at in times] == [0, 20, 40, 60, 80, 100]


def test_records_are_chosen_and_masked(
    writer: Writer, target: str, replay: Any, kafka: Emulator, tmp_path: Path
) -> None:
    fill(writer)
    source = f"{kafka.bootstrap_servers}/orders"
    secret = tmp_path / "secret"
    secret.write_text("hush\n")
    chosen = ("--key", "[0-3]", "--since", str(TIME + 100), "--where", "n=[13]")
    masks = ("--mask-keys", "--mask-value", "n", "--secret", str(secret))
    found = replay(source, target, "--speed", "max", "--partition", "1", *chosen, *masks)
    assert found["records"] == 2
    (records,) = (part for part in seen(target, "orders").values() if part)
    assert [len(each.key or b"") for each in records] == [32, 32]
    assert len({json.loads(each.value or b"")["n"] for each in records}) == 2


def test_records_that_retention_takes_are_warned_of(
    replay: Any, tmp_path: Path, capsys: Printed
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"value": "a", "timestamp": 1700000000000}\n')
    with Emulator() as other:
        address = other.bootstrap_servers
        (warning,) = replay(str(file), address)["warnings"]
        assert (warning["topic"], warning["retention_ms"]) == ("rows", 604_800_000)
        kept = ("--topic-config", "retention.ms=-1")
        assert replay(str(file), f"{address}/kept", *kept)["warnings"] == []
        assert replay(str(file), f"{address}/rows", "--shift", "now")["warnings"] == []
        capsys.readouterr()
        assert main(["replay", str(file), address, "--state", str(tmp_path / "state")]) == 0
    assert "warning: topic rows has records of 2023-11-14 22:13:20" in capsys.readouterr().err


def test_by_key(writer: Writer, target: str, replay: Any, kafka: Emulator) -> None:
    fill(writer)
    source = f"{kafka.bootstrap_servers}/orders"
    with Cluster(target) as cluster:
        create_topic(cluster, "one", 1)
    report = replay(source, f"{target}/one", "--speed", "max", status=2)["error"]
    assert "topic one has 1 partitions, and there are records of partition 1" in report
    more = ("--speed", "max", "--partitions", "key")
    assert replay(source, f"{target}/one", *more)["records"] == 6
    assert len(seen(target, "one")[0]) == 6


def test_a_refused_replay_leaves_nothing_that_locks_the_right_one_out(
    target: str, replay: Any, tmp_path: Path
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1}\n')
    before = set(tmp_path.rglob("*"))
    for wrong in ("no.such=1", "retention.ms=x"):
        report = replay(str(file), target, "--topic-config", wrong, status=2)["error"]
        assert "topic rows cannot be created: INVALID_CONFIG" in report
    assert set(tmp_path.rglob("*")) == before
    assert replay(str(file), target)["records"] == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--mask-keys",), "masks are made with a secret"),
        (("--key", "("), "is no regular expression"),
    ],
)
def test_what_is_refused(
    target: str, replay: Any, arguments: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    assert expected in replay(str(tmp_path), target, *arguments, status=2)["error"]
    assert "is not of the form HOST:PORT" in replay("x", "nowhere", status=2)["error"]


@pytest.mark.parametrize(
    "option", ["--speed=0", "--speed=fast", "--shift=x", "--where=a", "--partition=-1"]
)
def test_options_that_are_none(option: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["replay", "a", "b:1", option])
    assert ended.value.code == 2


def test_records_without_a_time_or_a_topic(target: str, replay: Any, tmp_path: Path) -> None:
    """They are due at once; the file's name is the topic's."""
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1}\n{"a": 2}\n')
    assert replay(str(file), target, "--shift", "now")["records"] == 2
    assert [each.value for each in seen(target, "rows")[0]] == [b'{"a": 1}', b'{"a": 2}']


# Interrupted.


def start(place: str, target: str, state: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [*COMMAND, place, target, "--json", "--state", str(state), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.slow
def test_interrupted_and_resumed(
    writer: Writer, kafka: Emulator, target: str, replay: Any, tmp_path: Path
) -> None:
    fill(writer, 100)
    place = f"{kafka.bootstrap_servers}/orders"
    with Cluster(target) as cluster:
        create_topic(cluster, "orders", 2)
        process = start(place, target, tmp_path / "state")
        while end(cluster, ("orders", 0)) < 5:
            time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, output = process.communicate(timeout=60)
    assert process.returncode == 130, output
    found = json.loads(out)
    assert not found["done"]
    assert found["stopped_at"]["orders-0"]["offset"] == len(seen(target, "orders")[0])
    assert replay(place, target, "--resume", "--speed", "max")["records"] == 100
    ours, theirs = seen(target, "orders"), seen(kafka.bootstrap_servers, "orders")
    assert [contents(ours[n]) for n in (0, 1)] == [contents(theirs[n]) for n in (0, 1)]


@pytest.fixture
def any_target(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "ours":
        yield request.getfixturevalue("target")
        return
    with RealKafka(config=CONFIG) as real:
        yield real.bootstrap_servers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("any_target", "kind"),
    [
        ("ours", "topic"),
        ("ours", "parquet"),
        pytest.param("real", "topic", marks=[pytest.mark.real, pytest.mark.long]),
        pytest.param("real", "parquet", marks=[pytest.mark.real, pytest.mark.long]),
    ],
    indirect=["any_target"],
)
def test_killed_and_resumed(
    writer: Writer,
    kafka: Emulator,
    any_target: str,
    replay: Any,
    tmp_path: Path,
    kind: str,
    capsys: Printed,
) -> None:
    create_topic(writer.cluster, "orders", 2)
    for number in range(20):
        values = [b"%d-%d" % (number, each) + b"x" * 2000 for each in range(400)]
        writer.write(("orders", number % 2), *values)
    place = f"{kafka.bootstrap_servers}/orders"
    if kind == "parquet":
        assert main(["export", place, str(tmp_path / "o.parquet")]) == 0
        place = str(tmp_path / "o.parquet")
        capsys.readouterr()
    chance, early = random.Random(3), 0
    with Cluster(any_target) as cluster:
        create_topic(cluster, "orders", 2)
        for run in range(2):
            more = ("--resume",) if run else ()
            wanted = sum(end(cluster, ("orders", n)) for n in (0, 1)) + chance.randrange(1, 1500)
            process = start(place, any_target, tmp_path / "state", "--speed", "max", *more)
            while sum(end(cluster, ("orders", n)) for n in (0, 1)) < wanted:
                if process.poll() is not None:
                    break
                time.sleep(0.001)
            early += process.poll() is None
            process.kill()
            _, output = process.communicate()
            assert process.returncode == -signal.SIGKILL, output
    assert early > 0
    assert replay(place, any_target, "--resume", "--speed", "max")["records"] == 8_000
    ours, theirs = seen(any_target, "orders"), seen(kafka.bootstrap_servers, "orders")
    assert [contents(ours[n]) for n in (0, 1)] == [contents(theirs[n]) for n in (0, 1)]
