"""One data directory, a real Kafka and this broker in turn: either goes on where the other stopped.

What is compared is everything a broker shows to clients (shown.py): bytes of all batches, time
look-ups, aborted transactions, leader epochs, topic ids, configs, committed offsets. A stop is clean
or a kill in mid-write with half a batch left at the end of some logs. Kafka's own log must be free
of complaints about what it finds.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from odradek.compat import Unavailable
from odradek.compat.clients import wait_until
from odradek.compat.jars import jars
from odradek.compat.real_kafka import VERSION, RealKafka
from odradek.emulator import Emulator
from odradek.wire import Error
from odradek.wire.api.describe_producers import DescribeProducersRequest

from .filling import (
    GROUPS,
    TOPICS,
    Filled,
    create_topics,
    fill,
    offers,
    produce_by_hand,
    sequences,
    tear,
    write_until_killed,
)
from .raw import ask
from .served import Served
from .shown import COMMITTED, LATEST, Shown, differences, everything

pytestmark = [pytest.mark.real, pytest.mark.slow]

SMALL = {"offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "2"}
SOON = {"log.retention.check.interval.ms": "500", "log.initial.task.delay.ms": "200"}
KAFKA = {
    **SMALL,
    **SOON,
    "log.index.size.max.bytes": "102400",  # preallocated, so copying a directory is not heavy
    "log.cleaner.backoff.ms": "50",
    # A start after a kill waits until the session of before is over.
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "200",
}
OURS = {**SMALL, **SOON, "group.initial.rebalance.delay.ms": "0"}
UNCLEANED = {"log.cleaner.enable": "false"}

COMPLAINT = re.compile(r"^\[[^\]]*\] (WARN|ERROR) (.*)$", re.M)
HARMLESS = (
    "Performing controller activation",
    "log.cleaner.enable",
    "NetworkClient that has already been closed",
    "Error processing append operation on partition",  # the gap in a sequence, made by hand
    # Until it has registered, the broker follows the old leadership that the log ends with.
    "because the partition is not online or is no longer the leader",
)
TORN = "Corruption found in segment"
Producers = dict[tuple[str, int], set[tuple[int, ...]]]


class Theirs(NamedTuple):
    """What a real Kafka wrote: as a kill left it, and then, after another start, a clean stop; and
    what Kafka itself shows of it."""

    killed: Path
    stopped: Path
    shown: Shown
    sequences: list[tuple[Error, int]]
    producers: Producers
    filled: Filled


@pytest.fixture(scope="module", autouse=True)
def _archives() -> None:
    try:
        jars(VERSION)
    except Unavailable as reason:
        pytest.skip(f"unavailable: {reason}")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theirs]:
    home = tmp_path_factory.mktemp("theirs")
    data, filled = home / "stopped", Filled()
    with RealKafka(data_dir=data, config=KAFKA) as kafka:
        create_topics(kafka.bootstrap_servers)
        fill(kafka.bootstrap_servers, filled)
        await_cleaner(data)
    config = {**KAFKA, **UNCLEANED}  # lest it cleans on between two looks
    with RealKafka(data_dir=data, config=config) as kafka:
        fill(kafka.bootstrap_servers, filled)
        await_retention(data)
        write_until_killed(kafka.bootstrap_servers, kafka.kill, filled)
    tear(data)
    shutil.copytree(data, home / "killed")
    with RealKafka(data_dir=data, config=config) as kafka:
        address = kafka.bootstrap_servers
        yield Theirs(
            home / "killed",
            data,
            everything(address, GROUPS),
            sequences(address, filled),
            producers_at(address),
            filled,
        ) if not kafka.stop() else None  # type: ignore[misc]
