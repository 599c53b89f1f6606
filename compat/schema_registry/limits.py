"""The limits of a schema: beyond them a schema is refused at once, whatever it would cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

BYTES_MAX = 1 << 20
"""Of one schema's text: Kafka's own limit of a record."""
DEPTH_MAX = 100
"""Of brackets within brackets."""
STEPS_MAX = 200_000
"""Pairs of types that one comparison may look at."""
REFERENCES_MAX = 1_000
"""Schemas that one schema may be made of, its references' references included."""


class TooLarge(Exception):
    """A schema is beyond a limit: `str` says which."""


class Steps:
    """Counts what a comparison does. `take` raises TooLarge."""

    def __init__(self) -> None:
        self._left = STEPS_MAX

    def take(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooLarge(f"the comparison takes more than {STEPS_MAX} steps")


def check_text(text: str) -> None:
    """Raises TooLarge for a text that is too long, or nested too deep."""
    size = len(text)
    if size > BYTES_MAX:
        raise TooLarge(f"the schema has {size} characters, and may have {BYTES_MAX}")
    depth = deepest = 0
    in_string = escaped = False
    for each in text:
        if in_string:
            in_string = escaped or each != '"'
            escaped = not escaped and each == "\\"
        elif each == '"':
            in_string, escaped = True, False
        elif each in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif each in "}]":
            depth -= 1
    if deepest > DEPTH_MAX:
        raise TooLarge(f"the schema is {deepest} levels deep, and may be {DEPTH_MAX}")


def read_json(text: str, number: Callable[[str], float] = float) -> Any:
    """The value of a text; `number` reads those that are not whole. Raises TooLarge, ValueError."""
    check_text(text)
    return json.loads(text, parse_constant=_no_constant, parse_float=number)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
