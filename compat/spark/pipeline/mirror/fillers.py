"""Fillers: records that take up offsets and are never seen.

A source's log has offsets without records: of markers, of aborted transactions, of what compaction
has removed, of all before its start. No producer can skip an offset. So in the target they are
taken up by a transaction that is aborted: n offsets by n-1 records and its marker. A read_committed
consumer sees none of them; a read_uncommitted one sees the records, which have an empty key (a
compacted topic takes none without), no value and no time.
"""

from __future__ import annotations

from functools import lru_cache

from .....wire.compression import Codec
from .....wire.records import NewRecord, build_batch

MOST_RECORDS = 50_000
"""In one batch: it is about 1 kB, compressed."""
_NO_TIME = -1
_WORTH_COMPRESSING = 100


def filler_batch(count: int) -> bytearray:
    """A batch of so many fillers."""
    return bytearray(_filler_batch(count))


@lru_cache(maxsize=64)
def _filler_batch(count: int) -> bytes:
    codec = Codec.GZIP if count >= _WORTH_COMPRESSING else Codec.NONE
    return bytes(build_batch([NewRecord(_NO_TIME, b"", None)] * count, codec=codec))
