"""No expression takes long or much, whatever it is matched with; and counts are right."""

from __future__ import annotations

import tracemalloc
from random import Random

import pytest
from odradek.emulator.groups.regex import automaton
from odradek.emulator.groups.regex.automaton import Automaton, Work
from odradek.emulator.groups.regex.re2 import compile_re2

PORTION = 1000
NAMES_OF_A = ["a" * (200 + number % 50) for number in range(500)]


def names_of(letters: str, count: int) -> list[str]:
    drawn = Random(1)
    return ["".join(drawn.choices(letters, k=249)) for _ in range(count)]


def matched(pattern: Automaton, names: list[str]) -> tuple[list[str], int, int]:
    """What matches, how much work that was in all, and by how much a portion was exceeded."""
    work = Work(PORTION)
    portions, done, exceeded = pattern.matching(names, work), 0, 0
    while True:
        try:
            next(portions)
        except StopIteration as end:
            return end.value, done + PORTION - work.left, max(exceeded, -work.left)
        done += PORTION - work.left
        exceeded = max(exceeded, -work.left)
        work.left = PORTION


@pytest.mark.parametrize(
    ("expression", "names", "work_max"),
    [
        ("(a+)+b", NAMES_OF_A, 20_000),
        ("(a|aa)*b", NAMES_OF_A, 20_000),
        ("(a*)*(a*)*b", NAMES_OF_A, 20_000),
        ("((a?){30}a{30})+b", NAMES_OF_A, 200_000),
        ("(((a{0,9}){0,9}){0,9}){0,9}b", NAMES_OF_A, 200_000),
        ("((((a{0,9}b?){0,9}c?){0,9}d?){0,9})e", NAMES_OF_A, 500_000),
        ("((a{1000}){1000}){1000}", NAMES_OF_A, 20_000),
        ("((a{0,1000}){0,1000}){0,1000}b", NAMES_OF_A, 200_000),
        ("(((a*){1000}){1000}){1000}b", NAMES_OF_A, 200_000),
        ("((a{1,200}[ab]){1,200}[ab]){1,200}c", names_of("ab", 100), 100_000),
        ("(.*a){20}c", names_of("ab", 100), 100_000),
        ("|".join(f"t{number}" for number in range(5000)), NAMES_OF_A, 50_000),
    ],
)
def test_what_would_take_for_ever_takes_little(
    expression: str, names: list[str], work_max: int
) -> None:
    found, work, _ = matched(compile_re2(expression), names)
    assert found == []
    assert work < work_max


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression",
    [".*a.{100}c", "([ab]{1,9}){5,20}[ab]{50,100}c", "[ab]?" * 300 + "c", "(a?[ab]){99}c"],
)
def test_what_takes_much_is_done_in_small_portions(expression: str) -> None:
    found, work, exceeded = matched(compile_re2(expression), names_of("ab", 3))
    assert found == []
    assert work > 20 * PORTION
    assert exceeded < PORTION


@pytest.mark.parametrize(
    "expression",
    [
        "[ab]?" * 300 + "c",
        ".*a.{30}c",
        "(a?" + "a?b?" * 30 + "a){200}",
        "(((^|a){1000}){1000}){1000}b",
        "((((((a{0,99}b?){0,99}c?){0,99}d?){0,99}e?){0,99}f?){0,99}g?)h",
    ],
)
@pytest.mark.slow
def test_memory_is_bounded(expression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A tenth of what is allowed: measuring takes long.
    monkeypatch.setattr(automaton, "POSITIONS_MAX", automaton.POSITIONS_MAX // 10)
    monkeypatch.setattr(automaton, "KNOWN_MAX", automaton.KNOWN_MAX // 10)
    names = names_of("ab", 1)
    pattern = compile_re2(expression)
    tracemalloc.start()
    try:
        matched(pattern, names)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_what_needs_too_many_states_matches_nothing(caplog: pytest.LogCaptureFixture) -> None:
    too_much = compile_re2("(" + "a?" * 16_000 + "a){200}|x")
    assert matched(too_much, ["x", *NAMES_OF_A])[0] == []
    assert "needs too many states" in caplog.text


@pytest.mark.parametrize("count", [249, 250, 5000, 16_000])
@pytest.mark.slow
def test_depth_does_not_matter(count: int) -> None:
    for opening in ("(", "(?:", "(?i:", "(a|"):
        if (len(opening) + 1) * count < 65_536:
            assert compile_re2(opening * count + "b" + ")" * count).fullmatch("b")
    assert compile_re2("(?:" * count + "a" + ")?" * count).fullmatch("")
    assert compile_re2("(?:" * count + "a" + ")*" * count).fullmatch("aaa")


@pytest.mark.slow
def test_an_expression_of_the_longest_kind_is_read() -> None:
    for piece in ("a", "(a|b)", "[ab]", "a{0,9}", "(?i)", "[[:alpha:]]", "[[:", r"\Qa\E", "a|"):
        text = piece * (32_767 // len(piece))
        if piece != "[[:":
            assert not compile_re2(text).fullmatch("-")


def test_repetitions_that_take_nothing_count_where_they_can_be_had() -> None:
    # The first of the three may be empty at the beginning, and only there.
    assert compile_re2("(^|b){3}").fullmatch("bb")
    assert not compile_re2("(^|b){3}").fullmatch("bbbb")
    assert not compile_re2("(^|b){3}c").fullmatch("c" * 2)
    assert not compile_re2("(b|$){3}b").fullmatch("b")
    assert compile_re2(r"(\b|a){2,3}").fullmatch("a")
    assert compile_re2("(a?){3,5}").fullmatch("")
    assert not compile_re2("(a?){3,5}").fullmatch("a" * 6)


def test_counts_are_exact() -> None:
    twos = compile_re2("((ab){2,3}c){2}")
    lengths = [(first, second) for first in range(5) for second in range(5)]
    matching = [two for two in lengths if twos.fullmatch("ab" * two[0] + "c" + "ab" * two[1] + "c")]
    assert matching == [(2, 2), (2, 3), (3, 2), (3, 3)]
    thousand = compile_re2("(a{10}){100}")
    assert thousand.fullmatch("a" * 1000)
    assert not thousand.fullmatch("a" * 1001)
    assert not thousand.fullmatch("a" * 990)
