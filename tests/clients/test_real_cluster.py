"""A real Kafka of three brokers does what the transcripts of the emulator's replication say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek.compat import RealCluster
from odradek.compat.clients import wait_until
from odradek.compat.real_kafka.ready import listed

from tests.clients.support.wanted import WANT_REAL
from tests.emulator.replication.support.grounds import RACKS, REAL_CONFIG, Real
from tests.emulator.replication.support.stage import SCENES, is_for_all, play

pytestmark = pytest.mark.real
# They take minutes: all of them only when a real Kafka is asked for.
PLAYED = [path for path in SCENES if path.stem == "stop" or (WANT_REAL and is_for_all(path))]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RealCluster]:
    """Three brokers, and a controller of their own: any of them may be down."""
    with RealCluster(3, config=REAL_CONFIG, racks=RACKS, has_own_controller=True) as kafka:
        yield kafka


@pytest.fixture
def whole(cluster: RealCluster) -> Iterator[RealCluster]:
    """All brokers run when a test ends."""
    yield cluster
    for node in cluster.nodes.values():
        node.start()
    wait_until(
        lambda: all(listed("127.0.0.1", node.port) == 3 for node in cluster.nodes.values()),
        "all brokers are listed",
    )


@pytest.mark.parametrize("path", PLAYED, ids=lambda path: path.stem)
def test_a_real_cluster_does_what_the_transcript_says(whole: RealCluster, path: Path) -> None:
    written, played = play(path, Real(whole), topic=path.stem)
    assert played == written
