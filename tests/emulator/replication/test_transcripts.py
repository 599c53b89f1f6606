"""Brokers that stop, die and come back, told as transcripts: support/stage.py has the commands.

The same files are played by a real Kafka in tests/clients/test_real_cluster.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.storage import MemoryDisk

from tests.emulator.replication.support.grounds import CONFIG, RACKS, Emulated
from tests.emulator.replication.support.stage import SCENES, play
from tests.support.clock import NOW


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_the_transcript_is_what_happens(path: Path) -> None:
    cluster = Cluster(
        BrokerConfig(CONFIG),
        data_dir=MemoryDisk().directory(),
        brokers=[Node(node_id, "h", node_id, RACKS[node_id - 1]) for node_id in (1, 2, 3)],
        clock=ManualClock(NOW),
    )
    try:
        written, played = play(path, Emulated(cluster))
    finally:
        cluster.close(is_last=True)
    assert played == written
