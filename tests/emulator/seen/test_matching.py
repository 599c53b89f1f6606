"""What is expected of a record, and how one differs from it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from unittest.mock import ANY

import pytest
from odradek.emulator.base.fitting import shown
from odradek.emulator.seen import Headers, SeenRecord
from odradek.emulator.seen.matching import Expected, expected_of, nearest, nearest_text


def record(
    value: bytes | None = b"v", key: bytes | None = b"k", offset: int = 0, **headers: bytes
) -> SeenRecord[Any, Any]:
    at = ("orders", 0, offset, 0, "CreateTime")
    given = Headers(headers.items())
    return SeenRecord(*at, key, value, given, -1, -1, -1, False, "committed")


def differences(expected: Expected, of: SeenRecord[Any, Any]) -> list[str]:
    return [difference.text for difference in expected.differences(of)]


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (b"v", b"v"),
        (bytearray(b"v"), b"v"),
        ("ü", "ü".encode()),
        (None, None),
        (ANY, b"v"),
        (ANY, None),
        (re.compile("^v.$"), b"v1"),
        (re.compile(b"\xff"), b"\x00\xff"),
        (bytes, b"v"),
        (lambda data: len(data) == 2, b"v1"),
        ({"a": 1}, b'{"a": 1, "b": 2}'),
        ([1, {"a": ANY}], b'[1, {"a": 2}]'),
        (3, b"3"),
        (True, b"true"),
    ],
)
def test_a_value_or_a_key_that_fits(expected: Any, value: bytes | None) -> None:
    assert Expected(value=expected).matches(record(value))
    assert Expected(key=expected).matches(record(key=value))


@pytest.mark.parametrize(
    ("expected", "value", "text"),
    [
        (b"w", b"v", "value: b'v', expected b'w'"),
        ("w", b"v", "value: 'v', expected 'w'"),
        ("w", b"\xff", r"value: b'\xff', expected 'w'"),
        ("w", None, "value: None, expected 'w'"),
        (None, b"v", "value: b'v', expected None"),
        (re.compile("^w"), b"v", "value: b'v', expected a match of '^w'"),
        (re.compile("w"), None, "value: None, expected a match of 'w'"),
        (str, b"v", "value: b'v', expected any str"),
        ({"a": 1}, b"v", "value: 'v' is not JSON, expected {'a': 1}"),
        ({"a": 1}, None, "value: none (a tombstone has no JSON), expected {'a': 1}"),
        (3, b"4", "$: 4, expected 3"),
    ],
)
def test_one_that_differs(expected: Any, value: bytes | None, text: str) -> None:
    assert differences(Expected(value=expected), record(value)) == [text]


def positive(number: float) -> bool:
    return number > 0


@pytest.mark.parametrize(
    ("expected", "value", "texts"),
    [
        ({"items": [{"price": 4}]}, b'{"items": [{"price": 4, "n": 1}]}', []),
        (
            {"items": [{"price": 4}]},
            b'{"items": [{"price": 3}]}',
            ["$.items[0].price: 3, expected 4"],
        ),
        ({"items": [1]}, b'{"items": []}', ["$.items: 0 items, expected 1"]),
        ({"items": [1, 2]}, b'{"items": [1, 3]}', ["$.items[1]: 3, expected 2"]),
        ({"a b": {"c": 1}}, b'{"a b": {}}', ["$['a b'].c: missing, expected 1"]),
        ({"a": {"b": 1}}, b'{"a": [1]}', ["$.a: [1], expected {'b': 1}"]),
        ({"a": [1]}, b'{"a": 1}', ["$.a: 1, expected [1]"]),
        ({"a": None}, b'{"a": null}', []),
        ({"a": 1}, b'{"a": true}', ["$.a: True, expected 1"]),
        ({"a": True}, b'{"a": 1}', ["$.a: 1, expected True"]),
        ({"a": 1}, b'{"a": 1.0}', []),
        ({"a": bool}, b'{"a": false}', []),
        ({"a": int}, b'{"a": "x"}', ["$.a: 'x', expected any int"]),
        ({"a": re.compile(r"\d")}, b'{"a": "x"}', [r"$.a: 'x', expected a match of '\\d'"]),
        ({"a": re.compile(r"\d")}, b'{"a": 7}', [r"$.a: 7, expected a match of '\\d'"]),
        ({"a": positive}, b'{"a": 0}', ["$.a: 0, expected the function positive"]),
        ({"a": ANY, "b": 1}, b'{"b": 2}', ["$.a: missing, expected <ANY>", "$.b: 2, expected 1"]),
        (None, b"null", []),
    ],
)
def test_json_is_compared_path_by_path(expected: Any, value: bytes, texts: list[str]) -> None:
    assert differences(Expected(json=expected), record(value)) == texts


def test_a_key_may_be_json() -> None:
    assert differences(Expected(key={"id": 1}), record(key=b'{"id": 2}')) == [
        "key $.id: 2, expected 1"
    ]


def test_text() -> None:
    assert Expected(text="v").matches(record())
    assert Expected(text=re.compile("V", re.IGNORECASE)).matches(record())
    assert Expected(text=str.islower).matches(record())
    assert differences(Expected(text="w"), record()) == ["text: 'v', expected 'w'"]
    assert differences(Expected(text="w"), record(b"\xff")) == [
        r"text: b'\xff' is not UTF-8 text, expected 'w'"
    ]
    assert differences(Expected(text="w"), record(None)) == [
        "text: None is not UTF-8 text, expected 'w'"
    ]


def test_headers() -> None:
    of = record(trace=b"1", kind=b"new")
    assert Expected(headers={"trace": "1"}).matches(of)
    assert Expected(headers={"trace": re.compile("^1"), "kind": b"new"}).matches(of)
    assert Expected(headers=[("trace", "1"), ("kind", b"new")]).matches(of)
    assert Expected(headers=ANY).matches(of)
    assert differences(Expected(headers={"trace": "2", "no": ANY}), of) == [
        "header 'trace': '1', expected '2'",
        "header 'no': missing, expected <ANY>",
    ]
    assert differences(Expected(headers=[("trace", "1")]), of) == [
        "headers: [('trace', b'1'), ('kind', b'new')], expected [('trace', '1')]"
    ]


def test_one_of_several_headers_of_a_name_is_enough() -> None:
    of = SeenRecord(
        *("orders", 0, 0, 0, "CreateTime", None, None),
        *(Headers([("a", b"1"), ("a", b"2")]), -1, -1, -1, False, "committed"),
    )
    assert Expected(headers={"a": "1"}).matches(of)
    assert not Expected(headers={"a": "3"}).matches(of)


def test_a_function_of_the_record() -> None:
    assert Expected(where=lambda each: each.offset == 3).matches(record(offset=3))
    assert differences(Expected(where=positive_offset), record()) == [
        "where: the function positive_offset says no"
    ]


def positive_offset(of: SeenRecord[Any, Any]) -> bool:
    return of.offset > 0


def test_what_a_function_raises_is_raised_with_the_record() -> None:
    with pytest.raises(KeyError) as raised:
        Expected(where=lambda each: each.json()["id"]).matches(record(b"{}", offset=7))
    (note,) = raised.value.__notes__
    assert note.startswith("raised for <orders-0@7 key=b'k' value=b'{}'>, compared with where=")


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"vale": 1}, TypeError, r"wait_for has no argument 'vale': .* did you mean value=\?"),
        ({"timout": 1}, TypeError, r"has no argument 'timout': .* did you mean timeout=\?"),
        ({"zzz": 1}, TypeError, "has no argument 'zzz': it takes key, value, .*, timeout$"),
        ({"json": b"{}"}, TypeError, r"json is what JSON can express, not b'\{\}': .* value="),
        ({"text": b"x"}, TypeError, "text is a str, a regular expression or a function, not b'x'"),
        ({"headers": "x"}, TypeError, "headers are a dict or a list of pairs, not 'x'"),
        ({"where": "x"}, TypeError, "where is a function of a record, not 'x'"),
    ],
)
def test_what_makes_no_sense_is_refused(given: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        expected_of("wait_for", given, "count, timeout")


@pytest.mark.parametrize(
    "expected",
    [
        Expected(),
        Expected(key="k"),
        Expected(key=b"k", value="v"),
        Expected(key=None),
        Expected(value=bytearray(b"v")),
        Expected(value={"a": 1}),
        Expected(json={"a": 1}),
        Expected(json={"a": 1, "b": {"c": 2}}),
        Expected(json={"a": True}),
        Expected(json={"a": "x", "b": ANY}),
        Expected(json={}),
        Expected(json=[1]),
        Expected(value={"a": 1}, json={"b": 2}),
        Expected(key="k", where=lambda each: each.offset == 0),
    ],
)
def test_what_is_found_among_many_is_what_matches(expected: Expected) -> None:
    """Most are ruled out by a quick look, which must rule out nothing else."""
    values = [None, b"v", b"\xff", b"{}", b'{"a": 1}', b'{"a": 1.0, "b": 2}', b'{"a": true}']
    values += [b'{"a": "x", "b": null}', b'{"a": 1, "b": {"c": 2}}', b"[1]", b"null", b'"a"']
    many = [record(value, key) for value in values for key in (None, b"k", b"l")]
    many += [replace(many[1], key="k"), replace(many[1], value="v"), replace(many[1], value={})]
    assert expected.among(many) == [each for each in many if expected.matches(each)]


def test_what_a_matcher_raises_names_what_it_was_called_with() -> None:
    with pytest.raises(KeyError) as raised:
        Expected(json={"a": lambda part: part["x"]}).matches(record(b'{"a": {"y": 1}}'))
    assert raised.value.__notes__ == [
        "raised by the function <lambda>, called with {'y': 1}",
        """raised for <orders-0@0 key=b'k' value=b'{"a": {"y": 1}}'>, """
        "compared with json={'a': the function <lambda>}",
    ]


def test_what_a_function_raises_is_a_difference_of_the_nearest() -> None:
    """They are compared as a whole: a wait asks no function about those of another key."""
    expected = Expected(key="other", where=lambda each: each.json()["x"])
    assert nearest_text([record(b"{}")], expected).splitlines()[2:] == [
        "    key: 'k', expected 'other'",
        "    not compared further: KeyError: 'x'",
    ]
    assert not expected.is_like(record(b"{}", key=b"other"))


def test_the_nearest_have_the_fewest_differences() -> None:
    wanted = Expected(json={"a": 1, "b": {"c": 2, "d": 3}})
    of = [
        record(b"text", offset=0),
        record(b'{"a": 1, "b": {"c": 2, "d": 4}}', offset=1),
        record(b'{"a": 1, "b": {}}', offset=2),
        record(b'{"a": 1, "b": {"c": 2, "d": 5}}', offset=3),
        record(b'{"a": 1, "b": {"c": 2, "d": 3}}', offset=4),
    ]
    assert [each.offset for each, _ in nearest(of, wanted, 9)] == [3, 1, 2, 0]
    assert nearest_text(of[:2], wanted).splitlines() == [
        "The nearest:",
        """  <orders-0@1 key=b'k' value=b'{"a": 1, "b": {"c": 2, "d": 4}}'>""",
        "    $.b.d: 4, expected 3",
        "  <orders-0@0 key=b'k' value=b'text'>",
        "    value: 'text' is not JSON, expected {'a': 1, 'b': {'c': 2, 'd': 3}}",
    ]
    assert nearest_text([], wanted) == ""


def test_of_many_records_the_newest_are_compared() -> None:
    of = [record(offset=number) for number in range(3000)]
    assert [each.offset for each, _ in nearest(of, Expected(value="w"))] == [2999, 2998, 2997]


def test_what_is_long_is_cut() -> None:
    assert shown(b"x" * 1000).endswith("... (1003 characters)")
    assert len(shown(b"x" * 1000)) < 350


def test_what_is_expected_in_words() -> None:
    expected = Expected(key="k", json={"a": re.compile("x"), "b": [int]}, where=positive)
    assert str(expected) == (
        "key='k', json={'a': a match of 'x', 'b': [any int]}, where=the function positive"
    )
    assert str(Expected()) == ""
