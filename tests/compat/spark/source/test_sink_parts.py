"""The parts of the sink: which partition, staging by tasks, and the commit, without Spark."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from odradek import Emulator
from odradek.compat.spark.segments import (
    EVERYTHING,
    Damaged,
    PlaceError,
    list_segments,
    publish,
)
from odradek.compat.spark.segments.writer import Staged
from odradek.compat.spark.source import commit as commits
from odradek.compat.spark.source.commit import PLAN, Job, commit, partition_counts
from odradek.compat.spark.source.options import OptionError, WriteOptions, write_options
from odradek.compat.spark.source.staging import Stage, check_columns
from odradek.compat.wire_client.produced import murmur2

from tests.compat.spark.segments.support.placed import column, read


def options(path: Path, **more: str) -> WriteOptions:
    return write_options({"path": str(path), **more})


TYPES = {"topic": pa.string(), "key": pa.binary(), "value": pa.binary(), "partition": pa.int32()}


def staged(path: Path, job: Job, rows: list[dict[str, object]], **more: str) -> list[Staged]:
    """What one task stages of these rows."""
    schema = pa.schema([(name, kind) for name, kind in TYPES.items() if name in rows[0]])
    stage = Stage(job.staging, options(path, **more), partition_counts(str(path)))
    stage.write(pa.RecordBatch.from_pylist(rows, schema))
    return stage.finish()


def new_job(path: Path) -> Job:
    return Job(str(path), uuid4().hex)


def rows(*values: str, topic: str = "t", partition: int = 0) -> list[dict[str, object]]:
    return [{"topic": topic, "value": v.encode(), "partition": partition} for v in values]


def written(path: Path) -> dict[str, list[bytes]]:
    """What is in the directory now, by partition."""
    found: dict[str, list[bytes]] = {}
    for segment in list_segments(path):
        values = column(read([segment], EVERYTHING), "value")
        found.setdefault(f"{segment.topic}-{segment.partition}", []).extend(values)
    return {name: values for name, values in found.items() if values}


def leftovers(path: Path) -> list[str]:
    return [each.name for each in path.iterdir() if "odradek" in each.name and each.is_dir()]


def test_nothing_is_to_be_seen_before_the_commit(tmp_path: Path) -> None:
    job = new_job(tmp_path)
    first = staged(tmp_path, job, [*rows("a", "b"), *rows("c", partition=2)])
    second = staged(tmp_path, job, [*rows("d"), *rows("x", topic="u")])
    with pytest.raises(PlaceError, match="no data directory"):
        list_segments(tmp_path)
    commit(job, [*first, *second])
    assert written(tmp_path) == {"t-0": [b"a", b"b", b"d"], "t-2": [b"c"], "u-0": [b"x"]}
    assert partition_counts(str(tmp_path)) == {"__cluster_metadata": 1, "t": 3, "u": 1}
    assert leftovers(tmp_path) == []


def test_what_is_committed_later_follows(tmp_path: Path) -> None:
    for values in (["a", "b"], ["c"], ["d", "e"]):
        job = new_job(tmp_path)
        commit(job, staged(tmp_path, job, rows(*values)))
    table = read(list_segments(tmp_path))
    assert column(table, "value") == [b"a", b"b", b"c", b"d", b"e"]
    assert column(table, "offset") == [0, 1, 2, 3, 4]


def test_a_broker_reads_and_writes_on(tmp_path: Path) -> None:
    with Emulator(data_dir=tmp_path, topics={"t": 2}) as kafka:
        kafka.topic("t").produce(b"before", partition=1)
    job = new_job(tmp_path)
    commit(job, staged(tmp_path, job, rows("a", "b", partition=1)))
    with Emulator(data_dir=tmp_path) as kafka:
        kafka.topic("t").produce(b"after", partition=1)
        assert kafka.topic("t")[1].values() == [b"before", b"a", b"b", b"after"]


def test_aborted_jobs_leave_nothing(tmp_path: Path) -> None:
    job = new_job(tmp_path)
    staged(tmp_path, job, rows("a"))
    job.discard()
    assert [*tmp_path.iterdir()] == []


def test_a_directory_in_use_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.compat.spark.segments.writer._LOCK_WAIT_S", 0)
    monkeypatch.setattr(commits, "_LOCK_WAIT_S", 0)
    with Emulator(data_dir=tmp_path, topics={"t": 1}) as kafka:
        kafka.topic("t").produce(b"before")
        for topic in ("t", "new"):
            job = new_job(tmp_path)
            part = staged(tmp_path, job, rows("a", topic=topic))
            with pytest.raises(PlaceError, match="in use by"):
                commit(job, part)
    assert written(tmp_path) == {"t-0": [b"before"]}
    assert leftovers(tmp_path) == []


def test_a_directory_keeps_its_naming(tmp_path: Path) -> None:
    with Emulator(data_dir=tmp_path, topics={"t": 1}, naming="documented") as kafka:
        kafka.topic("t").produce(b"before")
    job = new_job(tmp_path)
    commit(job, staged(tmp_path, job, [*rows("a"), *rows("b", topic="u")]))
    assert written(tmp_path) == {"t-0": [b"before", b"a"], "u-0": [b"b"]}
    with Emulator(data_dir=tmp_path, naming="documented") as kafka:
        assert kafka.topic("t").values() == [b"before", b"a"]
        assert kafka.topic("u").values() == [b"b"]


def test_an_incomplete_end_is_refused_and_everything_taken_out_again(tmp_path: Path) -> None:
    job = new_job(tmp_path)
    commit(job, staged(tmp_path, job, [*rows("a"), *rows("b", partition=1)]))
    log = tmp_path / "t-1" / "00000000000000000000.log"
    log.write_bytes(log.read_bytes()[:-1])
    job = new_job(tmp_path)
    part = staged(tmp_path, job, [*rows("c"), *rows("d", partition=1)])
    with pytest.raises(Damaged, match=r"t-1/00000000000000000000\.log, byte 0.*cut short"):
        commit(job, part)
    assert written(tmp_path) == {"t-0": [b"a"]}
    assert leftovers(tmp_path) == []
    assert not (tmp_path / PLAN).exists()


def test_a_commit_that_died_is_taken_out_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = new_job(tmp_path)
    before = [*rows("a"), *rows("b", partition=1), *rows("c", partition=2)]
    commit(job, staged(tmp_path, job, before))
    job = new_job(tmp_path)
    part = staged(tmp_path, job, [*rows("d"), *rows("e", partition=1), *rows("f", partition=2)])
    calls = []

    def dies(some: list[Staged]) -> None:
        if len(calls) == 2:
            raise SystemExit
        calls.append(publish(some))

    monkeypatch.setattr(commits, "publish", dies)
    monkeypatch.setattr(commits, "_undo", lambda home: None)
    with pytest.raises(SystemExit):
        commit(job, part)
    monkeypatch.undo()
    assert written(tmp_path)["t-1"] == [b"b", b"e"]
    job = new_job(tmp_path)
    commit(job, staged(tmp_path, job, rows("g", partition=1)))
    assert written(tmp_path) == {"t-0": [b"a"], "t-1": [b"b", b"g"], "t-2": [b"c"]}


def test_a_streams_batch_is_written_once(tmp_path: Path) -> None:
    job = new_job(tmp_path)
    for batch, values in ((0, ["a"]), (1, ["b"]), (1, ["b"]), (2, ["c"]), (0, ["a"])):
        commit(job, staged(tmp_path, job, rows(*values)), batch)
    assert written(tmp_path) == {"t-0": [b"a", b"b", b"c"]}
    assert leftovers(tmp_path) == []


WRONG = [
    ({"value": "binary"}, "name the topic in a column or in the option topic"),
    ({"topic": "string"}, "there is no column value"),
    ({"topic": "string", "value": "int"}, "column value is int: it must be binary or string"),
    ({"topic": "string", "value": "binary", "kee": "binary"}, "column kee cannot be written"),
    ({"topic": "string", "value": "string", "partition": "bigint"}, "partition is bigint: it must"),
]


@pytest.mark.parametrize(("types", "said"), WRONG)
def test_wrong_columns_are_named(types: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=said):
        check_columns(types, options(tmp_path))


def test_partitions_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with Emulator(data_dir=tmp_path, topics={"t": 3}):
        pass
    with pytest.raises(OptionError, match="t has no partition 3: it has 3"):
        staged(tmp_path, new_job(tmp_path), rows("a", partition=3))
    with pytest.raises(OptionError, match="new has no partition 5: it has 2"):
        staged(tmp_path, new_job(tmp_path), rows("a", topic="new", partition=5), numPartitions="2")
    with pytest.raises(OptionError, match="new has no partition -1: they begin with 0"):
        staged(tmp_path, new_job(tmp_path), rows("a", topic="new", partition=-1))


def test_a_new_topic_has_the_partitions_asked_for(tmp_path: Path) -> None:
    job = new_job(tmp_path)
    keyed: list[dict[str, object]] = [{"key": b"%d" % n, "value": b"%d" % n} for n in range(100)]
    part = staged(tmp_path, job, keyed, topic="new", numPartitions="4")
    commit(job, part, partitions=4)
    for name, values in written(tmp_path).items():
        expected = {(murmur2(value) & 0x7FFFFFFF) % 4 for value in values}
        assert expected == {int(name[-1])}
    assert partition_counts(str(tmp_path))["new"] == 4
