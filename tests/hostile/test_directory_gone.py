"""The data directory goes while the broker runs. A real one answers as before until a segment
rolls, a topic is created or 5 seconds are over; then it fails, and so do all others in that
directory. (It halts, having no other directory; the emulator goes on and says so.)"""

from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path
from time import monotonic, sleep

from odradek.wire import Error
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest

from tests.hostile.support.broker import Broker
from tests.hostile.support.clients import Hostile, create_topics
from tests.hostile.support.setups import VICTIM, now_batch
from tests.requests.fetch import fetch
from tests.requests.offsets import look_up
from tests.requests.produce import produce

SEGMENT = 1 << 20


SAID_S = 30.0


def await_line(broker: Broker, part: str) -> None:
    """Returns once the broker has said this. Raises AssertionError if it does not."""
    end = monotonic() + SAID_S
    while part not in broker.log:
        assert monotonic() < end, broker.log
        sleep(0.01)


def small_segments(hostile: Hostile) -> None:
    config = CreateTopicsRequest.Topic.Config(name="segment.bytes", value=str(SEGMENT))
    topic = CreateTopicsRequest.Topic(
        name=VICTIM, num_partitions=1, replication_factor=1, assignments=[], configs=[config]
    )
    hostile.ask(CreateTopicsRequest(topics=[topic], timeout_ms=60_000), 7)


def test_a_partition_whose_directory_is_gone_fails_once_it_rolls(tmp_path: Path) -> None:
    with Broker("--data-dir", str(tmp_path / "data")) as broker, Hostile(broker.address) as hostile:
        small_segments(hostile)
        assert produce(hostile, now_batch(b"x"), topic=VICTIM).error_code == 0
        shutil.rmtree(tmp_path / "data")
        large = now_batch(bytes(SEGMENT * 2 // 3))
        codes = [produce(hostile, large, topic=VICTIM).error_code for _ in range(4)]
        assert codes[-1] == Error.KAFKA_STORAGE_ERROR
        assert broker.log.strip()


def test_it_is_said_at_once(tmp_path: Path) -> None:
    with Broker("--data-dir", str(tmp_path / "data")) as broker, Hostile(broker.address) as hostile:
        small_segments(hostile)
        produce(hostile, now_batch(b"x"), topic=VICTIM)
        shutil.rmtree(tmp_path / "data")
        produce(hostile, now_batch(b"x"), topic=VICTIM)
        await_line(broker, "removed")


OTHER = "other"


def test_it_takes_every_partition_with_it(tmp_path: Path) -> None:
    with Broker("--data-dir", str(tmp_path / "data")) as broker, Hostile(broker.address) as hostile:
        small_segments(hostile)
        create_topics(broker.address, [OTHER], 2)
        for topic in (VICTIM, OTHER):
            assert produce(hostile, now_batch(b"x"), topic=topic).error_code == 0
        shutil.rmtree(tmp_path / "data")
        assert produce(hostile, now_batch(b"x"), topic=OTHER).error_code == 0
        # This one has no directory yet.
        new = produce(hostile, now_batch(b"x"), topic=OTHER, partition=1)
        assert new.error_code == Error.KAFKA_STORAGE_ERROR
        for topic in (VICTIM, OTHER):
            answer = produce(hostile, now_batch(b"x"), topic=topic)
            assert answer.error_code == Error.KAFKA_STORAGE_ERROR
            assert fetch(hostile, topic=topic).error_code == Error.KAFKA_STORAGE_ERROR
            assert look_up(hostile, -1, topic=topic).error_code == Error.KAFKA_STORAGE_ERROR
        (described,) = hostile.ask(DescribeLogDirsRequest(topics=None), 4).results
        assert described.error_code == Error.KAFKA_STORAGE_ERROR
        assert not (tmp_path / "data").exists()
        assert broker.stop() == 0
        lines = broker.log.splitlines()
        assert ["removed while" in line for line in lines] == [True, False]
        assert f"{tmp_path / 'data'} is offline" in lines[1]


def test_a_broker_that_nobody_asks_finds_out_too(tmp_path: Path) -> None:
    often = "replica.high.watermark.checkpoint.interval.ms=50"
    with Broker("--data-dir", str(tmp_path / "data"), "--set", often) as broker:
        shutil.rmtree(tmp_path / "data")
        await_line(broker, "is offline")


DROP_CAPABILITY = 24
OVERRIDES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def obey_permissions() -> None:
    """Root may use a directory whatever its permissions say, unless it gives that up."""
    if os.geteuid() == 0:
        for capability in OVERRIDES:
            if ctypes.CDLL(None, use_errno=True).prctl(DROP_CAPABILITY, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "root could not give up a capability")


def test_a_directory_closed_by_chmod(tmp_path: Path) -> None:
    data = tmp_path / "data"
    often = "replica.high.watermark.checkpoint.interval.ms=50"
    options = ("--data-dir", str(data), "--set", often)
    with Broker(*options, before=obey_permissions) as broker, Hostile(broker.address) as hostile:
        small_segments(hostile)
        assert produce(hostile, now_batch(b"x"), topic=VICTIM).error_code == 0
        data.chmod(0)
        try:
            await_line(broker, "the broker may not use it any more")
            answer = produce(hostile, now_batch(b"x"), topic=VICTIM)
            assert answer.error_code == Error.KAFKA_STORAGE_ERROR
        finally:
            data.chmod(0o700)
