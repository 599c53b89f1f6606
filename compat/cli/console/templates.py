"""Templates of test data: `{"id": {seq}, "city": {city}}`.

A field is a name in braces; other braces stand for themselves. Text that does not stand within
quotes gets them, so that a template of JSON makes JSON. The same seed makes the same records.
"""

from __future__ import annotations

import json
import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from random import Random
from typing import NamedTuple
from uuid import UUID

_FIELD = re.compile(r"\{([a-z_]+)(?::([^{}]*))?\}")
_NAMES = (
    "Ada",
    "Bo",
    "Chen",
    "Dara",
    "Emil",
    "Fatou",
    "Grace",
    "Hugo",
    "Ines",
    "Jun",
    "Kofi",
    "Lea",
)
_CITIES = ("Accra", "Bergen", "Cusco", "Dakar", "Essen", "Fes", "Ghent", "Hanoi", "Izmir", "Jaipur")
_WORDS = ("amber", "bread", "cloud", "delta", "ember", "field", "grain", "house", "inlet", "jetty")


class Moment(NamedTuple):
    """What fields are made from."""

    number: int
    """Of the record, from 0 on."""
    random: Random
    now_ms: int


def _bounds(given: str, first: float, last: float) -> tuple[float, float]:
    if not given:
        return first, last
    low, dots, high = given.partition("..")
    return (float(low), float(high)) if dots else (first, float(low))


def _int(moment: Moment, given: str) -> int:
    low, high = _bounds(given, 0, 999)
    return moment.random.randint(int(low), int(high))


def _float(moment: Moment, given: str) -> float:
    return round(moment.random.uniform(*_bounds(given, 0, 1)), 3)


def _one_of(words: tuple[str, ...]) -> Callable[[Moment, str], str]:
    return lambda moment, _: moment.random.choice(words)


FIELDS: dict[str, tuple[str, Callable[[Moment, str], object]]] = {
    "seq": ("0, 1, 2, ...; {seq:100} begins at 100", lambda m, given: m.number + int(given or 0)),
    "int": ("a whole number from 0 to 999, or of {int:5..9}", _int),
    "float": ("a number from 0 to 1, or of {float:5..9}", _float),
    "bool": ("true or false", lambda m, _: m.random.random() < 0.5),
    "uuid": ("a random UUID", lambda m, _: str(UUID(int=m.random.getrandbits(128), version=4))),
    "name": ("a first name", _one_of(_NAMES)),
    "city": ("a city", _one_of(_CITIES)),
    "word": ("a word", _one_of(_WORDS)),
    "choice": ("one of {choice:new|paid|sent}", lambda m, given: m.random.choice(given.split("|"))),
    "time": ("the present time, in ms since 1970", lambda m, _: m.now_ms),
}
"""What each field is, and how it is made."""


class Template:
    """A text with fields."""

    def __init__(self, text: str) -> None:
        """Raises ArgumentTypeError for a field that there is not."""
        self.text = text
        self._parts: list[str | tuple[str, str, bool]] = []
        end, is_quoted = 0, False
        for match in _FIELD.finditer(text):
            name, given = match[1], match[2] or ""
            before = text[end : match.start()]
            is_quoted ^= (before.count('"') - before.count('\\"')) % 2 == 1
            if name not in FIELDS:
                raise ArgumentTypeError(f"there is no field {{{name}}}: {', '.join(FIELDS)}")
            _try(name, given)
            self._parts += [before, (name, given, is_quoted)]
            end = match.end()
        self._parts.append(text[end:])
        self._is_json = text.lstrip()[:1] in "{["

    def fill(self, moment: Moment) -> str:
        """The text for one record."""
        return "".join(
            part if isinstance(part, str) else self._filled(*part, moment) for part in self._parts
        )

    def _filled(self, name: str, given: str, is_quoted: bool, moment: Moment) -> str:
        made = FIELDS[name][1](moment, given)
        if isinstance(made, str) and (is_quoted or not self._is_json):
            return made
        return json.dumps(made)


def _try(name: str, given: str) -> None:
    try:
        FIELDS[name][1](Moment(0, Random(0), 0), given)
    except ValueError:
        raise ArgumentTypeError(
            f"{{{name}:{given}}} is wrong: {name} is {FIELDS[name][0]}"
        ) from None


def template(text: str) -> Template:
    """For argparse."""
    return Template(text)
