"""Bugs in services are found by their promises alone: some of them here, all by `python -m
tests.bugs`."""

from __future__ import annotations

from collections import Counter

import pytest
from odradek.fixtures.promises.causes import CAUSES as KNOWN

from tests.bugs.__main__ import BEGIN, END, merged, named, row, session
from tests.bugs.catalogue import BUGS, CAUSES, Bug
from tests.bugs.cost import restarts

pytest.importorskip("confluent_kafka")
QUICK = ("commit_before_processing", "partition_0_alone", "reads_uncommitted", "tombstones")
NAMED = ("committed before the output", "read by nobody", "were aborted", "without a value")


def test_how_many_there_are() -> None:
    clients = Counter(each.client for each in BUGS)
    others = {"aiokafka": 5, "franz-go": 5, "Java client": 6, "kafkajs": 6}
    assert clients == {"confluent-kafka": 26, **others}
    assert len({each.key for each in BUGS}) == clients.total()


def test_each_has_a_cause_that_the_report_may_name() -> None:
    assert {each.bug for each in BUGS} == set(CAUSES)
    assert {name for names in CAUSES.values() for name in names} <= {e.name for e in KNOWN}


def the_bug(key: str) -> Bug:
    (bug,) = (each for each in BUGS if each.key == key)
    return bug


def test_a_cause_that_is_another_is_marked() -> None:
    sentences = {each.name: each.sentence for each in KNOWN}
    bug = the_bug("poison")
    assert named(bug, sentences["poison"]).startswith("a record that cannot be understood")
    assert named(bug, sentences["retries"]).startswith("(not the cause) an error that is over")
    assert named(bug, None) == ""


def test_rows_of_the_page_stay_but_for_what_was_tried() -> None:
    first, second = the_bug("poison"), the_bug("tombstones")
    begin = f"| {first.client} | {first.name} | what | `at_least_once` |"
    page = f"above\n{BEGIN}{begin} 3 s | nothing | cause | 1 of 2 |\n{END}\nbelow"
    lines = [row(first, None), row(second, None, "3 of 3")]
    kept = merged(page, lines[:1], BUGS, twins_alone=True)
    assert (
        f"{begin.replace('| what |', f'| {first.what} |')} 3 s | nothing | cause | 1 of 2 |" in kept
    )
    again = merged(page, lines, BUGS)
    assert "not found | | | 1 of 2 |" in again
    assert "not found | | | 3 of 3 |" in again
    assert (again.startswith("above"), again.endswith("below")) == (True, True)


@pytest.mark.slow
def test_what_a_kill_costs_is_measured() -> None:
    there, joined = restarts(3)
    assert len(there) == len(joined) == 3
    assert all(0 < first < second for first, second in zip(there, joined, strict=True))


@pytest.mark.slow
def test_some_are_found_in_the_plain_run() -> None:
    reports = session([f"{name}-bug" for name in QUICK], budget=5)
    for name, cause in zip(QUICK, NAMED, strict=True):
        line = row(the_bug(name), reports.get(f"{name}-bug"))
        assert "| nothing |" in line, line
        assert cause in line


@pytest.mark.long
def test_all_are_found_and_no_right_one_is_blamed() -> None:
    names = [each.key for each in BUGS]
    reports = session([f"{name}-{kind}" for name in names for kind in ("bug", "right")], budget=60)
    found = [name for name in names if reports[f"{name}-bug"].failed]
    blamed = [name for name in names if reports[f"{name}-right"].failed]
    assert (len(found) >= 24, blamed) == (True, []), sorted(set(names) - set(found))
