"""Facts of a segment's file that an image shares, so that it need not be read again.

A log that is opened reads its newest segment whole: with a million batches, for seconds. A file
that an image shares never changes (disk/mirror.py), so what the log knew when it was taken is
right as long as somebody holds the image, and with it the inode. Size and date are compared all the
same: who writes to a file by hand wants to see what comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakValueDictionary

from ..index import OffsetIndex, TimeIndex, TransactionIndex
from ..segment import Segment

Identity: TypeAlias = tuple[int, int, int, int]


@dataclass(eq=False)
class Known:
    """The state in memory of a segment, but for the positions of its last batches."""

    numbers: tuple[int, ...]
    offsets: bytes
    times: bytes
    last_time: int
    transactions: bytes


_known: WeakValueDictionary[Identity, Known] = WeakValueDictionary()


def learn(segment: Segment) -> Known | None:
    """The facts to hold for as long as the file's image. Raises OSError."""
    if not segment.on_disk or segment.offset_index.is_sealed or segment.damages:
        return None
    identity = segment.identity()
    if identity is None:
        return None
    known = _known.get(identity)
    if known is None:
        known = _known[identity] = Known(
            segment.numbers(),
            bytes(segment.offset_index.data),
            bytes(segment.time_index.data),
            segment.time_index.last_timestamp,
            bytes(segment.transaction_index.data),
        )
    return known


def recall(segment: Segment) -> bool:
    """Have the segment be as it was, if its file is known. Raises OSError."""
    identity = segment.identity()
    known = None if identity is None else _known.get(identity)
    if known is None or known.numbers[0] != segment.base_offset:
        return False
    if known.numbers[1] != segment.index_interval_bytes:
        return False
    segment.reset()
    segment.set_numbers(known.numbers)
    segment.offset_index = OffsetIndex(known.offsets)
    segment.time_index = TimeIndex(known.times)
    segment.time_index.last_timestamp = known.last_time
    segment.transaction_index = TransactionIndex(known.transactions)
    return True
