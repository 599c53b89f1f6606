"""`spark.readStream.format("odradek")` and its sink: resumed, limited, and written once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator, NewRecord
from odradek.compat.clients import TIMEOUT_S
from odradek.compat.spark.segments import EVERYTHING, list_segments
from odradek.compat.spark.source.options import read_options

from tests.compat.spark.segments.support.placed import column, numbered, placed, read

pytestmark = [pytest.mark.spark, pytest.mark.slow]

pytest.importorskip("pyspark")
from odradek.compat.spark.source.stream import StreamReader  # noqa: E402  # needs pyspark

STREAM_TIMEOUT_S = 3 * TIMEOUT_S


class Query:
    """A stream of what is added to a directory, run again and again from one checkpoint."""

    def __init__(self, spark: Any, source: Path, work: Path, **options: str) -> None:
        self.spark, self.source, self.work = spark, source, work
        self.options = {"startingOffsets": "earliest", **options}
        self.batches: list[tuple[int, list[Any]]] = []
        """Of each batch that was written: its number and its rows, as (partition, offset)."""

    def start(self, **trigger: Any) -> Any:
        stream = self.spark.readStream.format("odradek").options(**self.options)
        frame = stream.load(str(self.source)).select("partition", "offset")
        return (
            frame.writeStream.foreachBatch(self._note)
            .option("checkpointLocation", str(self.work / "checkpoint"))
            .trigger(**trigger)
            .start()
        )

    def run(self) -> list[Any]:
        """Everything that is there and was not read yet."""
        self.batches.clear()
        query = self.start(availableNow=True)
        assert query.awaitTermination(STREAM_TIMEOUT_S)
        return [row for _, rows in self.batches for row in rows]

    def wait_for(self, rows: int) -> None:
        """Wait until the running query has written so many rows."""
        until = time.monotonic() + STREAM_TIMEOUT_S
        while sum(len(found) for _, found in self.batches) < rows:
            assert time.monotonic() < until, f"{self.batches} after {STREAM_TIMEOUT_S} s"
            time.sleep(0.1)

    def _note(self, frame: Any, batch: int) -> None:
        self.batches.append((batch, sorted(tuple(row) for row in frame.collect())))


@pytest.fixture
def query(spark: Any, tmp_path: Path) -> Callable[..., Query]:
    return lambda **options: Query(spark, tmp_path / "data", tmp_path, **options)


def of(partition: int, *offsets: int) -> list[tuple[int, int]]:
    return [(partition, offset) for offset in offsets]


def test_a_restart_sees_what_is_new(query: Callable[..., Query], tmp_path: Path) -> None:
    """New batches in the last segment, new segments and new partitions; and nothing twice. Offsets
    are noted in the form of the connector."""
    data = tmp_path / "data"
    placed(data, {0: numbered(0, 5), 5: numbered(5, 2)})
    stream = query()
    assert stream.run() == of(0, *range(7))
    assert json.loads(last_offsets(tmp_path)) == {"t": {"0": 7}}
    assert stream.run() == []
    placed(data, {5: numbered(5, 2) + numbered(7, 2)})
    assert stream.run() == of(0, 7, 8)
    placed(data, {9: numbered(9, 1)})
    placed(data, {0: numbered(0, 2)}, partition=1)
    placed(data, {0: numbered(0, 3)}, topic="u", partition=2)
    assert stream.run() == sorted(of(0, 9) + of(1, 0, 1) + of(2, 0, 1, 2))
    assert json.loads(last_offsets(tmp_path)) == {"t": {"0": 10, "1": 2}, "u": {"2": 3}}


def test_a_running_query_follows_the_broker(query: Callable[..., Query], tmp_path: Path) -> None:
    """While the broker writes: each complete batch of the active segment, once."""
    with Emulator(data_dir=tmp_path / "data", topics={"t": 2}) as kafka:
        topic = kafka.topic("t")
        stream = query(startingOffsets="latest", subscribe="t")
        running = stream.start(processingTime="200 milliseconds")
        try:
            while not running.recentProgress:
                time.sleep(0.1)
            for count in (3, 4, 5):
                before = sum(len(rows) for _, rows in stream.batches)
                topic.produce_all([NewRecord(b"%d" % n, partition=n % 2) for n in range(count)])
                stream.wait_for(before + count)
        finally:
            running.stop()
    found = sorted(row for _, rows in stream.batches for row in rows)
    assert found == of(0, *range(7)) + of(1, *range(5))


@pytest.mark.long
def test_a_limit_is_shared_out(query: Callable[..., Query], tmp_path: Path) -> None:
    placed(tmp_path / "data", {0: b"".join(numbered(base, 10) for base in range(0, 80, 10))})
    placed(tmp_path / "data", {0: numbered(0, 20)}, partition=1)
    stream = query(maxOffsetsPerTrigger="10")
    running = stream.start(processingTime="0 seconds")
    try:
        stream.wait_for(100)
    finally:
        running.stop()
    assert [len(rows) for _, rows in stream.batches] == [10] * 10
    assert stream.batches[0][1] == of(0, *range(8)) + of(1, 0, 1)
    found = sorted(row for _, rows in stream.batches for row in rows)
    assert found == of(0, *range(80)) + of(1, *range(20))


@pytest.mark.long
def test_a_limited_run_goes_on_in_the_next(
    query: Callable[..., Query], tmp_path: Path, spark: Any
) -> None:
    """Spark 4.2 and later asks until everything is read; before, for one batch only."""
    placed(tmp_path / "data", {0: numbered(0, 25)})
    stream = query(maxOffsetsPerTrigger="10")
    runs = [stream.run() for _ in range(4)]
    if spark.version < "4.2":
        assert [len(rows) for rows in runs] == [10, 10, 5, 0]
    else:
        assert [len(rows) for rows in runs] == [25, 0, 0, 0]
    assert [row for rows in runs for row in rows] == of(0, *range(25))


def test_what_a_limit_leaves_is_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To a user of Spark before 4.2, whose availableNow ends after one batch."""
    placed(tmp_path, {0: numbered(0, 25)})
    for limit, said in (("25", ""), ("10", "odradek: maxOffsetsPerTrigger takes 10 of 25 offsets")):
        asked = {
            "path": str(tmp_path),
            "startingOffsets": "earliest",
            "maxOffsetsPerTrigger": limit,
        }
        reader = StreamReader(read_options(asked, stream=True))
        assert reader.latestOffset() == {"t": {"0": int(limit)}}
        reader.partitions(reader.initialOffset(), reader.latestOffset())
        reader.latestOffset()
        printed = capsys.readouterr().err
        assert printed.startswith(said)
        assert len(printed.splitlines()) == bool(said)


@pytest.mark.parametrize("lenient", [False, pytest.param(True, marks=pytest.mark.long)])
def test_retention_passes_the_checkpoint(
    query: Callable[..., Query], tmp_path: Path, lenient: bool
) -> None:
    placed(tmp_path / "data", {0: numbered(0, 5)})
    stream = query(failOnDataLoss="false" if lenient else "true")
    stream.run()
    placed(tmp_path / "data", {5: numbered(5, 5), 10: numbered(10, 2)})
    for base in (0, 5):
        (tmp_path / "data" / "t-0" / f"{base:020d}.log").unlink()
    if lenient:
        assert stream.run() == of(0, 10, 11)
    else:
        with pytest.raises(Exception, match="t-0: offset 5 is asked for, but the log begins at 10"):
            stream.run()


def test_a_topic_created_again_is_noticed(query: Callable[..., Query], tmp_path: Path) -> None:
    placed(tmp_path / "data", {0: numbered(0, 5)})
    stream = query()
    stream.run()
    placed(tmp_path / "data", {0: numbered(0, 2)})
    with pytest.raises(Exception, match=r"t-0: .* 5 .*the log ends at 2.*created again"):
        stream.run()


def test_read_committed_waits_for_the_end_of_transactions(
    query: Callable[..., Query], tmp_path: Path
) -> None:
    with Emulator(data_dir=tmp_path / "data", topics={"t": 1}) as kafka:
        stream = query(**{"kafka.isolation.level": "read_committed"})
        producer = transactional(kafka)
        producer.produce("t", b"first")
        producer.flush(TIMEOUT_S)
        assert stream.run() == []
        producer.commit_transaction(TIMEOUT_S)
        assert stream.run() == of(0, 0)
        producer.begin_transaction()
        producer.produce("t", b"aborted")
        producer.flush(TIMEOUT_S)
        producer.abort_transaction(TIMEOUT_S)
        assert stream.run() == []
        assert json.loads(last_offsets(tmp_path)) == {"t": {"0": 4}}


def transactional(kafka: Emulator) -> Any:
    from confluent_kafka import Producer

    servers = kafka.bootstrap_servers
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "x"})
    producer.init_transactions(TIMEOUT_S)
    producer.begin_transaction()
    return producer


def last_offsets(work: Path) -> str:
    newest = max((work / "checkpoint" / "offsets").iterdir(), key=lambda path: path.name)
    return newest.read_text().splitlines()[-1]


def failing_once(stream: Query) -> None:
    """Let the next batch fail, once it was noted."""
    note, fails = stream._note, [True]

    def failing(frame: Any, batch: int) -> None:
        note(frame, batch)
        if fails:
            fails.clear()
            raise RuntimeError("the sink is gone")

    stream._note = failing  # type: ignore[method-assign]
    with pytest.raises(Exception, match="the sink is gone"):
        stream.run()


@pytest.mark.long
def test_a_batch_that_failed_is_read_again_with_the_same_offsets(
    query: Callable[..., Query], tmp_path: Path
) -> None:
    placed(tmp_path / "data", {0: numbered(0, 5)})
    stream = query()
    failing_once(stream)  # the first batch, whose start Spark does not keep
    placed(tmp_path / "data", {5: numbered(5, 5)})
    stream.run()
    assert stream.batches[0] == (0, of(0, *range(5)))
    stream.run()  # from Spark 4.2 on the run before has gone on, up to what was there
    placed(tmp_path / "data", {10: numbered(10, 5)})
    failing_once(stream)
    failed = stream.batches[0]
    placed(tmp_path / "data", {15: numbered(15, 5)})
    stream.run()
    assert stream.batches[0] == failed
    found = [row for _, rows in stream.batches for row in rows] + stream.run()
    assert found == of(0, *range(10, 20))


@pytest.mark.long
def test_latest_is_where_the_query_began_though_its_first_batch_failed(
    query: Callable[..., Query], tmp_path: Path
) -> None:
    placed(tmp_path / "data", {0: numbered(0, 5)})
    stream = query(startingOffsets="latest")
    failing_once(stream)
    placed(tmp_path / "data", {5: numbered(5, 5)})
    found = [*stream.run(), *stream.run()]
    assert found == of(0, *range(5, 10))


def test_the_first_batch_of_what_starts_at_the_end_is_empty_when_it_is_replayed(
    tmp_path: Path,
) -> None:
    """Also where Spark asks for its start before it tells its end."""
    placed(tmp_path, {0: numbered(0, 5)})
    asked = {"path": str(tmp_path), "startingOffsets": "latest"}
    before = StreamReader(read_options(asked, stream=True)).initialOffset()
    placed(tmp_path, {5: numbered(5, 5)})
    reader = StreamReader(read_options(asked, stream=True))
    assert (before, reader.initialOffset()) == ({"t": {"0": 5}}, {"t": {"0": 10}})
    assert reader.partitions(reader.initialOffset(), before) == []
    (rest,) = reader.partitions(before, {"t": {"0": 10}})
    assert sum(batch.num_rows for batch in reader.read(rest)) == 5


class Copying:
    """A stream from one directory into another, through the sink."""

    def __init__(self, spark: Any, work: Path) -> None:
        self.spark, self.work = spark, work

    def run(self) -> None:
        stream = self.spark.readStream.format("odradek").option("startingOffsets", "earliest")
        query = (
            stream.load(str(self.work / "data"))
            .writeStream.format("odradek")
            .option("checkpointLocation", str(self.work / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(self.work / "copy"))
        )
        assert query.awaitTermination(STREAM_TIMEOUT_S)

    def keys(self) -> list[int]:
        segments = list_segments(self.work / "copy", ["t"])
        return [int(key) for key in column(read(segments, EVERYTHING), "key")]


def test_a_batch_committed_twice_is_written_once(spark: Any, tmp_path: Path) -> None:
    placed(tmp_path / "data", {0: numbered(0, 5)})
    copying = Copying(spark, tmp_path)
    copying.run()
    placed(tmp_path / "data", {5: numbered(5, 5)})
    copying.run()
    assert copying.keys() == [*range(10)]
    # The driver died after the commit to the sink, before Spark noted it.
    (tmp_path / "checkpoint" / "commits" / "1").unlink()
    (tmp_path / "checkpoint" / "commits" / ".1.crc").unlink(missing_ok=True)
    copying.run()
    assert copying.keys() == [*range(10)]
    placed(tmp_path / "data", {10: numbered(10, 1)})
    copying.run()
    assert copying.keys() == [*range(11)]
