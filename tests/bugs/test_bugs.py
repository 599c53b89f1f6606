"""Bugs in services are found by their promises alone: some of them here, all by `python -m
tests.bugs`."""

from __future__ import annotations

import pytest

from tests.bugs.__main__ import row, session
from tests.bugs.catalogue import BUGS

pytest.importorskip("confluent_kafka")
QUICK = ("commit_before_processing", "partition_0_alone", "reads_uncommitted", "tombstones")
CAUSES = ("committed before the output", "read by nobody", "were aborted", "without a value")


def test_there_are_twenty_six() -> None:
    assert len({each.function for each in BUGS}) == 26


@pytest.mark.slow
def test_some_are_found_in_the_plain_run() -> None:
    reports = session([f"{name}-bug" for name in QUICK], budget=5)
    for name, cause in zip(QUICK, CAUSES, strict=True):
        (bug,) = [each for each in BUGS if each.function.__name__ == name]
        told = row(bug, reports.get(f"{name}-bug"), (0, 0))
        assert "| nothing |" in told, told
        assert cause in told


@pytest.mark.long
def test_all_are_found_and_no_right_one_is_blamed() -> None:
    names = [each.function.__name__ for each in BUGS]
    reports = session([f"{name}-{kind}" for name in names for kind in ("bug", "right")], budget=60)
    found = [name for name in names if reports[f"{name}-bug"].failed]
    blamed = [name for name in names if reports[f"{name}-right"].failed]
    assert (len(found) >= 24, blamed) == (True, []), sorted(set(names) - set(found))
