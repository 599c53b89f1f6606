"""`audit` and `diff` over directories that a real Kafka and our broker have written.

They have every codec and kind of producer, transactions, compaction, retention, deleted records,
groups (tests/clients/support/filled_directory.py); stopped, and killed in mid-write.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from odradek import Emulator
from odradek.compat.commands import main
from odradek.compat.java.jars import jars
from odradek.compat.real_kafka import VERSION, RealKafka

from tests.clients.support.broker_crash import write_until_killed
from tests.clients.support.broker_process import Served
from tests.clients.support.exchange import (
    KAFKA,
    OURS,
    UNCLEANED,
    await_cleaner,
    await_retention,
)
from tests.clients.support.filled_directory import Filled, create_topics, fill
from tests.compat.spark.pipeline.audited import audit
from tests.storage.support.logs import flip

pytestmark = [pytest.mark.real, pytest.mark.slow]


class Written(NamedTuple):
    stopped: Path
    killed: Path


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Written:
    jars(VERSION)
    home = tmp_path_factory.mktemp("theirs")
    data, filled = home / "data", Filled()
    with RealKafka(data_dir=data, config=KAFKA) as kafka:
        create_topics(kafka.bootstrap_servers)
        fill(kafka.bootstrap_servers, filled)
        await_cleaner(data)
    stopped = Path(shutil.copytree(data, home / "stopped"))
    with RealKafka(data_dir=data, config={**KAFKA, **UNCLEANED}) as kafka:
        fill(kafka.bootstrap_servers, filled)
        await_retention(data, filled)
        write_until_killed(kafka.bootstrap_servers, kafka.kill, filled)
    return Written(stopped, data)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Written:
    home = tmp_path_factory.mktemp("ours")
    data, filled = home / "data", Filled()
    with Served(data, OURS) as served:
        create_topics(served.bootstrap_servers)
        fill(served.bootstrap_servers, filled)
        served.stop()
    with Emulator(OURS, data_dir=data) as emulator:
        fill(emulator.bootstrap_servers, filled)
        await_retention(data, filled)
        assert emulator.compact() >= 3
        assert emulator.run(lambda cluster: cluster.metadata_upkeep.take_snapshot())
    stopped = Path(shutil.copytree(data, home / "stopped"))
    with Served(data, OURS) as served:
        fill(served.bootstrap_servers, filled)
        write_until_killed(served.bootstrap_servers, served.kill, filled)
    return Written(stopped, data)


@pytest.mark.parametrize("how", ["stopped", "killed"])
@pytest.mark.parametrize("who", ["ours", "theirs"])
def test_what_a_broker_wrote_is_clean(who: str, how: str, request: pytest.FixtureRequest) -> None:
    path = getattr(request.getfixturevalue(who), how)
    found = audit(path)
    assert [each for each in found.findings if each.is_damage] == []
    records = {each.topic: each.records for each in found.partitions}
    assert records["codecs"] >= 1_200
    assert records["transacted"] >= 32


def damaged(path: Path) -> Iterator[tuple[str, str]]:
    """Damage a directory of a real Kafka in several ways; gives partition and file of each."""
    log = sorted((path / "codecs-0").glob("*.log"))[0]
    flip(log, 300)
    yield "codecs-0", log.name
    index = sorted((path / "codecs-1").glob("*.index"))[0]
    index.write_bytes(b"")
    yield "codecs-1", index.name
    times = sorted((path / "stamped-0").glob("*.timeindex"))[0]
    times.write_bytes(struct.pack(">qi", 5, 1))
    yield "stamped-0", times.name
    aborted = next(each for each in (path / "transacted-0").glob("*.txnindex"))
    aborted.unlink()
    yield "transacted-0", aborted.name
    (path / "by-hand-0" / "partition.metadata").unlink()
    yield "by-hand-0", "partition.metadata"
    shutil.rmtree(path / "deleted-0")
    yield "", "deleted-0"


def test_damage_is_found_in_what_a_real_kafka_wrote(theirs: Written, tmp_path: Path) -> None:
    data = Path(shutil.copytree(theirs.stopped, tmp_path / "data"))
    expected = set(damaged(data))
    found = {(each.partition, each.file) for each in audit(data).findings if each.is_damage}
    assert found == expected


def test_two_brokers_show_the_same_directory(
    theirs: Written, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = Path(shutil.copytree(theirs.stopped, tmp_path / "data"))
    with Emulator(OURS, data_dir=data) as emulator:
        address = emulator.bootstrap_servers
        assert main(["diff", str(theirs.stopped / "codecs"), f"{address}/codecs"]) == 0
        assert main(["diff", str(theirs.stopped / "transacted"), f"{address}/transacted"]) == 0
    assert "same                  16" in capsys.readouterr().out
    flip(sorted((data / "codecs-0").glob("*.log"))[0], 300)
    assert main(["diff", str(theirs.stopped / "codecs"), str(data / "codecs")]) == 2
    assert "codecs-0" in capsys.readouterr().err
