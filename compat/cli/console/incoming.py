"""Records to be produced, from lines of text, from what `odradek records --json` prints, or made
from a template.

Templates of test data: `{"id": {seq}, "city": {city}}`.

A field is a name in braces; other braces stand for themselves. Text that does not stand within
quotes gets them, so that a template of JSON makes JSON. The same seed makes the same records.
"""

from __future__ import annotations

import json
import re
import time
from argparse import ArgumentTypeError, Namespace
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from random import Random
from typing import IO, Any, NamedTuple
from uuid import UUID

from ....wire.records import NewRecord
from .client import ConsoleError
from .sending import Placed

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
    number: int
    """Of the record, from 0 on."""
    random: Random
    now_ms: int


def _bounds(text: str, first: float, last: float) -> tuple[float, float]:
    if not text:
        return first, last
    low, dots, high = text.partition("..")
    return (float(low), float(high)) if dots else (first, float(low))


def _int(moment: Moment, text: str) -> int:
    low, high = _bounds(text, 0, 999)
    return moment.random.randint(int(low), int(high))


def _float(moment: Moment, text: str) -> float:
    return round(moment.random.uniform(*_bounds(text, 0, 1)), 3)


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
"""Each field: its meaning, and how it is made."""


class Template:
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
        return "".join(
            part if isinstance(part, str) else self._filled(*part, moment) for part in self._parts
        )

    def _filled(self, name: str, text: str, is_quoted: bool, moment: Moment) -> str:
        made = FIELDS[name][1](moment, text)
        if isinstance(made, str) and (is_quoted or not self._is_json):
            return made
        return json.dumps(made)


def _try(name: str, text: str) -> None:
    try:
        FIELDS[name][1](Moment(0, Random(0), 0), text)
    except ValueError:
        raise ArgumentTypeError(
            f"{{{name}:{text}}} is wrong: {name} is {FIELDS[name][0]}"
        ) from None


def template(text: str) -> Template:
    return Template(text)


Encode = Callable[[NewRecord], NewRecord]
"""Gives keys and values the form of their schemas. Raises ValueError."""
_KNOWN = {
    *("topic", "partition", "offset", "timestamp", "key", "value", "headers"),
    *("key_base64", "value_base64"),
}


def now_ms() -> int:
    """The time, in ms since 1970."""
    return time.time_ns() // 1_000_000


def made(options: Namespace, encode: Encode) -> Iterator[Placed]:
    """Records from templates. Raises ConsoleError for one that does not fit its schema."""
    count, value = options.generate
    random = Random(options.seed)
    for number in range(count):
        moment = Moment(number, random, now_ms())
        key = None if options.key is None else options.key.fill(moment).encode()
        record = NewRecord(_time(options), key, value.fill(moment).encode(), tuple(options.header))
        try:
            yield Placed(encode(record), options.partition)
        except ValueError as error:
            raise ConsoleError(f"record {number}: {error}") from None


def of_lines(
    options: Namespace, lines: Iterable[tuple[str, bytes]], encode: Encode
) -> Iterator[Placed]:
    """A record of each line; each comes with where it is. Raises ConsoleError."""
    parse = _as_json if options.json else _as_text
    for where, line in lines:
        try:
            found = parse(options, line.removesuffix(b"\n").removesuffix(b"\r"))
            record = encode(found.record)
        except ValueError as error:
            raise ConsoleError(f"{where}: {error}") from None
        partition = found.partition if options.partition is None else options.partition
        yield Placed(record, partition, found.source)


def lines_of(files: list[str], standard: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    """The lines of these files, of standard input for "-" or if there are none. Raises
    ConsoleError."""
    with ExitStack() as opened:
        inputs: list[tuple[str, IO[bytes]]] = []
        for name in files or ["-"]:
            try:
                inputs.append(
                    ("standard input", standard)
                    if name == "-"
                    else (name, opened.enter_context(open(name, "rb")))
                )
            except OSError as error:
                raise ConsoleError(f"{name} cannot be read: {error.strerror}") from None
        for name, file in inputs:
            for number, line in enumerate(file, 1):
                yield f"{name}, line {number}", line


def _as_text(options: Namespace, line: bytes) -> Placed:
    key: bytes | None = None if options.key is None else options.key.text.encode()
    value = line
    if options.key_separator is not None:
        before, found, after = line.partition(options.key_separator.encode())
        if not found:
            text = line.decode(errors="backslashreplace")
            raise ValueError(f"there is no separator {options.key_separator!r} in {text!r}")
        key, value = before, after
    null = None if options.null is None else options.null.encode()
    headers = tuple(options.header)
    return Placed(NewRecord(_time(options), _unless(null, key), _unless(null, value), headers))


def _unless(null: bytes | None, data: bytes | None) -> bytes | None:
    return None if data == null else data


def _as_json(options: Namespace, line: bytes) -> Placed:
    """As `records --json` prints it. Raises ValueError."""
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise ValueError(f"this is no JSON: {error}") from None
    if not isinstance(entry, dict):
        raise ValueError(f"a record is a JSON object, not {entry!r}")
    if unknown := set(entry) - _KNOWN:
        known = "key, value, headers, timestamp, partition"
        raise ValueError(f"there is no field {min(unknown)!r} of a record: {known}")
    timestamp = (
        _number_of(entry, "timestamp", _time(options))
        if options.timestamp is None
        else options.timestamp
    )
    key = _data(entry, "key") if options.key is None else options.key.text.encode()
    headers = [*options.header, *map(_header, entry.get("headers") or ())]
    partition = _number_of(entry, "partition", None)
    record = NewRecord(timestamp, key, _data(entry, "value"), tuple(headers))
    topic, offset = entry.get("topic"), _number_of(entry, "offset", None)
    if not isinstance(topic, str) or partition is None or offset is None:
        return Placed(record, partition)
    return Placed(record, partition, (topic, partition, offset))


def _header(header: Any) -> tuple[str, bytes | None]:
    if not isinstance(header, dict) or not isinstance(header.get("name"), str):
        raise ValueError(f'a header is {{"name": ..., "value": ...}}, not {json.dumps(header)}')
    return header["name"], _data(header, "value")


def _data(entry: dict[str, Any], name: str) -> bytes | None:
    """A key or a value: text, base64 under another name, or anything else as JSON."""
    if f"{name}_base64" in entry:
        try:
            return b64decode(entry[f"{name}_base64"], validate=True)
        except (NotBase64, TypeError, ValueError):
            raise ValueError(f"{name}_base64 is not base64: {entry[f'{name}_base64']!r}") from None
    found = entry.get(name)
    if found is None or isinstance(found, str):
        return None if found is None else found.encode()
    return json.dumps(found, ensure_ascii=False).encode()


def _number_of(entry: dict[str, Any], name: str, default: Any) -> Any:
    found = entry.get(name)
    if found is None:
        return default
    if type(found) is not int:
        raise ValueError(f"{name} is a whole number, not {found!r}")
    return found


def _time(options: Namespace) -> int:
    return now_ms() if options.timestamp is None else options.timestamp
