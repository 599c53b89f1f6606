"""Message sets of magic 0 and 1: built when the sequence runs, so that they can contain symbols.

message_set(1, (0, b"k", b"v"), codec=1)
joined(message_set(0, (0, b"k", b"v")), edited(message_set(0, (1, b"k", b"w")), magic=3))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import calcsize, pack_into
from typing import Any
from zlib import crc32

from odradek.wire.compression import Codec, break_lz4_checksum, compress
from odradek.wire.legacy.message_sets import build_message

from ..engine.steps import Symbol, World

FIELDS = {"offset": (0, ">q"), "size": (8, ">i"), "crc": (12, ">I"), "magic": (16, ">b")}
FIELDS |= {"attributes": (17, ">b"), "time": (18, ">q"), "key_0": (18, ">i"), "key_1": (26, ">i")}
"""Where the fields of an entry lie, and how wide they are; the key's place depends on the magic."""


@dataclass(frozen=True)
class MessageSet(Symbol):
    """What `message_set` returns."""

    magic: int
    messages: tuple[tuple[Any, bytes | None, bytes | None], ...]
    codec: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    inner: Any = None

    def resolve(self, world: World) -> bytes:
        get = self.options.get
        first: int = get("first", 0)
        attributes: int = get("attributes", 0)
        text = b"".join(
            build_message(
                (first + number * get("step", 1), world.resolve(when), key, value),
                self.magic,
                0 if self.codec else attributes,
            )
            for number, (when, key, value) in enumerate(self.messages)
        )
        text += b"" if self.inner is None else world.resolve(self.inner)
        if not self.codec:
            return text
        packed = get("packed")
        if packed is None:
            packed = compress(self.codec, text)
            if self.codec == Codec.LZ4 and not self.magic and not get("right_lz4"):
                packed = break_lz4_checksum(packed)
        offset = get("offset", 0)
        when = world.resolve(get("time", -1))
        head = (offset, when, get("key"), bytes(packed))
        return build_message(head, self.magic, self.codec | attributes)


@dataclass(frozen=True)
class Edited(Symbol):
    """A set whose first entry was changed after it was built; with a right CRC if `checked`."""

    of: Any
    edits: Mapping[str, int]
    checked: bool
    cut: int

    def resolve(self, world: World) -> bytes:
        data = bytearray(world.resolve(self.of))
        size = int.from_bytes(data[8:12], "big") + 12
        for name, value in self.edits.items():
            place, code = FIELDS[name]
            if place + calcsize(code) <= len(data):
                pack_into(code, data, place, value)
        if self.checked and "crc" not in self.edits:
            pack_into(">I", data, 12, crc32(data[16:size]))
        return bytes(data[: len(data) - self.cut])


def message_set(
    magic: int,
    *messages: tuple[Any, bytes | None, bytes | None],
    codec: int = 0,
    inner: Any = None,
    **options: Any,
) -> Any:
    """Messages of (time, key, value); with a codec they stand in a compressed wrapper message.

    Options: `first` and `step` of the offsets, `attributes`; of the wrapper `offset`, `time`,
    `key`, `packed` (bytes in place of the compressed ones), `right_lz4` (a right checksum of the
    LZ4 frame in magic 0, where old clients write a wrong one). `inner` follows the messages.
    """
    return MessageSet(magic, messages, codec, options, inner)


def edited(of: Any, *, checked: bool = True, cut: int = 0, **edits: int) -> Any:
    """A set with fields of its first entry (FIELDS) changed, and bytes cut off its end."""
    return Edited(of, edits, checked, cut)
