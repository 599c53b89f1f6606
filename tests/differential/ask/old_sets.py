"""Message sets of magic 0 and 1 as trees, and built when a sequence runs.

A tree shows each entry with the fields of its head; a wrapper's messages stand in it, and what
hangs on the library that packed it apart, under "compressed", like a batch's (engine/mapping.py).
Behind a wrapper the end of an answer hangs on how well it was packed: it is shown as how much is
left.

    old_set(1, (0, b"k", b"v"), codec=1)
    joined(old_set(0, (0, b"k", b"v")), edited(old_set(0, (1, b"k", b"w")), magic=3))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import calcsize, pack_into
from typing import Any
from zlib import crc32

from odradek.wire import Request, WireError
from odradek.wire.batch import CODEC_MASK, LOG_APPEND_TIME
from odradek.wire.compression import (
    Codec,
    break_lz4_checksum,
    compress,
    decompress,
    mend_lz4_checksum,
)
from odradek.wire.legacy.message_sets import (
    Entry,
    build_message,
    entries,
    read_entry,
    read_head,
    read_key_and_value,
)

from ..engine.compare import Difference
from ..engine.steps import Symbol, World

FIELDS = {"offset": (0, ">q"), "size": (8, ">i"), "crc": (12, ">I"), "magic": (16, ">b")}
FIELDS |= {"attributes": (17, ">b"), "time": (18, ">q"), "key_0": (18, ">i"), "key_1": (26, ">i")}

HEAD = 18
"""An entry's bytes up to its attributes, which say whether it is packed."""

_PACKED_BETTER = 16
"""Bytes by which two libraries differ at most in what is packed here."""


def is_old(data: bytes) -> bool:
    """Whether an answer begins with an entry of magic 0 or 1, or with filling."""
    return data[:8] == b"\xff" * 8 or (len(data) > 16 and data[16] < 2)


def trees_of(data: bytes) -> list[Any]:
    """A tree for each whole entry, and one for what is left."""
    trees: list[Any] = []
    pos = 0
    try:
        for entry in entries(data):
            trees.append(_tree(data, entry))
            pos = entry.pos + entry.size
    except WireError as error:
        trees.append({"not an entry": str(error)})
    if pos < len(data):
        attributes = data[pos + HEAD - 1] if pos + HEAD <= len(data) else 0
        if any("compressed" in tree for tree in trees) or attributes & CODEC_MASK:
            trees.append({"compressed": {"left": len(data) - pos}})
        elif attributes & LOG_APPEND_TIME:
            trees.append({"left, with a time of the broker's": len(data) - pos})
        else:
            trees.append({"left": data[pos:]})
    return trees


def holds_wrappers(request: Request, difference: Difference) -> bool:
    """Whether two lists of trees begin alike, as far as both go, and there is a wrapper in them."""
    real, ours = difference.real, difference.ours
    if not isinstance(real, list) or not isinstance(ours, list):
        return False
    pairs = zip(real, ours, strict=False)
    both = [(left, right) for left, right in pairs if "messages" in left and "messages" in right]
    is_alike = all(left["messages"] == right["messages"] for left, right in both)
    return is_alike and any("compressed" in tree for tree in (*real, *ours))


def is_cut_elsewhere(request: Request, difference: Difference) -> bool:
    """Whether an answer goes on for a few bytes more on one side: it ends where the stored bytes
    end, and a library may have packed some of those a little better."""
    real, ours = difference.real, difference.ours
    if isinstance(real, int) and isinstance(ours, int):
        return abs(real - ours) <= _PACKED_BETTER
    if not isinstance(real, bytes) or not isinstance(ours, bytes):
        return False
    is_near = abs(len(real) - len(ours)) <= _PACKED_BETTER
    return is_near and (real.startswith(ours) or ours.startswith(real))


HEAP = 1 << 29
"""Bytes of memory that the real broker has here."""


def asks_for_too_much(request: Request, difference: Difference) -> bool:
    """Whether an entry inside a wrapper has a size that the real broker has no memory for. It makes
    room before it sees that the entry is cut, and answers that it does not know what went wrong."""
    parts = (part for topic in request.topic_data for part in topic.partition_data)  # type: ignore[attr-defined]
    return difference.real == -1 and any(
        _largest_inner(part.records or b"") > HEAP for part in parts
    )


def _largest_inner(data: bytes) -> int:
    """The largest size that an entry in a wrapper says it has."""
    sizes = [0]
    try:
        for entry in entries(data):
            head = read_head(data, entry)
            value = read_key_and_value(data, entry)[1]
            if entry.magic > 1 or not head.codec or value is None:
                continue
            packed = mend_lz4_checksum(value) if head.codec == Codec.LZ4 else value
            text = bytes(decompress(head.codec, packed, 1 << 26))
            pos = 0
            while pos + 12 <= len(text):
                sizes.append(int.from_bytes(text[pos + 8 : pos + 12], "big", signed=True))
                pos += 12 + max(sizes[-1], 14)
    except WireError:
        return max(sizes)
    return max(sizes)


def _tree(data: bytes, entry: Entry) -> dict[str, Any]:
    if entry.magic > 1:
        return {"magic": entry.magic, "bytes": data[entry.pos : entry.pos + entry.size]}
    head = read_head(data, entry)
    tree: dict[str, Any] = head._asdict()
    crc = tree.pop("crc")
    messages = read_entry(data, entry)
    tree["messages"] = [message._asdict() for message in messages]
    if not head.codec:
        tree["checksum"] = "<of a time set by the broker>" if head.is_log_append_time else crc
        return tree
    tree["compressed"] = {"checksum": crc, "size": entry.size}
    return tree


@dataclass(frozen=True)
class OldSet(Symbol):
    """What `old_set` returns."""

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
    """A set whose first entry was changed after it was built; its CRC is put right unless not."""

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


def old_set(
    magic: int,
    *messages: tuple[Any, bytes | None, bytes | None],
    codec: int = 0,
    inner: Any = None,
    **options: Any,
) -> Any:
    """Messages of (time, key, value); with a codec they are wrapped.

    Options: `first` and `step` of the offsets, `attributes`; of the wrapper `offset`, `time`,
    `key`, `packed` (bytes in place of the compressed), `right_lz4`. `inner` comes behind them.
    """
    return OldSet(magic, messages, codec, options, inner)


def edited(of: Any, *, checked: bool = True, cut: int = 0, **edits: int) -> Any:
    """A set with fields of its first entry (FIELDS) changed, and bytes cut off its end."""
    return Edited(of, edits, checked, cut)
