"""Expressions of RE2, as members of consumer groups subscribe with them."""

from __future__ import annotations

import pytest
from odradek.emulator.groups.regex.re2 import InvalidRegex, compile_re2


@pytest.mark.parametrize(
    ("expression", "matches", "misses"),
    [
        ("a.*", ["a", "abc"], ["ba", ""]),
        ("(?i)foo|b", ["FOO", "B"], ["foob"]),
        ("(?i:a)b", ["Ab"], ["aB"]),
        (r"\Qa.b\E", ["a.b"], ["axb"]),
        ("[[:alpha:]_-]+", ["a_b-c"], ["a1"]),
        ("[^a-c]", ["d"], ["a", ""]),
        (r"\d{2,3}", ["12", "123"], ["1", "1234"]),
        (r"\p{Lu}\pN?", ["A", "A1"], ["a"]),
        ("a{,2}", ["a{,2}"], ["a"]),
        (r"\x41\101\x{41}", ["AAA"], ["A"]),
        ("a|^b$|", ["a", "b", ""], ["ab"]),
        (r"(?P<name>a)(?:b)*?", ["a", "abb"], ["b"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("x(?i)*y", ["y", "xxY"], ["Xy"]),
    ],
)
def test_an_expression_matches_whole_names(
    expression: str, matches: list[str], misses: list[str]
) -> None:
    pattern = compile_re2(expression)
    assert [text for text in matches if pattern.fullmatch(text)] == matches
    assert [text for text in misses if pattern.fullmatch(text)] == []


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("(?=a)", "invalid or unsupported Perl syntax"),
        ("(?<!a)", "invalid named capture"),
        (r"(a)\1", "invalid escape sequence"),
        ("a**", "invalid nested repetition operator"),
        ("a++", "invalid nested repetition operator"),
        ("a{1001}", "invalid repeat count"),
        ("a{2,1}", "invalid repeat count"),
        ("*a", "missing argument to repetition operator"),
        ("[b-a]", "invalid character class range"),
        ("[[:foo:]]", "invalid character class range"),
        ("[a", "missing closing ]"),
        ("(a", "missing closing )"),
        ("a)", "regexp/syntax: internal error"),
        ("\\", "trailing backslash at end of expression"),
        ("(?P<n>a)(?P<n>b)", "duplicate capture group name"),
        ("(?P<n", "invalid named capture"),
        (r"\C", "invalid escape sequence"),
    ],
)
def test_what_re2_does_not_know_is_refused_in_its_words(expression: str, reason: str) -> None:
    with pytest.raises(InvalidRegex, match=f"^{reason.replace(')', '[)]').replace(']', ']')}"):
        compile_re2(expression)
