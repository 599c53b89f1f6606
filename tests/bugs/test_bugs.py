"""Bugs in services are found by their promises alone: some of them here, all by `python -m
tests.bugs`."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.bugs.__main__ import row, session
from tests.bugs.catalogue import BUGS

pytest.importorskip("confluent_kafka")
QUICK = ("commit_before_processing", "partition_0_alone", "reads_uncommitted", "tombstones")
CAUSES = ("committed before the output", "read by nobody", "were aborted", "without a value")


def test_how_many_there_are() -> None:
    clients = Counter(each.client for each in BUGS)
    assert clients == {"confluent-kafka": 26, "aiokafka": 5, "franz-go": 5, "kafkajs": 6}
    assert len({each.key for each in BUGS}) == clients.total()


@pytest.mark.slow
def test_some_are_found_in_the_plain_run() -> None:
    reports = session([f"{name}-bug" for name in QUICK], budget=5)
    for name, cause in zip(QUICK, CAUSES, strict=True):
        (bug,) = [each for each in BUGS if each.key == name]
        told = row(bug, reports.get(f"{name}-bug"), (0, 0))
        assert "| nothing |" in told, told
        assert cause in told


@pytest.mark.long
def test_all_are_found_and_no_right_one_is_blamed() -> None:
    names = [each.key for each in BUGS]
    reports = session([f"{name}-{kind}" for name in names for kind in ("bug", "right")], budget=60)
    found = [name for name in names if reports[f"{name}-bug"].failed]
    blamed = [name for name in names if reports[f"{name}-right"].failed]
    assert (len(found) >= 24, blamed) == (True, []), sorted(set(names) - set(found))
