"""One data directory, a real Kafka and this broker in turn: either goes on where the other stopped.

What is compared is everything a broker shows to clients (shown.py): bytes of all batches, time
look-ups, aborted transactions, leader epochs, topic ids, configs, committed offsets. A stop is
clean, or a kill in mid-write with half a batch left at the end of some logs. Kafka's own log must
be free of complaints about what it finds.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from odradek import Emulator
from odradek.compat.java.jars import jars
from odradek.compat.real_kafka import VERSION, RealKafka
from odradek.compat.real_kafka.dump_tool import complaints as complaints_of_tool
from odradek.wire import Error
from odradek.wire.api.metadata import MetadataRequest

from tests.clients.support.broker_contents import COMMITTED, LATEST, Shown, differences, everything
from tests.clients.support.broker_crash import tear, write_until_killed
from tests.clients.support.broker_process import Served
from tests.clients.support.exchange import (
    KAFKA,
    OURS,
    UNCLEANED,
    await_cleaner,
    await_retention,
)
from tests.clients.support.filled_directory import (
    GROUPS,
    Filled,
    create_topics,
    fill,
    produce_by_hand,
    sequences,
)
from tests.support.connection import ask

pytestmark = [pytest.mark.real, pytest.mark.slow]

COMPLAINT = re.compile(r"^\[[^\]]*\] (WARN|ERROR) (.*)$", re.M)
HARMLESS = (
    "Performing controller activation",
    "log.cleaner.enable",
    "NetworkClient that has already been closed",
    "Error processing append operation on partition",  # the gap in a sequence, made by hand
    # Until it has registered, the broker follows the old leadership that the log ends with.
    "because the partition is not online or is no longer the leader",
    "controller event queue overloaded",  # the machine has other work, too
)
TORN = "Corruption found in segment"
# Kafka notes high watermarks every 5 s, after a kill one may lie below a log start noted since.
BEHIND_ITSELF = "Non-monotonic update of high watermark"


class Theirs(NamedTuple):
    """What a real Kafka wrote: as a kill left it, and then, after another start, a clean stop; and
    what Kafka itself shows of it."""

    killed: Path
    stopped: Path
    shown: Shown
    sequences: list[tuple[Error, int]]
    filled: Filled


@pytest.fixture(scope="module", autouse=True)
def _archives() -> None:
    jars(VERSION)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Theirs:
    home = tmp_path_factory.mktemp("theirs")
    data, filled = home / "stopped", Filled()
    with RealKafka(data_dir=data, config=KAFKA) as kafka:
        create_topics(kafka.bootstrap_servers)
        fill(kafka.bootstrap_servers, filled)
        await_cleaner(data)
    config = {**KAFKA, **UNCLEANED}  # lest it cleans on between two looks
    with RealKafka(data_dir=data, config=config) as kafka:
        fill(kafka.bootstrap_servers, filled)
        await_retention(data, filled)
        write_until_killed(kafka.bootstrap_servers, kafka.kill, filled)
    tear(data)
    shutil.copytree(data, home / "killed")
    with RealKafka(data_dir=data, config=config) as kafka:
        address = kafka.bootstrap_servers
        shown = everything(address, GROUPS)
        assert filled.missing(shown) == []
        answers = sequences(address, filled)
        expected = (TORN, BEHIND_ITSELF)
        found = complaints(kafka)
        assert [line for line in found if not any(each in line for each in expected)] == []
    return Theirs(home / "killed", data, shown, answers, filled)


def complaints(kafka: RealKafka) -> list[str]:
    """What Kafka's log warns of, but for what has nothing to do with the directory."""
    found = [f"{level} {text}" for level, text in COMPLAINT.findall(kafka.log)]
    return [line for line in found if not any(harmless in line for harmless in HARMLESS)]


def shown_by(address: str) -> Shown:
    return everything(address, GROUPS)


def assert_same(one: Shown, other: Shown) -> None:
    assert list(differences(one, other)) == []


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_we_show_what_kafka_shows_of_its_directory(
    theirs: Theirs, how: str, tmp_path: Path
) -> None:
    data = Path(shutil.copytree(getattr(theirs, how), tmp_path / "data"))
    filled = theirs.filled
    with Emulator(OURS, data_dir=data) as emulator:
        address = emulator.bootstrap_servers
        notices = emulator.run(lambda cluster: cluster.log_dir.notices)
        assert {notice.partition("/")[0] for notice in notices} == (
            {"codecs-0", "transacted-0", "compacted-0"} if how == "killed" else set()
        ), notices

        shown = shown_by(address)
        assert_same(theirs.shown, shown)
        assert filled.missing(shown) == []

        assert sequences(address, filled) == theirs.sequences
        for producer_id in filled.by_hand:  # and the one that comes next is taken
            assert produce_by_hand(address, producer_id, 5, 1)[0] is Error.NONE

    transacted = theirs.shown.topics["transacted"].partitions[0]
    assert transacted.aborted
    assert transacted.offsets[COMMITTED, LATEST] < transacted.high_watermark, "none is left open"
    assert len(theirs.shown.groups["modern"]) == 2


def test_kafka_takes_its_directory_back_from_us(theirs: Theirs, tmp_path: Path) -> None:
    """It was theirs; we write on, and are killed in mid-write; Kafka goes on."""
    data = Path(shutil.copytree(theirs.stopped, tmp_path / "data"))
    filled = theirs.filled.copy()
    with Served(data, OURS) as served:
        fill(served.bootstrap_servers, filled)
        write_until_killed(served.bootstrap_servers, served.kill, filled)
    tear(data)
    shown = shown_of_a_copy(data, tmp_path / "copy", filled)
    with RealKafka(data_dir=data, config={**KAFKA, **UNCLEANED}) as kafka:
        kafka_goes_on(kafka, shown, filled, torn=True)


@pytest.mark.long
def test_a_directory_of_ours_goes_back_and_forth(tmp_path: Path) -> None:
    """Written by us, compacted, with a metadata snapshot, and stopped; by Kafka and stopped; by us
    and killed; by Kafka and killed; read by us."""
    data, filled = tmp_path / "data", Filled()
    with Served(data, OURS) as served:
        create_topics(served.bootstrap_servers)
        fill(served.bootstrap_servers, filled)
        served.stop()
    with Emulator(OURS, data_dir=data) as emulator:
        fill(emulator.bootstrap_servers, filled)
        await_retention(data, filled)
        assert emulator.compact() >= 3, "groups, transactions, and a topic"
        assert emulator.run(lambda cluster: cluster.metadata_upkeep.take_snapshot())
        assert epoch_of(emulator.bootstrap_servers) == 2, "each start adds two, whoever it is"
        shown = shown_by(emulator.bootstrap_servers)
        assert filled.missing(shown) == []
    assert complaints_of_tool(data, compacted=["compacted"]) == []

    with RealKafka(data_dir=data, config={**KAFKA, **UNCLEANED}) as kafka:
        shown = kafka_goes_on(kafka, shown, filled, torn=False)
        assert epoch_of(kafka.bootstrap_servers) == 4

    with Served(data, OURS) as served:
        address = served.bootstrap_servers
        assert_same(shown, shown_by(address))
        fill(address, filled)
        write_until_killed(address, served.kill, filled)
    tear(data)
    shown = shown_of_a_copy(data, tmp_path / "copy", filled)
    assert complaints_of_tool(tmp_path / "copy", compacted=["compacted"]) == []

    with RealKafka(data_dir=data, config={**KAFKA, **UNCLEANED}) as kafka:
        kafka_goes_on(kafka, shown, filled, torn=True)
        assert epoch_of(kafka.bootstrap_servers) == 8, "we were killed in between"
        write_until_killed(kafka.bootstrap_servers, kafka.kill, filled)

    with Emulator(OURS, data_dir=data) as emulator:
        assert epoch_of(emulator.bootstrap_servers) == 10
        shown = shown_by(emulator.bootstrap_servers)
        assert filled.missing(shown) == []
    assert complaints_of_tool(data, compacted=["compacted"]) == []


def epoch_of(address: str) -> int:
    """The leader epoch of a topic that was there from the beginning."""
    request = MetadataRequest(topics=[MetadataRequest.Topic(name="compacted")])
    found: int = ask(address, request, 12).topics[0].partitions[0].leader_epoch
    return found


def shown_of_a_copy(data: Path, copy: Path, filled: Filled) -> Shown:
    """What we show of a directory, leaving it as it is."""
    shutil.copytree(data, copy)
    with Emulator(OURS, data_dir=copy) as emulator:
        await_retention(copy, filled)
        return shown_by(emulator.bootstrap_servers)


def kafka_goes_on(kafka: RealKafka, expected: Shown, filled: Filled, *, torn: bool) -> Shown:
    """Kafka shows what we did, knows our producers, and writes a round; what it shows then."""
    address = kafka.bootstrap_servers
    await_retention(kafka.data_dir, filled)
    shown = shown_by(address)
    assert_same(expected, shown)
    assert filled.missing(shown) == []
    again, behind_a_gap = sequences(address, filled)[-2:]  # of the newest producer
    assert again[0] is Error.NONE
    assert again[1] >= 0
    assert behind_a_gap[0] is Error.OUT_OF_ORDER_SEQUENCE_NUMBER
    found = complaints(kafka)
    assert [line for line in found if not (torn and TORN in line)] == []
    fill(address, filled)
    await_retention(kafka.data_dir, filled)
    shown = shown_by(address)
    assert filled.missing(shown) == []
    return shown
