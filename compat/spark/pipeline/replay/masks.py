"""Which records are replayed, and what of them is hidden.

A mask is the start of an HMAC-SHA256 under the user's secret, in hexadecimal digits: the same text
has the same mask in every run with that secret, so that keys stay equal where they were, and nobody
without the secret can check a guess.

A path names what is in a JSON value: `user.email`, `items[*].name`, `tags[*]`. What is not there is
passed over. A value that is no JSON cannot be masked, and is refused.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import PipelineError

_DIGITS = 32
_ALL = "[*]"
_STEP = re.compile(r"([^.\[\]]+)((?:\[\*\])*)")

Path = tuple[str, ...]
"""Names of fields, and `[*]` for each element of a list."""


def parse_path(text: str) -> Path:
    """A path as it is written. Raises ValueError."""
    steps: list[str] = []
    for part in text.removeprefix("$.").split("."):
        found = _STEP.fullmatch(part)
        if found is None:
            raise ValueError(f"not a path such as user.email or items[*].name: {text!r}")
        steps += [found[1], *[_ALL] * (len(found[2]) // len(_ALL))]
    return tuple(steps)


def found_at(value: Any, path: Path) -> Iterator[tuple[Any, Any]]:
    """Where the path leads in a JSON value: a dict or list, and the key or index in it."""
    if isinstance(value, list) and path and path[0] == _ALL:
        keys: list[Any] = list(range(len(value)))
    elif isinstance(value, dict) and path and path[0] in value:
        keys = [path[0]]
    else:
        return
    for key in keys:
        if len(path) == 1:
            yield value, key
        else:
            yield from found_at(value[key], path[1:])


@dataclass(frozen=True)
class Masks:
    secret: bytes = b""
    keys: bool = False
    paths: tuple[Path, ...] = ()

    def of(self, records: pa.RecordBatch) -> pa.RecordBatch:
        """The records with their masks. Raises PipelineError."""
        if self.keys:
            index = records.schema.get_field_index("key")
            records = records.set_column(index, "key", self._keys(records["key"]))
        if self.paths:
            index = records.schema.get_field_index("value")
            values = [self._value(records, row) for row in range(records.num_rows)]
            records = records.set_column(index, "value", pa.array(values, pa.binary()))
        return records

    def mask(self, data: bytes) -> bytes:
        """The mask of some bytes."""
        digest = hmac.new(self.secret, data, hashlib.sha256).hexdigest()
        return digest[:_DIGITS].encode()

    def _keys(self, keys: pa.Array) -> pa.Array:
        distinct = keys.dictionary_encode()
        masks = [self.mask(key.as_py()) for key in distinct.dictionary]
        return pa.array(masks, pa.binary()).take(distinct.indices)

    def _value(self, records: pa.RecordBatch, row: int) -> bytes | None:
        value: bytes | None = records["value"][row].as_py()
        if value is None:
            return None
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            where = "-".join(str(records[name][row].as_py()) for name in ("topic", "partition"))
            offset = records["offset"][row].as_py()
            raise PipelineError(
                f"{where}: the value at offset {offset} is no JSON, so nothing can be masked in it"
            ) from None
        for path in self.paths:
            for holder, key in found_at(parsed, path):
                if holder[key] is not None:
                    hidden = json.dumps(holder[key], sort_keys=True).encode()
                    holder[key] = self.mask(hidden).decode()
        return json.dumps(parsed, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Choice:
    """Which records are replayed. The expressions are RE2's, as Arrow has them."""

    key: str | None = None
    where: tuple[tuple[Path, str], ...] = ()
    partitions: frozenset[int] = frozenset()

    def check(self) -> None:
        """Raises PipelineError for an expression that is none."""
        for regex in (*([self.key] if self.key is not None else []), *(r for _, r in self.where)):
            try:
                pc.match_substring_regex(pa.array([""]), regex)
            except pa.ArrowInvalid as error:
                raise PipelineError(f"{regex!r} is no regular expression: {error}") from None

    def of(self, records: pa.RecordBatch) -> pa.RecordBatch:
        if self.partitions:
            wanted = pa.array(sorted(self.partitions), pa.int32())
            records = records.filter(pc.is_in(records["partition"], value_set=wanted))
        if self.key is not None:
            matches = pc.match_substring_regex(records["key"], self.key)
            records = records.filter(pc.fill_null(matches, False))
        for path, regex in self.where:
            texts = [_text(value.as_py(), path) for value in records["value"]]
            matches = [pc.match_substring_regex(pa.array(each), regex) for each in texts]
            chosen = [pc.any(each).as_py() or False for each in matches]
            records = records.filter(pa.array(chosen, pa.bool_()))
        return records


def _text(value: bytes | None, path: Path) -> pa.Array:
    """The text that a path finds in a value: texts as they are, all else as JSON."""
    try:
        parsed = json.loads(value or b"null")
    except (ValueError, RecursionError):
        return pa.array([], pa.string())
    found = (holder[key] for holder, key in found_at(parsed, path))
    texts = [each if isinstance(each, str) else json.dumps(each) for each in found]
    return pa.array(texts, pa.string())
