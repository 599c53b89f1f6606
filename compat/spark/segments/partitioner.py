"""Which partition a record goes to: its own, or that of its key, as Kafka's producers choose it.

The hash is murmur2 with Kafka's seed over the key's bytes, its sign bit cleared, modulo the number
of partitions. Keys of one length are hashed together. Records without key or partition take turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_SEED = 0x9747B28C
_M = np.uint32(0x5BD1E995)


def partitions_of(
    keys: pa.Array, given: pa.Array | None, count: int, turns: int | npt.NDArray[np.int64] = 0
) -> npt.NDArray[np.int32]:
    """The partition of each record. `given`: what the records say, null where they do not;
    `turns`: whose turn it is, or where the turns begin."""
    if isinstance(turns, int):
        turns = np.arange(len(keys), dtype=np.int64) + turns
    chosen = (turns % count).astype(np.int32)
    with_key = np.nonzero(keys.is_valid().to_numpy(zero_copy_only=False))[0]
    if len(with_key) and count > 1:
        distinct = keys.dictionary_encode()
        hashes = murmur2(distinct.dictionary) & 0x7FFFFFFF
        codes = distinct.indices.take(pa.array(with_key)).to_numpy()
        chosen[with_key] = (hashes % count)[codes]
    if given is not None:
        said = np.nonzero(given.is_valid().to_numpy(zero_copy_only=False))[0]
        chosen[said] = given.take(pa.array(said)).to_numpy()
    return chosen


def murmur2(keys: pa.Array) -> npt.NDArray[np.uint32]:
    """The hash of each of these bytes; none is null."""
    wide = keys.cast(pa.large_binary())
    ends = np.frombuffer(wide.buffers()[1], np.int64)[wide.offset : wide.offset + len(wide) + 1]
    data = np.frombuffer(wide.buffers()[2] or b"", np.uint8)
    sizes = np.diff(ends)
    hashes = np.zeros(len(keys), np.uint32)
    for size in np.unique(sizes).tolist():
        (rows,) = np.nonzero(sizes == size)
        block = (
            data[ends[rows][:, None] + np.arange(size)]
            if size
            else np.empty((len(rows), 0), np.uint8)
        )
        hashes[rows] = _of_one_length(np.ascontiguousarray(block), size)
    return hashes


def _of_one_length(block: npt.NDArray[np.uint8], size: int) -> npt.NDArray[np.uint32]:
    whole = size // 4
    words: Any = block[:, : whole * 4].copy().view("<u4")
    hashes = np.full(len(block), _SEED ^ size, np.uint32)
    for at in range(whole):
        word = words[:, at] * _M
        word ^= word >> np.uint32(24)
        hashes = hashes * _M ^ word * _M
    rest = block[:, whole * 4 :]
    for at in reversed(range(rest.shape[1])):
        hashes ^= rest[:, at].astype(np.uint32) << np.uint32(8 * at)
    if rest.shape[1]:
        hashes *= _M
    hashes ^= hashes >> np.uint32(13)
    hashes *= _M
    hashes ^= hashes >> np.uint32(15)
    return hashes
