"""`flush.messages=1` means that what is acknowledged outlives a power cut."""

from __future__ import annotations

import time
from typing import Any

import pytest
from odradek.storage import MemoryDisk
from odradek.storage.flush import Sync

from tests.requests.produce import batch, produce_request
from tests.support.cluster import client_of, open_cluster


@pytest.mark.parametrize("acks", [1, -1])
def test_what_is_acknowledged_was_synced(acks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sync: Any = Sync.run

    def slow_run(self: Sync) -> None:
        time.sleep(0.05)
        sync(self)

    monkeypatch.setattr(Sync, "run", slow_run)
    disk = MemoryDisk()
    cluster = open_cluster(disk.directory())
    cluster.create_topic("t", 1, {"flush.messages": "1"})
    cluster.log_manager.flusher.drain()
    client = client_of(cluster)
    client.send(produce_request(batch(b"x"), acks=acks), 9)
    answers = client.answers()
    if not answers:
        cluster.log_manager.flusher.drain()
        answers = client.answers()
    after = disk.crash()
    assert answers[0].responses[0].partition_responses[0].error_code == 0
    again = open_cluster(after.directory())
    assert again.partition("t", 0).log.log_end_offset == 1
    again.close()
    cluster.close()
