"""Which records are shown: by key, value, header, and by a path into JSON.

    .city=Oslo   $.items[0].price>5   items[*].id!=7   .note~urgent   .coupon   .id==7

A path leads to one value, or with `[*]` to several, one of which has to fit. `=` and `!=` compare
with JSON (`=5`, `=true`) or with text (`'Oslo'`, too), `<`, `<=`, `>`, `>=` numbers or texts, `~`
looks for a regular expression; `==` is `=`, `=~` is `~`. Without any of them the path has to lead
somewhere.
"""

from __future__ import annotations

import argparse
import json
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .arguments import pattern
from .decoding import Decoded
from .output import one_line

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_SAME = {"==": "=", "===": "=", "!==": "!=", "=~": "~"}
_CONDITION = re.compile(
    r"(?P<path>(?:[^=!<>~\[\]]|\[[^\]]*\])+)(?P<how>!==?|<=|>=|=~|={1,3}|<|>|~)?(?P<with>.*)", re.S
)
_STEP = re.compile(r"""\.?([^.\[\]]+)|\[(\d+|\*)\]|\["([^"]*)"\]""")

Step = str | int | None
"""A field, an index, or None for all elements."""


class Condition(NamedTuple):
    path: tuple[Step, ...]
    fits: Callable[[Any], bool]

    def holds(self, value: Any) -> bool:
        return any(self.fits(each) for each in _reached(value, self.path))


def _finder(text: str) -> Callable[[str], object]:
    """What looks for a regular expression of Python's."""
    return pattern(text).search


def condition(text: str, finder: Callable[[str], Callable[[str], object]] = _finder) -> Condition:
    """A condition as a user writes it. `finder` makes of a regular expression what looks for it,
    and answers something true where it is found. Raises ArgumentTypeError, and what `finder` does.
    """
    found = _CONDITION.fullmatch(text.strip())
    if found is None or (found["how"] is None and found["with"]):
        raise argparse.ArgumentTypeError(f"{text!r} is not like .city=Oslo")
    how, given = _SAME.get(found["how"], found["how"]), found["with"].strip()
    if len(given) > 1 and given[0] == given[-1] == "'":
        given = given[1:-1]
    return Condition(_path(found["path"].strip()), _fits(how, given, finder))


def _path(text: str) -> tuple[Step, ...]:
    rest, steps, position = text.removeprefix("$"), [], 0
    while position < len(rest):
        step = _STEP.match(rest, position)
        if step is None:
            raise argparse.ArgumentTypeError(f"{text!r} is no path, such as .items[0].id")
        name, index, quoted = step.groups()
        steps.append(
            (None if index == "*" else int(index)) if index else quoted if name is None else name
        )
        position = step.end()
    return tuple(steps)


def _fits(
    how: str | None, text: str, finder: Callable[[str], Callable[[str], object]]
) -> Callable[[Any], bool]:
    if how is None:
        return lambda _: True
    if how == "~":
        find = finder(text)
        return lambda value: bool(find(_text(value)))
    try:
        wanted = json.loads(text)
    except ValueError:
        wanted = text
    if how in ("=", "!="):
        return lambda value: (value == wanted or _text(value) == text) == (how == "=")
    compare = _COMPARED[how]

    def is_so(value: Any) -> bool:
        if isinstance(wanted, (int, float)) != isinstance(value, (int, float)):
            return False
        return compare(value if isinstance(wanted, (int, float)) else _text(value), wanted)

    return is_so


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _reached(value: Any, path: tuple[Step, ...]) -> Iterator[Any]:
    if not path:
        yield value
        return
    step, rest = path[0], path[1:]
    match value, step:
        case dict() | list(), None:
            for each in value.values() if isinstance(value, dict) else value:
                yield from _reached(each, rest)
        case list(), int() if step < len(value):
            yield from _reached(value[step], rest)
        case dict(), str() if step in value:
            yield from _reached(value[step], rest)


def matches(options: argparse.Namespace, found: Decoded) -> bool:
    if not (_found(options.key, found.key) and _found(options.value, found.value)):
        return False
    if options.header is not None:
        wanted, regex = options.header
        headers = found.record.headers
        if not any(name == wanted and _found(regex, value) for name, value in headers):
            return False
    return not options.where or _all_hold(options.where, found)


def _all_hold(conditions: list[Condition], found: Decoded) -> bool:
    value = found.as_json()
    return value is not None and all(each.holds(value) for each in conditions)


def _found(regex: re.Pattern[str] | None, data: Any) -> bool:
    if regex is None:
        return True
    if data is None:
        return False
    if isinstance(data, bytes):
        return regex.search(one_line(data.decode("utf-8", "backslashreplace"))) is not None
    return regex.search(_text(data)) is not None
