"""A real Kafka of three brokers does what the transcripts of the emulator's replication say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek.compat import RealCluster
from odradek.compat.clients import wait_until
from odradek.compat.real_kafka.ready import listed

from tests.clients.support.wanted import WANT_REAL
from tests.emulator.replication.support.grounds import Real
from tests.emulator.replication.support.stage import SCENES, is_for_all, play

pytestmark = pytest.mark.real
# They take minutes: all of them only when a real Kafka is asked for.
PLAYED = [path for path in SCENES if path.stem == "stop" or (WANT_REAL and is_for_all(path))]


@pytest.fixture
def whole(real_cluster: RealCluster) -> Iterator[RealCluster]:
    """All brokers run when a test ends."""
    yield real_cluster
    for node in real_cluster.nodes.values():
        node.start()
    wait_until(
        lambda: all(listed("127.0.0.1", node.port) == 3 for node in real_cluster.nodes.values()),
        "all brokers are listed",
    )


@pytest.mark.parametrize("path", PLAYED, ids=lambda path: path.stem)
def test_a_real_cluster_does_what_the_transcript_says(whole: RealCluster, path: Path) -> None:
    written, played = play(path, Real(whole), topic=path.stem)
    assert played == written
