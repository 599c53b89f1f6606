"""A record as a test sees it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

K = TypeVar("K")
V = TypeVar("V")

COMMITTED = "committed"
ABORTED = "aborted"
OPEN = "open"


class Headers(tuple[tuple[str, bytes | None], ...]):
    """The headers of a record, in order: pairs, as clients have them, that are also found by name,
    as in a dict. Of several of one name the last counts, as for `Headers.lastHeader` of the Java
    client; `all` has every one.

    They equal the list of pairs, or the dict, that a client was given; a str in there counts as its
    UTF-8."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Mapping):
            return len(other) == len(self) and dict(self) == dict(_pairs(other.items()))
        if isinstance(other, list | tuple):
            try:
                return tuple(self) == tuple(_pairs(other))
            except (TypeError, ValueError):
                return False
        return NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __contains__(self, header: object) -> bool:
        """Whether there is a header of this name, or this pair."""
        if isinstance(header, str):
            return any(name == header for name, _ in self)
        return tuple.__contains__(self, header)

    def __getitem__(self, key: Any) -> Any:
        """The value of a header by its name, or a pair by its place. Raises KeyError,
        IndexError."""
        if not isinstance(key, str):
            return tuple.__getitem__(self, key)
        found = self.all(key)
        if not found:
            names = ", ".join(map(repr, self.keys())) or "none"
            raise KeyError(f"no header {key!r}; there are: {names}")
        return found[-1]

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a header, or the default where there is none of this name."""
        return next((value for key, value in reversed(self) if key == name), default)

    def keys(self) -> tuple[str, ...]:
        """The names, each once."""
        return tuple(dict.fromkeys(name for name, _ in self))

    def values(self) -> tuple[bytes | None, ...]:
        """A value for each of `keys`."""
        return tuple(self[name] for name in self.keys())

    def items(self) -> tuple[tuple[str, bytes | None], ...]:
        """Name and value, each name once."""
        return tuple((name, self[name]) for name in self.keys())

    def all(self, name: str) -> list[bytes | None]:
        """The values of the headers of this name."""
        return [value for key, value in self if key == name]


def _pairs(given: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
    for key, value in given:
        yield key, value.encode() if isinstance(value, str) else value


@dataclass(frozen=True, slots=True, repr=False)
class SeenRecord(Generic[K, V]):
    """One stored record."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    """In ms since 1970; -1 for none."""
    timestamp_type: str
    """"CreateTime" (the producer's) or "LogAppendTime" (the broker's)."""
    key: K
    value: V
    headers: Headers
    producer_id: int
    """-1 for a producer that is not idempotent; then epoch and sequence are -1 too."""
    producer_epoch: int
    sequence: int
    is_transactional: bool
    state: str
    """"committed", which plain records are at once, "aborted", or "open" in a transaction."""
    _parsed: tuple[Any] | None = field(default=None, init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        key = "" if self.key is None else f" key={self.key!r}"
        headers = f" headers={list(self.headers)!r}" if self.headers else ""
        state = "" if self.state == COMMITTED else f" {self.state}"
        place = f"{self.topic}-{self.partition}@{self.offset}"
        return f"<{place}{key} value={self.value!r}{headers}{state}>"

    @property
    def text(self) -> str | None:
        """The value as UTF-8; None for a tombstone. Raises ValueError for other bytes."""
        if not isinstance(self.value, bytes):
            return None if self.value is None else str(self.value)
        try:
            return self.value.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"the value of {self!r} is not UTF-8: {error}") from None

    def json(self) -> Any:
        """The value as JSON. Raises ValueError if it is none; a tombstone is none."""
        text = self.text
        if text is None:
            raise ValueError(f"{self!r} is a tombstone: it has no JSON")
        try:
            return json.loads(text)
        except ValueError as error:
            raise ValueError(f"the value of {self!r} is not JSON: {error}") from None


def parsed(record: SeenRecord[Any, Any]) -> Any:
    """The value as JSON, or None if it is none. It is parsed once for all that ask, so they leave
    it as it is."""
    if record._parsed is None:
        try:
            found = record.json()
        except ValueError:
            found = None
        object.__setattr__(record, "_parsed", (found,))
    assert record._parsed is not None
    return record._parsed[0]


Raw: TypeAlias = SeenRecord[bytes | None, bytes | None]
"""A record with the bytes that were sent."""
