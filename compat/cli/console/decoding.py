"""The meaning of the bytes of keys and values: text, JSON, numbers, what a schema registry knows.

`--decode json` is of values, `--decode key=i` of keys. Numbers are those of Python's struct, as in
kcat: `b B h H i I q Q f d`, big-endian unless `<` stands before them. Bytes that are not what was
said are shown as they are.
"""

from __future__ import annotations

import argparse
import json
import struct
from base64 import b64encode
from collections.abc import Callable
from typing import Any, NamedTuple

from ....wire import WireError
from ....wire.records import Record
from .arguments import likely_of
from .internal_records import decoded_internal

NUMBERS = "bBhHiIqQfd"
_NAMES = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int": "i",
    "int64": "q",
    "long": "q",
    "float": "f",
    "double": "d",
}
REGISTRY = ("avro", "protobuf", "json-schema", "registry")

Decoder = Callable[[bytes], Any]
"""From bytes to what is shown. Raises ValueError."""


class Decoded(NamedTuple):
    """A record, and what its key and value mean: bytes where nothing else was said."""

    topic: str
    partition: int
    record: Record
    key: Any
    value: Any

    def as_json(self) -> Any:
        """The value as JSON; None if it is none."""
        if not isinstance(self.value, bytes):
            return self.value
        try:
            return json.loads(self.value)
        except ValueError:
            return None


class Kind(NamedTuple):
    of_key: bool
    name: str


def kind(text: str) -> Kind:
    """For argparse: [key=|value=]KIND."""
    where, equals, name = text.rpartition("=")
    if equals and where not in ("key", "value"):
        raise argparse.ArgumentTypeError(f"neither key=KIND nor value=KIND: {text!r}")
    known = [*_NAMES, "text", "json", "hex", "base64", "bytes", *REGISTRY]
    if name not in known and name.lstrip("<>") not in (*NUMBERS, "s"):
        raise argparse.ArgumentTypeError(f"there is no kind {name!r}{likely_of(name, known)}")
    return Kind(where == "key", name)


def decoder(name: str, registry: Decoder | None) -> Decoder:
    """The decoder of a kind. `registry` decodes what was written with a schema."""
    if name in REGISTRY:
        assert registry is not None
        return registry
    if name in ("text", "s", "bytes"):
        return lambda data: data
    if name == "json":
        return json.loads
    if name == "hex":
        return bytes.hex
    if name == "base64":
        return lambda data: b64encode(data).decode()
    order, letter = ("<", name[1:]) if name[0] == "<" else (">", name.removeprefix(">"))
    packed = struct.Struct(order + _NAMES.get(letter, letter))

    def number(data: bytes) -> Any:
        if len(data) != packed.size:
            raise ValueError(f"{len(data)} bytes are no {name}")
        return packed.unpack(data)[0]

    return number


class Decoding:
    def __init__(self, topic: str, key: Decoder | None, value: Decoder | None) -> None:
        self._topic = topic
        self._key = key
        self._value = value

    def decode(self, partition: int, record: Record) -> Decoded:
        internal = decoded_internal(self._topic, record)
        key, value = internal or (
            _with(self._key, record.key),
            _with(self._value, record.value),
        )
        return Decoded(self._topic, partition, record, key, value)


def _with(decode: Decoder | None, data: bytes | None) -> Any:
    if decode is None or data is None:
        return data
    try:
        return decode(data)
    except (ValueError, WireError):
        return data
