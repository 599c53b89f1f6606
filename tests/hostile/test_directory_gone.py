"""The data directory goes while the broker runs. A real one answers as before until a segment
rolls; then it fails, and so do all others in that directory."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from odradek.wire import Error
from odradek.wire.api.create_topics import CreateTopicsRequest

from tests.hostile.support.broker import Broker
from tests.hostile.support.clients import Hostile
from tests.hostile.support.setups import VICTIM, now_batch
from tests.requests.produce import produce

SEGMENT = 1 << 20


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


@pytest.mark.xfail(strict=True, reason="it is noticed when the segment rolls")
def test_it_is_said_at_once(tmp_path: Path) -> None:
    with Broker("--data-dir", str(tmp_path / "data")) as broker, Hostile(broker.address) as hostile:
        small_segments(hostile)
        produce(hostile, now_batch(b"x"), topic=VICTIM)
        shutil.rmtree(tmp_path / "data")
        produce(hostile, now_batch(b"x"), topic=VICTIM)
        assert broker.log.strip()
