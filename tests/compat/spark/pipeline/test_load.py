"""`odradek load`: into topics and into segments, each record once, with both engines the same."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.commands import main
from odradek.compat.spark.pipeline import engine as engine_module
from odradek.compat.spark.pipeline import files as files_module
from odradek.compat.spark.pipeline import rows as rows_module
from odradek.compat.spark.pipeline.broker import producing
from odradek.compat.spark.pipeline.load import to_connector, to_directory
from odradek.compat.spark.pipeline.places import place
from odradek.compat.spark.segments.schema import RECORD_COLUMNS
from odradek.compat.spark.segments.wanted import Wanted
from odradek.compat.wire_client.produced import murmur2

from tests.compat.spark.pipeline.support import Filled

SPARK = pytest.param("spark", marks=pytest.mark.spark)
ENGINES = pytest.mark.parametrize("engine", ["arrow", SPARK])
NO_RETENTION = {"log.retention.ms": -1}


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(NO_RETENTION, topics={"orders": 3}) as emulator:
        yield emulator


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def _in_many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "SPLIT_BYTES", 4000)
    monkeypatch.setattr("odradek.compat.spark.pipeline.engine.IN_PROCESS_BYTES", 0)


def load(*arguments: object, status: int = 0) -> None:
    assert main(["load", *map(str, arguments)]) == status


def records(text: object, *but: str) -> list[dict[str, Any]]:
    wanted = Wanted(columns=tuple(name for name in RECORD_COLUMNS if name not in but))
    splits = place(str(text)).splits(wanted)
    return [row for each in splits for batch in each.read(wanted) for row in batch.to_pylist()]


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def numbered(path: Path, count: int = 1000) -> Path:
    return lines(path, *({"id": n if n % 3 else None, "n": n} for n in range(count)))


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("decode", ["text", "base64"])
@pytest.mark.parametrize("target", ["topic", "directory"])
def test_what_was_exported_is_loaded_byte_for_byte(
    format: str, decode: str, target: str, filled: Filled, kafka: Emulator, tmp_path: Path
) -> None:
    out = tmp_path / f"out.{format}"
    assert main(["export", filled.path, str(out), "--decode", decode]) == 0
    (tmp_path / "data").mkdir()
    to = f"{kafka.bootstrap_servers}/orders" if target == "topic" else tmp_path / "data/orders"
    load(out, to, "--create-topic", 3, "--codec", "zstd")
    # Offsets of an aborted transaction and of markers are not there.
    assert records(to, "offset") == records(filled.path, "offset")


@ENGINES
@pytest.mark.parametrize("target", ["topic", "directory"])
@pytest.mark.usefixtures("_in_many_pieces")
def test_both_engines_write_the_same(
    engine: str, target: str, kafka: Emulator, tmp_path: Path
) -> None:
    path = numbered(tmp_path / "in.jsonl")
    (tmp_path / "data").mkdir()
    to = f"{kafka.bootstrap_servers}/orders" if target == "topic" else tmp_path / "data/orders"
    load(path, to, "--create-topic", 3, "--key", "id", "--engine", engine)
    found = records(to)
    assert sorted(json.loads(row["value"])["n"] for row in found) == list(range(1000))
    for row in found:
        value = json.loads(row["value"])
        assert row["key"] == (None if value["id"] is None else str(value["id"]).encode())
        if row["key"] is not None:
            assert row["partition"] == (murmur2(row["key"]) & 0x7FFFFFFF) % 3
    turns = [sum(row["key"] is None and row["partition"] == n for row in found) for n in range(3)]
    assert max(turns) - min(turns) < 20
    if target == "directory":  # one piece after the other
        for partition in range(3):
            mine = [json.loads(row["value"])["n"] for row in found if row["partition"] == partition]
            assert mine == sorted(mine)


def test_columns_make_up_the_record(kafka: Emulator, tmp_path: Path) -> None:
    row = {"id": 7, "text": "é", "to": 2, "when": "2026-01-02T03:04:05Z", "with": {"a": "1"}}
    path = lines(tmp_path / "in.jsonl", row)
    names = ("--key", "id", "--value", "text", "--partition", "to", "--timestamp", "when")
    load(path, f"{kafka.bootstrap_servers}/orders", *names, "--headers", "with")
    (found,) = kafka.topic("orders")[2].records()
    assert (found.key, found.value) == (b"7", "é".encode())
    assert found.headers == (("a", b"1"),)
    assert found.timestamp == 1_767_323_045_000


def test_records_go_to_the_topic_of_their_column(kafka: Emulator, tmp_path: Path) -> None:
    rows = [{"value": str(n), "topic": f"t{n % 2}"} for n in range(6)]
    path = lines(tmp_path / "in.jsonl", *rows)
    load(path, kafka.bootstrap_servers, status=2)
    load(path, kafka.bootstrap_servers, "--create-topic", 2)
    assert [sorted(value or b"" for value in kafka.topic(f"t{n}").values()) for n in (0, 1)] == [
        [b"0", b"2", b"4"],
        [b"1", b"3", b"5"],
    ]
    with Emulator(data_dir=tmp_path / "data", topics={"t0": 1}):
        pass
    load(path, tmp_path / "data", "--create-topic", 2)
    with Emulator(data_dir=tmp_path / "data") as other:
        assert other.topic("t0").values() == [b"0", b"2", b"4"]
        assert len(other.topic("t1")) == 2
        assert sorted(value or b"" for value in other.topic("t1").values()) == [b"1", b"3", b"5"]


def test_a_broker_opens_what_was_loaded_and_goes_on(tmp_path: Path) -> None:
    path = numbered(tmp_path / "in.jsonl", 50)
    load(path, tmp_path / "data/orders", "--create-topic", 2)
    with Emulator(NO_RETENTION, data_dir=tmp_path / "data") as kafka:
        assert len(kafka.topic("orders").values()) == 50
        load(path, f"{kafka.bootstrap_servers}/orders")
        assert len(kafka.topic("orders").values()) == 100
        load(path, tmp_path / "data/orders", status=2)  # it is in use
    load(path, tmp_path / "data/orders")
    with Emulator(NO_RETENTION, data_dir=tmp_path / "data") as kafka:
        assert len(kafka.topic("orders").values()) == 150
    offsets = [(row["partition"], row["offset"]) for row in records(tmp_path / "data/orders")]
    ends = [sum(partition == index for partition, _ in offsets) for index in range(2)]
    assert offsets == [(index, offset) for index in range(2) for offset in range(ends[index])]


@pytest.mark.usefixtures("_in_many_pieces")
def test_a_load_into_a_topic_goes_on_where_it_was_killed(kafka: Emulator, tmp_path: Path) -> None:
    path = numbered(tmp_path / "in.jsonl", 4000)
    command = ["load", str(path), f"{kafka.bootstrap_servers}/orders", "--key", "id"]
    for how in (signal.SIGKILL, signal.SIGINT, signal.SIGKILL):
        again = ["--resume"] * (how != signal.SIGKILL or len(kafka.topic("orders").values()) > 0)
        count = len(kafka.topic("orders").values())
        process = subprocess.Popen([sys.executable, "-c", SLOW, *command, *again])
        deadline = time.monotonic() + 30
        while len(kafka.topic("orders").values()) < count + 300:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(how)
        assert process.wait(60) == (130 if how == signal.SIGINT else -9)
    assert 900 <= len(kafka.topic("orders").values()) < 4000
    load(*command[1:], status=2)
    load(*command[1:], "--resume")
    found = [json.loads(value or b"")["n"] for value in kafka.topic("orders").values()]
    assert sorted(found) == list(range(4000))
    assert not any((tmp_path / "state").rglob("*.jsonl"))


@pytest.mark.usefixtures("_in_many_pieces")
def test_each_partition_has_the_records_in_the_order_of_the_file(
    kafka: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "IN_PROCESS_BYTES", 0)  # by several processes
    path = numbered(tmp_path / "in.jsonl", 4000)
    load(path, f"{kafka.bootstrap_servers}/orders", "--key", "id")
    for partition in kafka.topic("orders"):
        found = [json.loads(value or b"")["n"] for value in partition.values()]
        assert found
        assert found == sorted(found)


SLOW = """
import sys, time
from odradek.compat.commands import main
from odradek.compat.spark.pipeline import files, rows
from odradek.compat.spark.pipeline import rows as rows_module
from odradek.compat.spark.pipeline.broker import producing
files.SPLIT_BYTES = 4000
rows.CHUNK_BYTES = 700
whole = producing.produce
def produce(*given, **named):
    time.sleep(0.02)
    return whole(*given, **named)
producing.produce = produce
sys.exit(main(sys.argv[1:]))
"""


def test_an_answer_that_was_lost_is_no_second_record(
    kafka: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The records are written, the load is not told of it, and goes on."""
    path = numbered(tmp_path / "in.jsonl", 30)
    whole = producing.produce

    def produce(*given: Any, **named: Any) -> Any:
        whole(*given, **named)
        raise OSError(104, "Connection reset by peer")

    monkeypatch.setattr(producing, "produce", produce)
    load(path, f"{kafka.bootstrap_servers}/orders", status=2)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert len(kafka.topic("orders").values()) > 0
    load(path, f"{kafka.bootstrap_servers}/orders", "--resume")
    assert len(kafka.topic("orders").values()) == 30


@pytest.mark.usefixtures("_in_many_pieces")
def test_segments_are_there_when_all_of_them_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = numbered(tmp_path / "in.jsonl", 1000)
    whole = to_directory._publish
    published: list[Any] = []

    def publish(staged: Any, crc: int, was_begun: bool) -> bool:
        if len(published) == 1:
            raise OSError(28, "No space left on device")
        published.append(staged)
        return whole(staged, crc, was_begun)

    monkeypatch.setattr(to_directory, "_publish", publish)
    data = tmp_path / "data"
    load(path, data / "orders", "--create-topic", 2, status=2)
    assert [row["partition"] for row in records(data / "orders")] == [0] * 500
    monkeypatch.setattr(to_directory, "_publish", whole)
    load(path, data / "orders", "--create-topic", 2, "--resume")
    assert len(records(data / "orders")) == 1000
    assert not [name for name in os.listdir(data) if name.endswith("-delete")]


def values(place: Path) -> list[int]:
    return [json.loads(row["value"])["n"] for row in records(place)]


def test_a_load_that_was_killed_while_it_published_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before and after each file that is moved into a partition that has some already."""
    path, data = numbered(tmp_path / "in.jsonl", 10), tmp_path / "data"
    load(path, data / "orders", "--create-topic", 1)
    whole, moved = os.replace, 0
    for count in range(1, 20):
        moves: list[str] = []

        def replace(old: Any, new: Any, *, most: int = count, moves: list[str] = moves) -> None:
            if str(new).startswith(f"{data}/orders-0/"):
                if len(moves) == most:
                    raise OSError(5, "I/O error")
                moves.append(str(new))
            whole(old, new)

        monkeypatch.setattr(os, "replace", replace)
        monkeypatch.setattr(to_directory, "_STAGED_SEGMENT_BYTES", 300)
        before = values(data / "orders")
        killed = main(["load", str(path), str(data / "orders")])
        monkeypatch.setattr(os, "replace", whole)
        if not killed:
            break
        moved += 1
        load(path, data / "orders", "--resume")
        assert values(data / "orders") == before + list(range(10))
        assert not list(data.glob("*-delete"))
    assert moved > 2
    with Emulator(NO_RETENTION, data_dir=data) as kafka:
        assert len(kafka.topic("orders").values()) == 10 * (moved + 2)


def test_what_a_broker_wrote_meanwhile_is_not_taken_for_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Interrupted while it published; then a broker is started, and written to."""
    path, data = numbered(tmp_path / "in.jsonl", 10), tmp_path / "data"
    load(path, data / "orders", "--create-topic", 1)
    monkeypatch.setattr(
        to_directory, "publish", lambda staged: (_ for _ in ()).throw(OSError(5, "I/O error"))
    )
    load(path, data / "orders", status=2)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Emulator(NO_RETENTION, data_dir=data) as kafka:
        kafka.topic("orders").produce_all([json.dumps({"n": 100 + n}) for n in range(20)])
    load(path, data / "orders", "--resume", status=2)
    assert "was written to from offset 10 on while new segments" in capsys.readouterr().err
    assert values(data / "orders") == [*range(10), *range(100, 120)]


@pytest.mark.usefixtures("_in_many_pieces")
def test_pieces_that_a_broker_has_removed_are_staged_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = numbered(tmp_path / "in.jsonl", 1000)
    whole = to_directory._Load.merge
    monkeypatch.setattr(
        to_directory._Load,
        "merge",
        lambda load: (_ for _ in ()).throw(OSError(28, "No space left")),
    )
    data = tmp_path / "data"
    load(path, data / "orders", "--create-topic", 2, status=2)
    assert not list(data.glob("orders-*/*.log"))
    with Emulator(data_dir=data):
        pass  # removes what is not under a final name
    monkeypatch.setattr(to_directory._Load, "merge", whole)
    load(path, data / "orders", "--create-topic", 2, "--resume")
    assert len(records(data / "orders")) == 1000


@pytest.mark.spark
def test_the_stock_sink_writes_the_same_but_for_times(
    kafka: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = numbered(tmp_path / "in.jsonl", 100)
    kafka.create_topic("other", partitions=3)
    load(path, f"{kafka.bootstrap_servers}/orders", "--key", "id")
    capsys.readouterr()
    load(path, f"{kafka.bootstrap_servers}/other", "--key", "id", "--sink", "connector")
    assert "timestamps are those of writing" in capsys.readouterr().out
    one, other = (
        sorted(
            (row["key"] or b"", row["value"], row["partition"] if row["key"] else -1)
            for row in records(f"{kafka.bootstrap_servers}/{topic}")
        )
        for topic in ("orders", "other")
    )
    assert one == other


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("in.jsonl", "BROKER/other"), "there is no topic other at"),
        (("in.jsonl", "BROKER/*"), "is no name of a topic"),
        (("in.jsonl", "BROKER"), "a record has no topic: name one in PLACE"),
        (("in.jsonl", "BROKER/orders", "--key", "no"), "there is no column no, but id, n"),
        (
            ("in.jsonl", "BROKER/orders", "--partition", "n"),
            "in.jsonl goes to partition 3, but topic orders has 3 partitions (0 to 2)",
        ),
        (("missing.csv", "BROKER/orders"), "missing.csv: no such file or directory"),
        (("in.jsonl", "127.0.0.1:1/orders"), "no broker at 127.0.0.1:1"),
        (
            ("in.jsonl", "data/orders"),
            "data has no topic orders: --create-topic PARTITIONS makes it",
        ),
        (
            ("in.jsonl", "a/b/c/orders", "--create-topic", "1"),
            "neither HOST:PORT/TOPIC nor a data directory",
        ),
        (
            ("in.jsonl", "./orders", "--create-topic", "1"),
            "a record has no topic: name one in PLACE",
        ),
        (("in.jsonl", "BROKER/orders", "--resume"), "there is nothing to resume"),
        (("in.jsonl", "BROKER/order"), "did you mean orders? (--create-topic PARTITIONS makes it)"),
        (("in.jsonl", "BROKER/orders", "--headers", "n"), "in.jsonl: not headers, a list of keys"),
        (("BROKER/orders", "in.jsonl"), "in.jsonl is a file: what to write to comes last"),
        (("in.jsonl", "in.jsonl/orders"), "in.jsonl is a file, and no data directory"),
        (("in.jsonl", "localhost/orders"), "of a broker the place is HOST:PORT/TOPIC"),
        (
            ("in.jsonl", "/proc/x/orders", "--create-topic", "1"),
            "/proc/x: No such file or directory",
        ),
        (
            ("in.jsonl", "BROKER/orders", "--topic-config", "retention.ms=-1"),
            "--topic-config is for topics that --create-topic PARTITIONS makes",
        ),
        (("in.jsonl", "data/x", "--create-topic", "1", "--sink", "connector"), "no segment files"),
        (
            ("in.jsonl", "BROKER/orders", "--sink", "connector", "--timestamp", "n"),
            "no --timestamp",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    arguments: tuple[str, ...],
    said: str,
    kafka: Emulator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    numbered(tmp_path / "in.jsonl", 10)
    load(*(each.replace("BROKER", kafka.bootstrap_servers) for each in arguments), status=2)
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert os.listdir(tmp_path) == ["in.jsonl"]


def test_a_setting_of_a_topic_is_none_of_spark(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["load", "a.csv", "b:1/c", "--conf", "retention.ms=-1"])
    assert ended.value.code == 2
    assert "a topic's are set by --topic-config" in capsys.readouterr().err


def test_what_another_load_wrote_meanwhile_stays_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted when its segments have their offsets, and before any is published."""
    path, data = numbered(tmp_path / "in.jsonl", 10), tmp_path / "data"
    other = lines(tmp_path / "other.jsonl", {"n": 100})
    load(other, data / "orders", "--create-topic", 1)
    monkeypatch.setattr(to_directory, "_fits", lambda staged: (_ for _ in ()).throw(OSError(5, "")))
    load(path, data / "orders", status=2)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    load(other, data / "orders")
    load(path, data / "orders", "--resume")
    assert values(data / "orders") == [100, 100, *range(10)]
    assert not list(data.glob("*-delete"))


def test_the_state_beside_the_files_is_none_of_them(kafka: Emulator, tmp_path: Path) -> None:
    numbered(tmp_path / "in.jsonl", 10)
    state = ("--state", tmp_path / "noted.jsonl")
    load(tmp_path, f"{kafka.bootstrap_servers}/orders", *state)
    assert len(kafka.topic("orders").values()) == 10


def test_a_file_without_rows_is_a_file(
    kafka: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.jsonl").touch()
    load(tmp_path / "in.jsonl", f"{kafka.bootstrap_servers}/orders")
    assert capsys.readouterr().out.startswith("1 file, 0 B\n0 records written")
    load(tmp_path / "in.jsonl", tmp_path / "data/orders", "--create-topic", 1)
    assert records(tmp_path / "data/orders") == []


def everything_below(path: Path) -> set[str]:
    return {str(each.relative_to(path)) for each in path.rglob("*")}


@pytest.mark.parametrize(
    "wrong",
    [
        ("--key", "idd"),
        ("--value", "no"),
        ("--timestamp", "text"),
        ("--partition", "n"),
        ("--topic-config", "retention.ms=soon"),
        ("--topic-config", "no.such=1"),
        pytest.param(("--engine", "spark", "--key", "idd"), marks=pytest.mark.spark),
    ],
)
@pytest.mark.parametrize("target", ["topic", "directory"])
def test_a_refused_load_leaves_nothing_that_locks_the_right_one_out(
    wrong: tuple[str, ...], target: str, kafka: Emulator, tmp_path: Path
) -> None:
    path = lines(tmp_path / "in.jsonl", *({"id": n, "text": "t", "n": n + 7} for n in range(5)))
    to = f"{kafka.bootstrap_servers}/new" if target == "topic" else tmp_path / "data/new"
    before = everything_below(tmp_path)
    load(path, to, "--create-topic", 3, *wrong, status=2)
    assert everything_below(tmp_path) == before
    assert kafka.topics() == ["orders"]
    load(path, to, "--create-topic", 3, "--key", "id")
    assert len(records(to)) == 5


def test_a_load_is_resumed_from_another_directory(
    kafka: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one of another file with the same relative path is another load."""
    whole = producing.produce
    monkeypatch.setattr(
        producing, "produce", lambda *given, **named: (_ for _ in ()).throw(OSError(104, "reset"))
    )
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        numbered(tmp_path / name / "in.jsonl", 10)
        monkeypatch.chdir(tmp_path / name)
        load("in.jsonl", f"{kafka.bootstrap_servers}/orders", status=2)
    monkeypatch.setattr(producing, "produce", whole)
    monkeypatch.chdir(tmp_path)
    load("one/in.jsonl", f"{kafka.bootstrap_servers}/orders", "--resume")
    monkeypatch.chdir(tmp_path / "other")
    load("../other/in.jsonl", f"{kafka.bootstrap_servers}/orders", "--resume")
    assert len(kafka.topic("orders").values()) == 20


def test_a_file_that_changed_is_not_resumed(
    kafka: Emulator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = numbered(tmp_path / "in.jsonl", 10)
    monkeypatch.setattr(
        producing, "produce", lambda *given, **named: (_ for _ in ()).throw(OSError(104, "reset"))
    )
    load(path, f"{kafka.bootstrap_servers}/orders", status=2)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    numbered(path, 11)
    load(path, f"{kafka.bootstrap_servers}/orders", "--resume", status=2)
    assert f"{path} has changed since the run that is to go on: remove" in capsys.readouterr().err
    assert kafka.topic("orders").values() == []


INTO_SEGMENTS = """
import os, sys, time
from odradek.compat.commands import main
from odradek.compat.spark.pipeline import engine, files, rows
from odradek.compat.spark.pipeline.state import State
files.SPLIT_BYTES, rows.CHUNK_BYTES = 4000, 700
finish = State.finish_piece
def finish_piece(state, number, result):
    time.sleep(0.02)
    finish(state, number, result)
    time.sleep(0.02)
State.finish_piece = finish_piece
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.long)]
)
def test_a_load_into_a_directory_goes_on_where_it_was_killed(
    how: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whatever step: pieces, merging, publishing. Twice, to append to what is there, too."""
    path, data = numbered(tmp_path / "in.jsonl", 1000), tmp_path / "data"
    command = ["load", str(path), str(data / "orders"), "--create-topic", "2", "--key", "id"]
    state = ["--state", str(tmp_path / "noted")]
    for times in (1, 2):
        steps, early = 0, 0
        while True:
            more = ["--resume"] * (steps > 0)
            process = subprocess.Popen(
                [sys.executable, "-c", INTO_SEGMENTS, *command, *state, *more]
            )
            deadline = time.monotonic() + 30
            steps += 2
            while process.poll() is None and len(noted(tmp_path)) < steps:
                assert time.monotonic() < deadline
                time.sleep(0.005)
            process.send_signal(how)
            if process.wait(60) == 0:
                break
            early += 1
            assert (tmp_path / "noted").exists()
            if how == signal.SIGINT:  # the others are named by the state
                staged = "".join(noted(tmp_path))
                assert all(each.name in staged for each in data.glob("*-delete"))
        assert early > 2
        assert sorted(values(data / "orders")) == sorted([*range(1000)] * times)
        assert not list(data.glob("*-delete"))
        assert not (tmp_path / "noted").exists()
    assert main(["audit", str(data)]) == 0
    with Emulator(NO_RETENTION, data_dir=data) as kafka:
        assert len(kafka.topic("orders").values()) == 2000


def noted(folder: Path) -> list[str]:
    path = folder / "noted"
    return path.read_text().splitlines() if path.exists() else []


def old(path: Path, kept_ms: int) -> Path:
    """Two records, of which one is older than that."""
    now = int(time.time() * 1000)
    rows = [{"value": "new", "timestamp": now}, {"value": "old", "timestamp": now - kept_ms - 5000}]
    return lines(path, *rows)


@pytest.mark.parametrize("target", ["topic", "directory"])
def test_records_that_retention_takes_are_warned_of(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = old(tmp_path / "in.jsonl", 604_800_000)
    with Emulator() as kafka:

        def place(topic: str) -> str:
            at = kafka.bootstrap_servers if target == "topic" else tmp_path / "data"
            return f"{at}/{topic}"

        load(path, place("short"), "--create-topic", 1)
        out, err = capsys.readouterr()
        assert "keeps them for 7 days (retention.ms=604800000)" in err
        assert err.startswith("odradek: warning: topic short has records of 20")
        assert err.count("\n") == 1
        assert err.removeprefix("odradek: ") in out
        load(path, place("short"), "--json")
        (warning,) = json.loads(capsys.readouterr().out)["warnings"]
        assert (warning["topic"], warning["retention_ms"]) == ("short", 604_800_000)
        for number, config in enumerate(
            ("retention.ms=-1", "cleanup.policy=compact", "message.timestamp.type=LogAppendTime")
        ):
            load(
                path,
                place(f"kept{number}"),
                "--create-topic",
                1,
                "--topic-config",
                config,
                "--json",
                "--key",
                "value",
            )
            out, err = capsys.readouterr()
            assert (json.loads(out)["warnings"], err) == ([], "")
        load(path, place("tiny"), "--create-topic", 1, "--config", "retention.ms=1000")
        assert "keeps them for 0:00:01" in capsys.readouterr().err


def test_the_summary_is_text_or_json(
    kafka: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = numbered(tmp_path / "in.jsonl", 10)
    load(path, f"{kafka.bootstrap_servers}/orders")
    out, err = capsys.readouterr()
    assert out.startswith(f"1 file, {path.stat().st_size} B\n10 records written to ")
    assert err == ""
    load(path, f"{kafka.bootstrap_servers}/orders", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["files"], found["engine"]) == (10, 1, "arrow")


def test_a_record_whose_partition_is_not_there_is_named(
    kafka: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"value": "1", "partition": n, "topic": "few"} for n in (0, 1, 2, 3)]
    path = lines(tmp_path / "in.jsonl", {"value": "1", "partition": 0, "topic": "aaa"}, *rows)
    for to in (kafka.bootstrap_servers, f"{kafka.bootstrap_servers}/few"):
        load(path, to, "--create-topic", 2, status=2)
        assert capsys.readouterr().err == (
            f"odradek: record 4 of {path} goes to partition 2, "
            "but topic few has 2 partitions (0 and 1)\n"
        )


def test_a_load_whose_directory_is_gone_names_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, data, state = numbered(tmp_path / "in.jsonl", 10), tmp_path / "data", tmp_path / "noted"
    to = (path, data / "orders", "--create-topic", 1, "--state", state)
    failing = lambda load: (_ for _ in ()).throw(OSError(28, "No space left"))  # noqa: E731
    monkeypatch.setattr(to_directory._Load, "merge", failing)
    load(*to, status=2)
    monkeypatch.undo()
    said = f"has gone since the run that is to go on: remove {state} to begin again\n"
    for removed, what in ((data / "orders-0", f"topic orders in {data}"), (data, data)):
        shutil.rmtree(removed)
        capsys.readouterr()
        load(*to, "--resume", status=2)
        assert capsys.readouterr().err == f"odradek: {what} {said}"
    state.unlink()
    load(*to)
    assert values(data / "orders") == list(range(10))


@pytest.mark.usefixtures("_in_many_pieces")
@pytest.mark.parametrize("is_named", [True, False])
def test_a_load_that_fails_late_tells_what_it_has_written(
    is_named: bool,
    kafka: Emulator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And so does one that cannot go on, as its file was mended; until the topic is empty."""
    monkeypatch.setattr(rows_module, "CHUNK_BYTES", 700)
    kafka.topic("orders")[1].produce(b"of another")
    rows = [{"value": str(n), "partition": n % 2, "topic": "orders"} for n in range(200)]
    path = lines(tmp_path / "in.jsonl", *rows)
    whole, broken = path.read_bytes(), path.stat().st_size
    path.write_bytes(whole + b"broken\n")
    to = f"{kafka.bootstrap_servers}/orders" if is_named else kafka.bootstrap_servers
    load(path, to, status=2)
    count = len(kafka.topic("orders").values()) - 1
    assert 0 < count < 200
    zeros, ones = len(kafka.topic("orders")[0].values()), len(kafka.topic("orders")[1].values()) - 1
    there = (
        f"({count} records are there (orders-0: {zeros}, orders-1: {ones}) already: --resume goes "
        "on after them with the same files, a new run would write them again: empty or delete the "
        "topic before one)\n"
    )
    said = capsys.readouterr().err
    assert said.startswith(f"odradek: {path}, line at byte {broken}: no JSON object: broken")
    assert said.endswith(there)
    load(path, to, status=2)
    said = capsys.readouterr().err
    assert "is of a run that did not end: --resume goes on with it" in said
    assert said.endswith(there)
    path.write_bytes(whole + b"{}\n")
    load(path, to, "--resume", status=2)
    said = capsys.readouterr().err
    assert "in.jsonl has changed since the run that is to go on: remove" in said
    assert said.endswith(there)
    kafka.topic("orders").empty()
    load(path, to, "--resume", status=2)
    assert "already" not in capsys.readouterr().err


@pytest.mark.usefixtures("_in_many_pieces")
def test_a_load_that_goes_on_with_other_options_tells_what_it_has_written(
    kafka: Emulator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also if these name another topic."""
    monkeypatch.setattr(rows_module, "CHUNK_BYTES", 700)
    path = numbered(tmp_path / "in.jsonl")
    path.write_bytes(path.read_bytes() + b"broken\n")
    state = ("--state", tmp_path / "state")
    load(path, f"{kafka.bootstrap_servers}/orders", *state, status=2)
    count = len(kafka.topic("orders").values())
    kafka.create_topic("other")
    capsys.readouterr()
    load(path, f"{kafka.bootstrap_servers}/other", *state, "--resume", status=2)
    said = capsys.readouterr().err
    assert "is of a run with another place: give the same" in said
    assert f"({count:,} records are there (orders-0: " in said


def test_a_load_that_has_published_some_partitions_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, data = numbered(tmp_path / "in.jsonl", 100), tmp_path / "data"
    whole, published = to_directory._publish, []

    def failing(*given: Any) -> bool:
        if published:
            raise OSError("no more")
        published.append(given)
        return whole(*given)

    monkeypatch.setattr(to_directory, "_publish", failing)
    load(path, f"{data}/orders", "--create-topic", 3, status=2)
    count = len(values(data / "orders"))
    assert 0 < count < 100
    capsys.readouterr()
    load(path, f"{data}/orders", "--create-topic", 3, status=2)
    said = capsys.readouterr().err
    assert f"({count} records are there (orders-0: {count}) already: --resume" in said
    monkeypatch.undo()


PARTS = """
import os, signal, sys
from pathlib import Path
from odradek.compat.spark.pipeline.load.to_connector import _parts

with _parts(Path(sys.argv[1])) as folder:
    (folder / "00000.parquet").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_load_for_the_stock_sink_has_left_is_removed_by_the_next_one(
    tmp_path: Path,
) -> None:
    """And not what one that runs has there."""
    state = tmp_path / "load-1.jsonl"
    done = subprocess.run([sys.executable, "-c", PARTS, str(state)])
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    with to_connector._parts(state) as mine:
        with to_connector._parts(tmp_path / "load-2.jsonl") as other:
            assert sorted(tmp_path.iterdir()) == sorted([mine, other])
        assert list(tmp_path.iterdir()) == [mine]
    assert not left.exists()
    assert list(tmp_path.iterdir()) == []


def test_several_topics_into_a_directory_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside other files, as in a working directory: the rows name the topics."""
    rows = [{"topic": name, "key": None, "value": name * 2} for name in ("a", "b", "a")]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = str(tmp_path / "in.jsonl"), str(tmp_path / "new")
    assert main(["load", *asked]) == 2
    assert "--create-topic PARTITIONS makes it" in capsys.readouterr().err
    assert main(["load", *asked, "--create-topic", "1"]) == 0
    with Emulator(data_dir=tmp_path / "new") as kafka:
        assert kafka.topic("a")[0].values() == [b"aa", b"aa"]
        assert kafka.topic("b")[0].values() == [b"bb"]
