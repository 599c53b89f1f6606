"""Arguments of the command line: each text is checked before any broker is asked.

Every function here is a `type=` of argparse: it returns the value, or raises ArgumentTypeError with
what is wrong, which ends the command with status 2. There are few imports, because the parser of
every command needs this module.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterable, Iterator

from ....emulator.base.addresses import is_port

INT16 = 2**15 - 1
INT32 = 2**31 - 1
KAFKAS_PORT = 9092
_LONGEST_S = 86_400.0


def parse_addresses(text: str) -> Iterator[tuple[str, int]]:
    """Each HOST[:PORT] of a list with commas. Raises ValueError."""
    for address in text.split(","):
        host, colon, port = address.strip().rpartition(":")
        if not colon:
            host, port = address.strip(), str(KAFKAS_PORT)
        if not host or not is_port(port):
            raise ValueError(f"not an address of the form HOST:PORT: {address!r}")
        yield host.strip("[]"), int(port)


def addresses(text: str) -> str:
    """HOST:PORT, or several with commas: the text as it is."""
    try:
        list(parse_addresses(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= _LONGEST_S:
        raise argparse.ArgumentTypeError(
            f"not a number of seconds, above 0 and at most a day: {text!r}"
        )
    return value


def whole(first: int, last: int) -> Callable[[str], int]:
    """A whole number from `first` to `last`."""

    def parse(text: str) -> int:
        if re.fullmatch("-?[0-9]{1,18}", text) and first <= int(text) <= last:
            return int(text)
        raise argparse.ArgumentTypeError(f"not a whole number from {first} to {last}: {text!r}")

    return parse


def setting(text: str) -> tuple[str, str]:
    """CONFIG=VALUE; a value may be empty, and contain more equals signs."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"not of the form CONFIG=VALUE: {text!r}")
    return name.strip(), value


def named(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError(f"not a name: {text!r}")
    return text.strip()


def pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from None


def header(text: str) -> tuple[str, re.Pattern[str]]:
    """NAME=REGEX."""
    name, equals, regex = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"not of the form NAME=REGEX: {text!r}")
    return name, pattern(regex)


def partitions(text: str) -> tuple[str, int | None]:
    """NAME, for all of its partitions, or NAME:PARTITION."""
    name, colon, index = text.partition(":")
    if not name or (colon and not re.fullmatch("[0-9]{1,9}", index)):
        raise argparse.ArgumentTypeError(f"neither NAME nor NAME:PARTITION: {text!r}")
    return name, int(index) if colon else None


def node_ids(text: str) -> list[int]:
    """Ids of brokers, with commas, each once."""
    texts = [each.strip() for each in text.strip("[]").split(",")]
    if not all(re.fullmatch("[0-9]{1,9}", each) for each in texts):
        raise argparse.ArgumentTypeError(f"not the ids of brokers, as 2,3: {text!r}")
    found = list(map(int, texts))
    if len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"a broker is named twice: {text!r}")
    return found


def nearest(text: str, names: Iterable[str], most: int, *, far: bool = False) -> list[str]:
    """The names that a slip of the fingers makes this of, the nearest first: a letter in three may
    be missing, added, wrong, or exchanged with the next; or the end is missing. With `far` also
    those unlike it."""
    lower, limit = text.lower(), max(1, len(text.lstrip("-")) // 3)
    ranked = sorted((_slips(lower, each.lower()), each) for each in {*names})
    begins = (each for _, each in ranked if len(text) > limit + 1 and each.startswith(text))
    near = [*(each for slips, each in ranked if far or slips <= limit), *begins]
    return [*dict.fromkeys(near)][:most]


def _slips(one: str, other: str) -> int:
    """Letters added, removed, changed, or exchanged with the next."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one):
        before, above, row = row, before, [i + 1]
        for j, b in enumerate(other):
            best = min(before[j] + (a != b), before[j + 1] + 1, row[j] + 1)
            if i and j and a == other[j - 1] and one[i - 1] == b:
                best = min(best, above[j - 1] + 1)
            row.append(best)
    return row[-1]


def likely_of(text: str, names: Iterable[str]) -> str:
    """The end of a message: the likely one of these names, or all of them."""
    known = list(names)
    near = nearest(text, known, 1)
    return f": is {near[0]} meant?" if near else f": {', '.join(known)}"
