"""What a crash leaves behind, seen by the next cluster on the directory."""

from __future__ import annotations

from pathlib import Path

from odradek.storage import MemoryDisk
from odradek.storage.checkpoints import LOG_STARTS, RECOVERY_POINTS

from tests.requests.offsets import delete_before
from tests.requests.produce import batch, produce
from tests.support.cluster import client_of, open_cluster


def test_deleted_records_do_not_come_back_after_a_crash(disk: MemoryDisk) -> None:
    cluster = open_cluster(disk)
    cluster.create_topic("t", 1, {})
    client = client_of(cluster)
    for _ in range(5):
        produce(client, batch(b"x"))
    assert delete_before(client, 3) == 3
    cluster.log_dir.close(clean=False)

    again = open_cluster(disk)
    partition = again.partition("t", 0)
    assert (partition.log_start_offset, partition.log_end_offset) == (3, 5)
    again.close()


def test_checkpoints_are_written_once_a_minute(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    cluster.create_topic("t", 1, {})
    produce(client_of(cluster), batch(b"x"))
    (tmp_path / RECOVERY_POINTS).unlink(missing_ok=True)
    cluster.advance(59_999)
    assert not (tmp_path / RECOVERY_POINTS).exists()
    cluster.advance(1)
    assert (tmp_path / RECOVERY_POINTS).read_text() == "0\n1\nt 0 0\n"
    assert (tmp_path / LOG_STARTS).read_text() == "0\n0\n"
    cluster.close()
