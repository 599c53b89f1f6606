"""What Kafka itself says of a log written here: its dump tool, and a broker that recovers it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek.compat.java.jars import jars
from odradek.compat.real_kafka import RealKafka, run_tool
from odradek.storage.checkpoints import read_partition_metadata

from tests.storage.support.logs import home
from tests.storage.support.mixed_log import write_mixed

pytestmark = [pytest.mark.real, pytest.mark.slow]

VERSION = "4.3.1"
DUMP = "org.apache.kafka.tools.DumpLogSegments"
TOPICS = "org.apache.kafka.tools.TopicCommand"
DERIVED = (".index", ".timeindex", ".txnindex")
COMPLAINTS = re.compile(
    r"mismatch|out of order|non-consecutive|invalid bytes|isvalid: false|exception|corrupt", re.I
)


@pytest.fixture(scope="module", autouse=True)
def _real_kafka() -> None:
    jars(VERSION)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_mixed(tmp_path_factory.mktemp("log"))


def dump(written: Path, *options: str) -> str:
    names = (*DERIVED, ".log", ".snapshot")
    files = ",".join(str(path) for path in sorted(written.iterdir()) if path.suffix in names)
    done = run_tool(VERSION, DUMP, *options, "--files", files)
    findings = done.stderr
    # Of every log that does not begin at offset 0 it says this, of Kafka's own too.
    for path in written.glob("*.log"):
        gap = f"Non-consecutive offsets in {path}\n  -1 is followed by {int(path.stem)}\n"
        findings = findings.replace(gap, "")
    assert (done.returncode, findings) == (0, "")
    return done.stdout


def test_an_index_that_is_wrong_would_be_noticed(written: Path, tmp_path: Path) -> None:
    """The tool says so on standard error only, with exit status 0."""
    copy = Path(shutil.copytree(written, tmp_path / "t-0"))
    index = max(copy.glob("*.index"), key=lambda path: path.stat().st_size)
    data = bytearray(index.read_bytes())
    data[3] ^= 1
    index.write_bytes(data)
    with pytest.raises(AssertionError, match="Mismatches"):
        dump(copy, "--deep-iteration")


def test_the_dump_tool_finds_every_batch_and_nothing_wrong(written: Path) -> None:
    output = dump(written, "--deep-iteration")
    assert COMPLAINTS.search(output) is None
    assert output.count("isvalid: true") == 1500
    assert output.count("lastStableOffset") > 20
    assert "currentTxnFirstOffset" in output


@pytest.mark.parametrize("option", ["--index-sanity-check", "--verify-index-only"])
def test_the_dump_tool_finds_the_indexes_right(written: Path, option: str) -> None:
    output = dump(written, option)
    assert COMPLAINTS.search(output) is None
    if option == "--index-sanity-check":
        indexes = [path for path in written.iterdir() if path.suffix in (".index", ".timeindex")]
        assert output.count("passed sanity check") == len(indexes)


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[RealKafka]:
    with RealKafka(VERSION, data_dir=tmp_path / "kafka") as kafka:
        yield kafka


def test_a_broker_that_recovers_the_batches_writes_the_same_indexes(
    kafka: RealKafka, tmp_path: Path
) -> None:
    server = ("--bootstrap-server", kafka.bootstrap_servers)
    made = kafka.tool(TOPICS, *server, "--create", "--topic", "t", "--config", "retention.ms=-1")
    assert made.returncode == 0, made.stderr
    kafka.stop()
    theirs = home(kafka.data_dir)
    topic_id = read_partition_metadata((theirs / "partition.metadata").read_bytes())
    ours = write_mixed(tmp_path / "ours", topic_id)

    shutil.rmtree(theirs)
    theirs.mkdir()
    for path in ours.iterdir():
        if path.suffix == ".log" or path.name == "partition.metadata":
            shutil.copy(path, theirs)
    for path in kafka.data_dir.glob("*checkpoint"):
        path.unlink()
    (kafka.data_dir / ".kafka_cleanshutdown").unlink()
    kafka.start()
    kafka.stop()

    for suffix in (".log", *DERIVED):
        expected = {path.name: path.read_bytes() for path in theirs.glob(f"*{suffix}")}
        assert {path.name: path.read_bytes() for path in ours.glob(f"*{suffix}")} == expected
        assert expected
