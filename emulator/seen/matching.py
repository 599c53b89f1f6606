"""Matching: what a test expects of a record, and how a record differs from it.

What may be expected of a key, a value, or a part of JSON:

- bytes or None: the same. A str: its UTF-8, as clients store it.
- a dict: JSON with these keys, whatever others it has; so also for dicts within. A list: JSON with
  as many items, each as expected. A number or a bool: JSON.
- any other matcher: base/fitting.py.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple, TypedDict

from ..base.fitting import as_text, fits, shown, told
from ..base.words import number_of
from .record import Headers, SeenRecord, parsed

MOST_COMPARED = 1000
"""So many of the newest records are compared to find the nearest."""
_JSON = (dict, list, tuple, int, float)
_BYTES = (bytes, bytearray, memoryview)
UNSET: Any = object()


class Expectation(TypedDict, total=False):
    """What verbs take that wait for records or assert them."""

    key: Any
    value: Any
    json: Any
    text: Any
    headers: Any
    where: Callable[[Any], Any]


class Difference(NamedTuple):
    """One way in which a record is not as expected."""

    text: str
    weight: int = 1
    """How many expectations have failed with it."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of one record; UNSET where nothing is."""

    key: Any = UNSET
    value: Any = UNSET
    json: Any = UNSET
    text: Any = UNSET
    headers: Any = UNSET
    where: Any = UNSET

    def __str__(self) -> str:
        given = [(name, getattr(self, name)) for name in self.__slots__]
        return ", ".join(f"{name}={told(each)}" for name, each in given if each is not UNSET)

    def matches(self, record: SeenRecord[Any, Any]) -> bool:
        """Whether the record is as expected. Raises what a function raises that was given, with a
        note of the record."""
        try:
            return next(self._differences(record), None) is None
        except BaseException as error:
            error.add_note(f"raised for {shown(record)}, compared with {self}")
            raise

    def among(self, records: Iterable[SeenRecord[Any, Any]]) -> list[SeenRecord[Any, Any]]:
        """Those that are as expected. Raises as `matches` does."""
        for name in ("key", "value"):
            if isinstance(expected := getattr(self, name), str | bytes):
                records = _with_content(name, expected, records)
        for expected in (self.value, self.json):
            if isinstance(expected, Mapping):
                records = _with_json(expected, records)
        return [record for record in records if self.matches(record)]

    def differences(self, record: SeenRecord[Any, Any]) -> list[Difference]:
        """How the record differs. What a function raises is one of its differences: while the
        nearest records are told, it meets records that a wait has not asked it about."""

        def found() -> Iterator[Difference]:
            try:
                yield from self._differences(record)
            except Exception as error:
                yield Difference(f"not compared further: {_raised(error)}")

        return list(found())

    def is_like(self, record: SeenRecord[Any, Any]) -> bool:
        """Whether the record is as expected, for a report: one for which a function raises is
        not."""
        try:
            return self.matches(record)
        except Exception:
            return False

    def _differences(self, record: SeenRecord[Any, Any]) -> Iterator[Difference]:
        if self.key is not UNSET:
            yield from _of_content("key", self.key, record.key)
        if self.value is not UNSET:
            yield from _of_content("value", self.value, record.value)
        if self.json is not UNSET:
            yield from _of_json("value", self.json, record.value)
        if self.text is not UNSET:
            yield from _of_text(self.text, record.value)
        if self.headers is not UNSET:
            yield from _of_headers(self.headers, record.headers)
        if self.where is not UNSET and not self.where(record):
            yield Difference(f"where: {told(self.where)} says no")


def expected_of(verb: str, given: Mapping[str, Any], others: str) -> Expected:
    """What a verb was given; `others` are its other arguments. Raises TypeError."""
    names = list(Expected.__slots__)
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name, [*names, *others.split(", ")], 1)
            meant = f"; did you mean {near[0]}=?" if near else ""
            takes = f"it takes {', '.join(names)}, {others}{meant}"
            raise TypeError(f"{verb} has no argument {name!r}: {takes}")
    found = Expected(**given)
    if isinstance(found.json, _BYTES):
        raise TypeError(f"json is what JSON can express, not {found.json!r}: for bytes use value=")
    if isinstance(found.text, (*_BYTES, *_JSON, type(None))):
        kinds = "a str, a regular expression or a function"
        raise TypeError(f"text is {kinds}, not {found.text!r}: for others use value= or json=")
    if isinstance(found.headers, str | bytes | int | float | None):
        raise TypeError(f"headers are a dict or a list of pairs, not {found.headers!r}")
    if found.where is not UNSET and not callable(found.where):
        raise TypeError(f"where is a function of a record, not {found.where!r}")
    return found


def with_value(value: Any, given: Expectation) -> Expectation:
    """What is expected, the value being given without its name. Raises TypeError."""
    if "value" in given:
        raise TypeError(f"the value is given twice: {value!r}, and {given['value']!r}")
    return {**given, "value": value}


def nearest(
    records: Iterable[SeenRecord[Any, Any]], expected: Expected, most: int = 3
) -> list[tuple[SeenRecord[Any, Any], list[Difference]]]:
    """The records with the fewest differences, of those that have some; of equal ones the newest
    first."""
    newest = list(records)[: -MOST_COMPARED - 1 : -1]
    compared = [(record, expected.differences(record)) for record in newest]
    different = [each for each in compared if each[1]]
    different.sort(key=lambda each: sum(difference.weight for difference in each[1]))
    return different[:most]


def nearest_text(records: Iterable[SeenRecord[Any, Any]], expected: Expected) -> str:
    """The nearest records and how each differs, in lines; "" if there are none."""
    lines = []
    for record, differences in nearest(records, expected):
        lines.append(f"  {shown(record)}")
        lines += [f"    {difference.text}" for difference in differences]
    return "\n".join(["The nearest:", *lines]) if lines else ""


def differences_of(name: str, expected: Any, there: Any) -> list[str]:
    """How something is not as expected, in sentences."""
    return [difference.text for difference in _of_part(name, expected, there)]


def _with_content(
    name: str, expected: str | bytes, records: Iterable[SeenRecord[Any, Any]]
) -> Iterable[SeenRecord[Any, Any]]:
    """Those whose key or value may be this, found quickly: every wait looks at every record."""
    data = expected.encode() if isinstance(expected, str) else expected
    raw = (bytes, type(None))
    found = attrgetter(name)
    return [each for each in records if found(each) == data or type(found(each)) not in raw]


def _with_json(
    expected: Mapping[Any, Any], records: Iterable[SeenRecord[Any, Any]]
) -> Iterable[SeenRecord[Any, Any]]:
    """The same of JSON: those whose texts and numbers at the top are these."""
    plain = [(key, each) for key, each in expected.items() if type(each) in (str, int)]
    return [
        record
        for record in records
        if isinstance(there := parsed(record), dict)
        and all(there.get(key, UNSET) == each for key, each in plain)
    ]


def _of_content(name: str, expected: Any, there: Any) -> Iterator[Difference]:
    """A key or a value: bytes, unless it was decoded."""
    if not isinstance(there, bytes | None):
        yield from _of_part(name, expected, there)
    elif isinstance(expected, _JSON):
        yield from _of_json(name, expected, there)
    elif isinstance(expected, str):
        if there != expected.encode():
            yield _differs(name, as_text(there), expected)
    else:
        yield from _of_part(name, expected, there)


def _of_json(name: str, expected: Any, there: Any) -> Iterator[Difference]:
    if isinstance(there, bytes):
        try:
            there = json.loads(there)
        except ValueError:
            text = f"{name}: {shown(as_text(there))} is not JSON, expected {told(expected)}"
            yield Difference(text, _leaves(expected))
            return
    elif there is None:
        text = f"{name}: none (a tombstone has no JSON), expected {told(expected)}"
        yield Difference(text, _leaves(expected))
        return
    yield from _of_part("$" if name == "value" else f"{name} $", expected, there)


def _of_text(expected: Any, there: Any) -> Iterator[Difference]:
    text = as_text(there)
    if isinstance(text, str):
        yield from _of_part("text", expected, text)
    else:
        yield Difference(f"text: {shown(text)} is not UTF-8 text, expected {told(expected)}")


def _of_headers(expected: Any, there: Headers) -> Iterator[Difference]:
    if isinstance(expected, Mapping):
        for name, each in expected.items():
            values = there.all(name)
            if not values:
                yield Difference(f"header {name!r}: missing, expected {told(each)}")
                continue
            found = [list(_of_content(f"header {name!r}", each, value)) for value in values]
            if all(found):  # one of those of this name is enough
                yield found[-1][0]
    elif isinstance(expected, list | tuple):
        if there != expected:
            yield _differs("headers", list(there), expected)
    else:
        yield from _of_part("headers", expected, there)


def _of_part(path: str, expected: Any, there: Any) -> Iterator[Difference]:
    """Something, or a part of JSON."""
    if isinstance(expected, Mapping):
        if not isinstance(there, dict):
            yield _differs(path, there, expected)
            return
        for key, each in expected.items():
            inner = f"{path}.{key}" if re.fullmatch(r"\w+", str(key)) else f"{path}[{key!r}]"
            if key in there:
                yield from _of_part(inner, each, there[key])
            else:
                yield Difference(f"{inner}: missing, expected {told(each)}", _leaves(each))
    elif isinstance(expected, list | tuple):
        if not isinstance(there, list):
            yield _differs(path, there, expected)
            return
        for number, (each, found) in enumerate(zip(expected, there, strict=False)):
            yield from _of_part(f"{path}[{number}]", each, found)
        if len(expected) != len(there):
            yield Difference(f"{path}: {number_of(len(there), 'item')}, expected {len(expected)}")
    elif not fits(expected, there):
        yield _differs(path, there, expected)


def _raised(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _leaves(expected: Any) -> int:
    """How many expectations these are."""
    if isinstance(expected, Mapping):
        return sum(map(_leaves, expected.values())) or 1
    if isinstance(expected, list | tuple):
        return sum(map(_leaves, expected)) or 1
    return 1


def _differs(path: str, there: Any, expected: Any) -> Difference:
    text = f"{path}: {shown(there)}, expected {told(expected)}"
    return Difference(text, _leaves(expected))
