"""Characters of categories and scripts, and letters in any case, as RE2 knows them."""

from __future__ import annotations

import pytest
import re2
from odradek.emulator.groups.regex.characters import Characters, Item, other_cases, unicode_class
from odradek.emulator.groups.regex.re2 import InvalidRegex, compile_re2

LOW = "".join(map(chr, range(0x250)))
CLASSES = """
    L Ll Lu Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp
    C Cc Cf Co Cs Any Latin Greek Cyrillic Arabic Hebrew Han Hiragana Katakana Hangul Thai
    Common Inherited Devanagari Armenian Georgian Phags_Pa
"""
WITH_CASE = "".join(chr(code) for code in range(0x10450) if not 0xD800 <= code < 0xE000)


@pytest.mark.slow
def test_letters_have_the_cases_that_re2_gives_them() -> None:
    for char in WITH_CASE:
        cases = other_cases(char)
        if len(cases) > 1:
            assert set(re2.findall("(?i)" + re2.escape(char), WITH_CASE)) == set(cases)


def test_other_cases_lead_to_each_other() -> None:
    for char in WITH_CASE:
        assert {frozenset(other_cases(other)) for other in other_cases(char)} == {
            frozenset(other_cases(char))
        }


@pytest.mark.parametrize("name", CLASSES.split())
def test_classes_of_unicode_are_known(name: str) -> None:
    test = unicode_class(name)
    assert test is not None
    found = [char for char in LOW if test(char)]
    assert found == re2.findall(rf"\p{{{name}}}", LOW)


@pytest.mark.parametrize(
    ("name", "member", "no_member"),
    [
        ("Greek", "\u03b1\u03a9\u2126\u1f00", "a\u04341"),
        ("Cyrillic", "\u0434\u0416\u0500", "a\u03b1-"),
        ("Han", "\u4e16\u754c\u2e80", "\u3042\u30a2"),
        ("Hiragana", "\u3042", "\u30a2\u4e16"),
        ("Hangul", "\ud55c\u1100", "\u4e16"),
        ("Hebrew", "\u05d0", "\u0627"),
        ("Latin", "aZ\u00e9\u00aa\uff21", "\u03b1\u04341_"),
        ("Common", "1-_.\u3001", "a\u03b1\u0434"),
        ("Deseret", "\U00010400", "a"),
    ],
)
def test_scripts(name: str, member: str, no_member: str) -> None:
    test = unicode_class(name)
    assert test is not None
    assert all(map(test, member))
    assert not any(map(test, no_member))


def test_a_class_that_is_unknown_is_refused() -> None:
    for name in ("Cn", "Foo", "latin", "", "^"):
        with pytest.raises(InvalidRegex, match="invalid character class range"):
            compile_re2(rf"\p{{{name}}}")


def test_a_negated_class_leaves_out_other_cases_too() -> None:
    assert not compile_re2(r"(?i)[^k]").fullmatch("\u212a")
    assert not compile_re2(r"(?i)\W").fullmatch("\u017f")
    assert compile_re2(r"\W").fullmatch("\u017f")
    assert compile_re2(r"(?i)[\PL]").fullmatch("-")


def test_what_is_remembered_of_characters_is_bounded() -> None:
    characters = Characters([Item(str.isalpha)])
    for char in WITH_CASE:
        assert (char in characters) == char.isalpha()
    assert len(characters._known) <= 1000
