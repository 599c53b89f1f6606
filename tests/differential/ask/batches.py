"""Record batches for sequences: built when the sequence runs, so that they can contain symbols.

    batch(b"a", b"b", producer_id=seen("pid"), sequence=0)
    batch(b"a", edits={"magic": 1}, checked=False)

`edits` overwrite fields of the header after the batch was built; the CRC is then computed again
unless `checked` is False. `cut` removes bytes at the end, `extra` appends some.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import pack_into
from typing import Any

from odradek.wire.batch import checksum
from odradek.wire.primitives import write_varint
from odradek.wire.records import build_batch

from ..engine.steps import MAGIC, Symbol, World

_CODECS_BEFORE = 4
"""Codecs of releases without batches: none, GZIP, Snappy, LZ4."""
TIME = 1_600_000_000_000
"""The time (ms) of records that are built without one."""

# Where the fields of a batch's header lie, and how wide they are.
FIELDS = {
    "base_offset": (0, ">q"),
    "batch_length": (8, ">i"),
    "leader_epoch": (12, ">i"),
    "magic": (16, ">b"),
    "crc": (17, ">I"),
    "attributes": (21, ">h"),
    "last_offset_delta": (23, ">i"),
    "base_timestamp": (27, ">q"),
    "max_timestamp": (35, ">q"),
    "producer_id": (43, ">q"),
    "producer_epoch": (51, ">h"),
    "base_sequence": (53, ">i"),
    "count": (57, ">i"),
}
_COUNTS = ("last_offset_delta", "count")
"""Not changed where a broker takes a batch that counts its records wrongly."""


@dataclass(frozen=True)
class Batch(Symbol):
    """What `batch` returns: records of (time, key, value, headers), and how to build them."""

    records: tuple[tuple[Any, bytes | None, bytes | None, tuple[Any, ...]], ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    edits: Mapping[str, int] = field(default_factory=dict)
    checked: bool = True
    cut: int = 0
    extra: bytes = b""
    payload: bytes | None = None

    def resolve(self, world: World) -> bytes:
        if world.magic < MAGIC:
            return self._as_message_set(world)
        options = {name: world.resolve(value) for name, value in self.options.items()}
        records = [(world.resolve(r[0]), *r[1:]) for r in self.records]
        data = build_batch(records, **options)
        if self.payload is not None:
            del data[61:]
            data += self.payload
            pack_into(">i", data, 8, len(data) - 12)
        for name, value in self.edits.items():
            if name in _COUNTS and not world.checks_counts:
                continue
            place, code = FIELDS[name]
            pack_into(code, data, place, value)
        if self.checked and (self.edits or self.payload is not None) and "crc" not in self.edits:
            pack_into(">I", data, 17, checksum(data, 0, len(data)))
        return bytes(data[: len(data) - self.cut]) + self.extra

    def _as_message_set(self, world: World) -> bytes:
        """The same records for a release that has no batches."""
        from .message_sets import message_set

        codec = min(world.resolve(self.options.get("codec", 0)), _CODECS_BEFORE - 1)
        messages = [(time, key, value) for time, key, value, *_ in self.records]
        made: bytes = world.resolve(message_set(world.magic, *messages, codec=codec))
        return made

    def __repr__(self) -> str:
        parts = [f"{len(self.records)} records" if len(self.records) > 3 else repr(self.records)]
        for name in ("options", "edits"):
            parts += [f"{key}={value!r}" for key, value in getattr(self, name).items()]
        parts += [] if self.checked else ["crc as it was"]
        parts += [
            f"{n}={getattr(self, n)!r}" for n in ("cut", "extra", "payload") if getattr(self, n)
        ]
        return f"batch({', '.join(parts)})"


@dataclass(frozen=True)
class Joined(Symbol):
    """Several batches, one after the other."""

    parts: tuple[Any, ...]

    def resolve(self, world: World) -> bytes:
        return b"".join(world.resolve(part) for part in self.parts)


def batch(
    *values: bytes | None,
    key: bytes | None = b"k",
    time: Any = TIME,
    times: tuple[Any, ...] | None = None,
    headers: tuple[Any, ...] = (),
    sequence: int = -1,
    edits: Mapping[str, int] | None = None,
    checked: bool = True,
    cut: int = 0,
    extra: bytes = b"",
    payload: bytes | None = None,
    **options: Any,
) -> Any:
    """A batch of these values; options are build_batch's (codec, producer_id, ...)."""
    if sequence != -1:
        options["base_sequence"] = sequence
    at = times if times is not None else (time,) * len(values)
    records = tuple((when, key, value, headers) for when, value in zip(at, values, strict=True))
    return Batch(records, options, edits or {}, checked, cut, extra, payload)


def joined(*parts: Any) -> Any:
    """Batches (or bytes), one after the other."""
    return Joined(parts)


def record_bytes(
    *,
    key: bytes = b"k",
    value: bytes = b"v",
    key_length: int | None = None,
    value_length: int | None = None,
    headers: bytes = b"\0",
    length: int | None = None,
    offset_delta: int = 0,
    time_delta: int = 0,
) -> bytes:
    """One record as bytes of a batch, with lengths that may be wrong."""
    body = b"\0" + write_varint(time_delta) + write_varint(offset_delta)
    body += write_varint(len(key) if key_length is None else key_length) + key
    body += write_varint(len(value) if value_length is None else value_length) + value + headers
    return write_varint(len(body) if length is None else length) + body
