"""Fitting: whether a single value is as a test expects.

What may be expected:

- bytes, a str, a number, a bool, None: the same.
- a compiled regular expression: found in the text. A class: an instance of it.
- a function: called with what is there, says whether it fits.
- anything else: its own `==` says so, such as unittest.mock.ANY, which equals everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_MOST_SHOWN = 300
_PLAIN = (dict, list, tuple, int, float, bytes, bytearray, memoryview, str, type(None))


def fits(expected: Any, there: Any) -> bool:
    """Whether something that has no parts is as expected."""
    if isinstance(expected, _PLAIN):
        # For Python, 1 == True; not so for JSON.
        return bool(expected == there) and isinstance(expected, bool) == isinstance(there, bool)
    if isinstance(expected, re.Pattern):
        text = as_text(there) if isinstance(expected.pattern, str) else there
        return isinstance(text, type(expected.pattern)) and bool(expected.search(text))
    if isinstance(expected, type):
        return isinstance(there, expected)
    if callable(expected):
        try:
            return bool(expected(there))
        except BaseException as error:
            error.add_note(f"raised by {described(expected)}, called with {shown(there)}")
            raise
    return bool(expected == there)


def as_text(there: Any) -> Any:
    """Bytes as the text that they are, if they are UTF-8; anything else as it is."""
    if isinstance(there, bytes):
        try:
            return there.decode()
        except UnicodeDecodeError:
            return there
    return there


def described(expected: Any) -> str:
    """A matcher, in words."""
    if isinstance(expected, re.Pattern):
        return f"a match of {expected.pattern!r}"
    if isinstance(expected, type):
        return f"any {expected.__name__}"
    if callable(expected) and hasattr(expected, "__name__"):
        return f"the function {expected.__name__}"
    if isinstance(expected, Mapping):
        return (
            "{" + ", ".join(f"{key!r}: {described(each)}" for key, each in expected.items()) + "}"
        )
    if isinstance(expected, list):
        return "[" + ", ".join(map(described, expected)) + "]"
    return shown(expected)


def shown(what: object) -> str:
    """Its repr, cut if it is long."""
    text = repr(what)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}... ({len(text)} characters)"
