"""Expressions are read and matched as RE2/J does it, the library of a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.compat.java.process import JavaProcess
from odradek.compat.real_kafka import VERSION
from odradek.emulator.groups.regex.re2 import InvalidRegex, compile_re2

from tests.emulator.groups.regex.support.drawn import TEXTS, expressions, pieced_together
from tests.support.drawn import examples

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def re2j() -> Iterator[JavaProcess]:
    with JavaProcess(VERSION, "Re2j", Path(__file__).parent / "support" / "re2j") as java:
        yield java


def answered(expression: str, texts: list[str]) -> dict[str, object]:
    try:
        pattern = compile_re2(expression)
    except InvalidRegex as reason:
        return {"refused": str(reason)}
    return {"matches": [pattern.fullmatch(text) for text in texts]}


@examples(3000)
@given(st.one_of(expressions(), pieced_together()), st.lists(TEXTS, max_size=5))
def test_what_is_drawn(re2j: JavaProcess, expression: str, texts: list[str]) -> None:
    assert answered(expression, texts) == re2j.ask(expression=expression, texts=texts)
