"""`quorum-state`: no older than the metadata log, as Kafka writes it, and never a reason to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.metadata.log import MetadataLog, keep_quorum_state
from odradek.storage import LogDirectory
from odradek.storage.disk.directory import Directory

NEW = (
    b'{"clusterId":"","leaderId":7,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,'
    b'"currentVoters":[{"voterId":7}],"data_version":0}'
)
DYNAMIC = (
    b'{"leaderId":7,"leaderEpoch":3,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA",'
    b'"data_version":1}'
)


def test_a_new_metadata_log_has_one_of_its_epoch(tmp_path: Path) -> None:
    log_dir = LogDirectory.open(tmp_path, node_id=7)
    MetadataLog.open(log_dir, ManualClock(1_700_000_000_000))
    assert (tmp_path / "__cluster_metadata-0" / "quorum-state").read_bytes() == NEW
    log_dir.close()


@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_one_that_is_no_older_stays_as_it_is(tmp_path: Path, epoch: int) -> None:
    (tmp_path / "quorum-state").write_bytes(DYNAMIC)
    keep_quorum_state(Directory(tmp_path), 7, epoch)
    assert (tmp_path / "quorum-state").read_bytes() == DYNAMIC


@pytest.mark.parametrize("content", [NEW, b"", b"{", b"[]", b"{}", b'{"leaderEpoch":"x"}', b"\xff"])
def test_an_older_one_and_one_that_cannot_be_read_are_replaced(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "quorum-state").write_bytes(content)
    keep_quorum_state(Directory(tmp_path), 7, 4)
    state = json.loads((tmp_path / "quorum-state").read_bytes())
    assert (state["leaderId"], state["leaderEpoch"]) == (7, 4)
