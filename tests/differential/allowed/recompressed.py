"""Whether a difference follows from compression: two libraries need not write the same bytes.

A broker that converts or recompresses stores other bytes than the next, and an answer is cut where
the stored bytes end. The messages themselves are compared.
"""

from __future__ import annotations

from odradek.wire import WireError
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.compression import Codec, decompress, mend_lz4_checksum
from odradek.wire.legacy.message_sets import entries, read_head, read_key_and_value

from ..engine.compare import Difference

_PACKED_BETTER = 16
"""Bytes by which two libraries differ at most in what is compressed here."""
HEAP = 340 << 20
"""Bytes for which the real broker has room here: two thirds of its 512 MiB are for what is old, and
what is large is old at once."""
_UNKNOWN_SERVER_ERROR = -1
_ENTRY_HEAD = 12
"""Bytes of an entry before its content: offset and size."""
_SMALLEST_ENTRY = 14


def holds_wrappers(request: FetchRequest, difference: Difference) -> bool:
    """Whether two lists of messages begin alike, as far as both go, and one of them is compressed
    (a wrapper around others)."""
    real, ours = difference.real, difference.ours
    if not isinstance(real, list) or not isinstance(ours, list):
        return False
    pairs = zip(real, ours, strict=False)
    both = [(left, right) for left, right in pairs if "messages" in left and "messages" in right]
    is_alike = all(left["messages"] == right["messages"] for left, right in both)
    return is_alike and any("compressed" in tree for tree in (*real, *ours))


def is_cut_elsewhere(request: FetchRequest, difference: Difference) -> bool:
    """Whether an answer goes on for a few bytes more on one side: it ends where the stored bytes
    end, and a library may have packed some of those a little better."""
    real, ours = difference.real, difference.ours
    if isinstance(real, int) and isinstance(ours, int):
        return abs(real - ours) <= _PACKED_BETTER
    if not isinstance(real, bytes) or not isinstance(ours, bytes):
        return False
    is_near = abs(len(real) - len(ours)) <= _PACKED_BETTER
    return is_near and (real.startswith(ours) or ours.startswith(real))


def asks_for_too_much(request: ProduceRequest, difference: Difference) -> bool:
    """Whether an entry inside a wrapper has a size for which the real broker has no memory. It
    allocates before it sees that the entry is cut, and answers that it does not know what failed.
    """
    parts = (part for topic in request.topic_data for part in topic.partition_data)
    return difference.real == _UNKNOWN_SERVER_ERROR and any(
        _largest_inner(bytes(part.records or b"")) > HEAP for part in parts
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
            while pos + _ENTRY_HEAD <= len(text):
                sizes.append(int.from_bytes(text[pos + 8 : pos + _ENTRY_HEAD], "big", signed=True))
                pos += _ENTRY_HEAD + max(sizes[-1], _SMALLEST_ENTRY)
    except WireError:
        return max(sizes)
    return max(sizes)
