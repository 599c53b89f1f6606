"""Expressions are matched as `re` matches them, and none takes long."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odradek.emulator.groups.regex.automaton import Automaton, TooLarge
from odradek.emulator.groups.regex.re2 import InvalidRegex, _Reader, compile_re2

ATOMS = st.sampled_from(
    [
        "a",
        "b",
        ".",
        "[ab]",
        "[^a]",
        r"\.",
        "^",
        "$",
        r"\b",
        r"\B",
        r"\A",
        r"\z",
        "(?i:A)",
        "-",
        r"\w",
    ]
)


def _joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeats = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?"])
    return st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.tuples(inner, repeats).map(lambda two: f"(?:{two[0]}){two[1]}"),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
    )


@settings(max_examples=400)
@given(st.recursive(ATOMS, _joined, max_leaves=8), st.text("ab.-A\n", max_size=8))
def test_it_finds_what_re_finds(expression: str, text: str) -> None:
    written = _Reader(expression).read()
    assert Automaton(written).fullmatch(text) == (re.fullmatch(written, text) is not None)


@pytest.mark.parametrize("expression", ["(a+)+b", "(a|aa)*b", "(a*)*(a*)*b", "((a?){30}a{30})+b"])
def test_repeated_repetitions_take_no_time_to_speak_of(expression: str) -> None:
    # By going back and forth this would not end before the sun does.
    assert not compile_re2(expression).fullmatch("a" * 249)


def test_an_expression_that_unrolls_without_end_is_refused() -> None:
    with pytest.raises(InvalidRegex):
        compile_re2("((a{1000}){1000}){1000}")
    with pytest.raises(TooLarge):
        Automaton("(?:(?:a{1000}){1000})")
