"""What is checked of an application's work, and how its processes are kept up."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from odradek.compat.applications.application import AT_LEAST_ONCE, EXACTLY_ONCE, applications
from odradek.compat.applications.job import (
    CUSTOMERS,
    ORDERS,
    Seen,
    Wrong,
    check,
    complete,
    customer,
    filled,
    is_refused,
    order,
    understood,
)
from odradek.compat.applications.processes import Ended, Processes
from odradek.compat.applications.results import (
    FAILED,
    PASSED,
    UNAVAILABLE,
    Result,
    insert,
    load,
    save,
    short,
    table,
)
from odradek.compat.clients import wait_until

ONE = replace(next(iter(applications().values())), guarantee=EXACTLY_ONCE, counts=True)
WHOLE = [Seen(each, customer(each).encode(), each // CUSTOMERS + 1) for each in range(ORDERS)]
CHANGES = replace(ONE, counts=False, changes=["made", "paid", "^$"])
STEPS = (b"made", b"paid", b"")
CHANGED = [Seen(each, b"%d" % each, 0, text) for each in range(ORDERS) for text in STEPS]
REFUSING = replace(ONE, counts=False, refused="refused")
PARTED = [each._replace(topic="refused" if is_refused(each.order) else "") for each in WHOLE]


def test_whole_work_is_right() -> None:
    check(WHOLE, ONE)


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (WHOLE[:-2], r"2 orders are lost: \[298, 299\]"),
        ([*WHOLE, WHOLE[7]], r"1 orders are there more than once: \[7\]"),
        ([*WHOLE, Seen(300, b"c3", 34)], r"1 orders that nobody has placed: \[300\]"),
        ([*WHOLE[:-1], Seen(299, b"c2", 35)], r"the counts of c2 have gaps"),
        ([*WHOLE[:-1], Seen(299, b"c2", 33)], r"c2 has 34 orders, and was counted to 33"),
    ],
)
def test_what_is_wrong_is_said(seen: list[Seen], said: str) -> None:
    with pytest.raises(Wrong, match=said):
        check(seen, ONE)


def test_what_is_there_again_is_allowed_at_least_once() -> None:
    check([*WHOLE, WHOLE[7]], replace(ONE, guarantee=AT_LEAST_ONCE))


def test_the_changes_of_an_order_come_in_their_order_under_one_key() -> None:
    check(CHANGED, CHANGES)
    assert complete(CHANGED[:-1], CHANGES.changes) == set(range(ORDERS - 1))
    loose = replace(CHANGES, guarantee=AT_LEAST_ONCE)
    check([*CHANGED, *CHANGED[-3:], CHANGED[-1]], loose)
    first, second, third, *rest = CHANGED
    for wrong in ([second, first, third], [first, third], [first, second, third, second]):
        with pytest.raises(Wrong, match="the changes of order 0 are not"):
            check([*wrong, *rest], loose)
    with pytest.raises(Wrong, match="the changes of order 299 are not"):
        check([*CHANGED, CHANGED[-1]], CHANGES)
    with pytest.raises(Wrong, match="under several keys"):
        check([first._replace(customer=b"1"), second, third, *rest], CHANGES)


def test_what_must_be_refused_is_in_its_topic_and_only_there() -> None:
    check(PARTED, REFUSING)
    taken = [*PARTED[:7], PARTED[7]._replace(topic=""), *PARTED[8:]]
    for wrong, number in ((taken, 7), ([PARTED[0]._replace(topic="refused"), *PARTED[1:]], 0)):
        with pytest.raises(Wrong, match=rf"'refused'.*\[{number}\]"):
            check(wrong, REFUSING)


def test_a_record_is_understood_in_whatever_form() -> None:
    assert understood(b"c8", order(17).encode())[:3] == (17, b"c8", 0)
    assert understood(b"c8", b'{"count":2,"order":17}')[:3] == (17, b"c8", 2)
    assert understood(b"", b"Struct{order=17}")[:3] == (17, b"", 0)
    assert understood(b'{"order":17}', b"")[:3] == (17, b'{"order":17}', 0)
    with pytest.raises(Wrong, match="names no order"):
        understood(b"", b"nothing")
    with pytest.raises(Wrong, match="a record of order 17 has the key"):
        understood(b'{"order":18}', b'{"order":17}')


def test_words_are_filled_in_and_other_braces_stay() -> None:
    assert filled('{"a": "{work}/x", {other}}', {"work": "w"}) == '{"a": "w/x", {other}}'


def test_a_process_that_has_ended_is_started_again(tmp_path: Path) -> None:
    program = "import os, pathlib; pathlib.Path(f'{os.getpid()}').touch()"
    processes = Processes([sys.executable, "-c", program], 2, {}, tmp_path)

    def has_started_four() -> bool:
        processes.keep()
        return len([each for each in tmp_path.iterdir() if each.name.isdigit()]) >= 4

    wait_until(has_started_four, "four were started")
    processes.kill()
    assert processes.ended >= 2


def test_one_that_ends_again_and_again_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("odradek.compat.applications.processes._PAUSE_S", 0.0)
    monkeypatch.setattr("odradek.compat.applications.processes._ENDS_MAX", 2)
    processes = Processes(["sh", "-c", "echo no way; exit 1"], 1, {}, tmp_path)

    def keeps() -> bool:
        processes.keep()
        return False

    with pytest.raises(Ended, match="3 times:\nno way"):
        wait_until(keeps, "it is given up")


def result(outcome: str, broker: str = "odradek", reason: str = "", ended: int = 0) -> Result:
    day, seconds = "2026-01-01", 7.2
    return Result(*(ONE.name, ONE.version, broker, "1", day, seconds, outcome, reason), ended=ended)


def test_a_result_takes_the_place_of_the_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    save(path, [result(PASSED, "kafka"), result(FAILED)])
    save(path, [result(PASSED)])
    assert load(path) == [result(PASSED, "kafka"), result(PASSED)]


def test_a_table_is_made_of_results() -> None:
    real = result(FAILED, "kafka", "1 orders are lost: [1]\nmore")
    made = table([result(PASSED, ended=1), real], {ONE.name: ONE}, [("A thing", "no such name")])
    row, *_, last = made.splitlines()[2:]
    assert row == (
        f"| {ONE.title} {ONE.version} | {ONE.what} | exactly once "
        "| yes (1, 2026-01-01, 7 s, ended by itself 1 times) "
        "| NO (1, 2026-01-01, 7 s, 1 orders are lost: [1]) |"
    )
    assert last == "- **A thing**: no such name"
    other = replace(result(PASSED), version="0.0.0")
    assert "| not run | not run |" in table([other], {ONE.name: ONE}, [])


def test_the_short_form_names_what_passed_and_what_failed() -> None:
    known = {ONE.name: ONE}
    name = f"{ONE.title} {ONE.version}"
    assert short([result(PASSED)], known) == f"1 applications pass: {name}."
    assert short([result(FAILED)], known).endswith(f" 1 fail: {ONE.title}.")
    assert short([result(UNAVAILABLE)], known) == "0 applications pass: ."


def test_a_page_without_a_place_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing")
    with pytest.raises(ValueError, match="no place for the table"):
        insert(page, "made")
