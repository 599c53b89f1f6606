"""The text of a `sasl.jaas.config`, read and written."""

from __future__ import annotations

import pytest
from odradek.emulator.security.mechanisms import LoginModule, parse_jaas, written


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"user_alice": "secret"},
        {"user_a,b=c": 'an odd "word\\', "x": ""},
        {"user_ä": "a;b = c\n"},
    ],
)
def test_what_is_written_is_read(options: dict[str, str]) -> None:
    module = LoginModule("org.example.Module", options)
    assert parse_jaas(written(module)) == module


def test_blanks_lines_and_bare_words_are_read() -> None:
    text = """ org.example.Module  REQUIRED
        a=b   c = "d e"
        ; """
    assert parse_jaas(text) == LoginModule("org.example.Module", {"a": "b", "c": "d e"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "begins with a login module"),
        ("org.example.Module", "begins with a login module"),
        ("org.example.Module always a=b;", "begins with a login module"),
        ("org.example.Module required a=b", "semicolon"),
        ("org.example.Module required a;", "not all of the form"),
        ("org.example.Module required a=;", "not all of the form"),
        ("org.example.Module required =a=b;", "not all of the form"),
        ('org.example.Module required a="b;', "quotation mark"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_jaas(text)
