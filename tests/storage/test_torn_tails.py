"""What a power cut leaves of real files."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from odradek.storage import LogConfig, LogDirectory
from odradek.storage.naming import KAFKA
from odradek.storage.torn_tails import lose_tails, recovery_points
from odradek.wire.batch import batches

from tests.storage.support.logs import append

TOPIC_ID = bytes(15) + b"\7"
NOW = 1_600_000_000_000


def written(path: Path, flushed: int) -> dict[str, int]:
    """A log of five batches, so many of them flushed; its recovery points."""
    directory = LogDirectory.open(path, node_id=1)
    log = directory.open_log("t", 0, TOPIC_ID, LogConfig(), NOW)
    for number in range(5):
        append(log, b"%d" % number)
        if number + 1 == flushed:
            log.flush()
    points = dict(recovery_points(directory))
    directory.close(clean=False)
    return points


def left(path: Path) -> int:
    """How many batches the next start finds, each in its place."""
    directory = LogDirectory.open(path, node_id=1)
    log = directory.open_log("t", 0, TOPIC_ID, LogConfig(), NOW)
    found = [header.base_offset for _, header in batches(log.read(0, 1 << 20))]
    directory.close()
    assert found == list(range(len(found)))
    return len(found)


@pytest.mark.parametrize("flushed", [0, 1, 3, 5])
def test_what_was_not_flushed_is_lost(tmp_path: Path, flushed: int) -> None:
    points = written(tmp_path, flushed)
    assert points == {"t-0": flushed}
    lose_tails(tmp_path, points, KAFKA.log_suffix, None)
    assert left(tmp_path) == flushed


def test_with_a_seed_a_beginning_of_it_is_left(tmp_path: Path) -> None:
    counts = set()
    for seed in range(30):
        path = tmp_path / str(seed)
        points = written(path, 2)
        lose_tails(path, points, KAFKA.log_suffix, Random(seed))
        counts.add(left(path))
    assert counts == {2, 3, 4, 5}


def test_damage_that_a_test_has_made_stays(tmp_path: Path) -> None:
    points = written(tmp_path, 0)
    (segment,) = (tmp_path / "t-0").glob("*.log")
    segment.write_bytes(b"nonsense")
    lose_tails(tmp_path, points, KAFKA.log_suffix, None)
    assert segment.read_bytes() == b"nonsense"
