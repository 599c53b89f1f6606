"""A record: its headers, its text, its JSON, its repr."""

from __future__ import annotations

from dataclasses import replace

import pytest
from odradek.emulator.seen import Headers, SeenRecord
from odradek.emulator.seen.record import Raw

RECORD: Raw = SeenRecord(
    "orders", 1, 5, 1000, "CreateTime", b"k", b'{"a": 1}', Headers(), -1, -1, -1, False, "committed"
)


@pytest.mark.parametrize(
    "given",
    [
        [("a", b"1"), ("b", None)],
        (("a", b"1"), ("b", None)),
        [["a", "1"], ["b", None]],
        {"a": b"1", "b": None},
        {"b": None, "a": "1"},
    ],
)
def test_headers_equal_what_a_client_was_given(given: object) -> None:
    headers = Headers([("a", b"1"), ("b", None)])
    assert headers == given
    assert given == headers


@pytest.mark.parametrize(
    "given",
    [
        [("b", None), ("a", b"1")],
        [("a", b"1")],
        {"a": b"1"},
        {"a": b"1", "b": b""},
        [("a", b"2"), ("b", None)],
        [1, 2],
        "ab",
        None,
    ],
)
def test_headers_differ_from_others(given: object) -> None:
    headers = Headers([("a", b"1"), ("b", None)])
    assert headers != given
    assert (headers == given) is False


def test_a_header_that_is_there_twice_equals_no_dict() -> None:
    headers = Headers([("a", b"1"), ("a", b"2")])
    assert headers == [("a", b"1"), ("a", b"2")]
    assert headers != {"a": b"2"}
    assert headers.all("a") == [b"1", b"2"]
    assert headers.all("b") == []
    assert hash(headers) == hash(Headers(headers))


def test_headers_are_found_by_name_as_in_a_dict() -> None:
    headers = Headers([("a", b"1"), ("b", None), ("a", b"2")])
    assert "a" in headers
    assert "c" not in headers
    assert ("b", None) in headers
    assert (headers["a"], headers["b"], headers[0]) == (b"2", None, ("a", b"1"))
    assert (headers.get("a"), headers.get("c"), headers.get("c", b"x")) == (b"2", None, b"x")
    assert (headers.keys(), headers.values()) == (("a", "b"), (b"2", None))
    assert dict(headers) == dict(headers.items()) == {"a": b"2", "b": None}
    assert list(headers) == [("a", b"1"), ("b", None), ("a", b"2")]
    with pytest.raises(KeyError, match="no header 'c'; there are: 'a', 'b'"):
        headers["c"]


def test_text_and_json() -> None:
    assert RECORD.text == '{"a": 1}'
    assert RECORD.json() == {"a": 1}
    assert replace(RECORD, value=None).text is None


def test_what_is_no_text_or_json_is_named() -> None:
    with pytest.raises(ValueError, match=r"<orders-1@5 key=b'k' value=b'\\xff'> is not UTF-8"):
        _ = replace(RECORD, value=b"\xff").text
    with pytest.raises(ValueError, match=r"<orders-1@5 key=b'k' value=b'x'> is not JSON"):
        replace(RECORD, value=b"x").json()
    with pytest.raises(ValueError, match="is a tombstone"):
        replace(RECORD, value=None).json()


def test_its_repr() -> None:
    assert repr(RECORD) == """<orders-1@5 key=b'k' value=b'{"a": 1}'>"""
    bare = replace(RECORD, key=None, value=None, state="open", headers=Headers([("h", b"v")]))
    assert repr(bare) == "<orders-1@5 value=None headers=[('h', b'v')] open>"
