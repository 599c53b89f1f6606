"""Expressions are read and matched as RE2 does it, of which a broker has the Java version.

Where those two differ, ours goes by the Java one, and what is drawn is left out: RE2 knows `\\C`,
takes a brace that is none for a literal, and `[[:]` too, and does not let `\\` stand before letters
beyond ASCII. Counts are drawn small, since it limits their product.
"""

from __future__ import annotations

import re

import pytest
import re2
from hypothesis import assume, given
from hypothesis import strategies as st
from odradek.emulator.groups.regex.re2 import InvalidRegex, compile_re2

from tests.emulator.groups.regex.support.drawn import TEXTS, expressions, pieced_together
from tests.support.drawn import examples

QUIET = re2.Options()
QUIET.log_errors = False
DIFFERENT = re.compile(r"\\C|\\[^\x00-\x7f]|\{[*+?{]|\[\^?\[:\]")


@pytest.mark.slow
@examples(800)
@given(expressions(), st.lists(TEXTS, max_size=5))
def test_the_same_texts_match(expression: str, texts: list[str]) -> None:
    ours, theirs = compile_re2(expression), re2.compile(expression, QUIET)
    matches = {text: ours.fullmatch(text) for text in texts}
    assert matches == {text: theirs.fullmatch(text) is not None for text in texts}


@pytest.mark.slow
@examples(800)
@given(pieced_together(), st.lists(TEXTS, max_size=3))
def test_the_same_is_refused(expression: str, texts: list[str]) -> None:
    assume(not DIFFERENT.search(expression))
    try:
        ours = compile_re2(expression)
    except InvalidRegex:
        with pytest.raises(re2.error):
            re2.compile(expression, QUIET)
        return
    theirs = re2.compile(expression, QUIET)
    matches = {text: ours.fullmatch(text) for text in texts}
    assert matches == {text: theirs.fullmatch(text) is not None for text in texts}
