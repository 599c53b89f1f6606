"""Rows in files, by bucket: all rows of an identity, or of a content, have the same bucket.

One task writes one file: pieces of rows sorted by bucket, one after the other. Beside it `.at.npy`
says where each bucket's rows are: bucket, first row, count. So a bucket is read without reading the
others, and there are as many files as tasks.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from .hashed import ROW, ROW_BYTES, Rows

PIECE_ROWS = 1 << 20
_AT = np.dtype([("bucket", "<i4"), ("first", "<i8"), ("count", "<i8")])
_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)


def bucket_of(rows: Rows, names: tuple[str, str], buckets: int) -> npt.NDArray[np.int32]:
    mixed = rows[names[0]].view(np.uint64) * _MIX ^ rows[names[1]].view(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX
    return ((mixed >> np.uint64(32)) % np.uint64(buckets)).astype(np.int32)


def write(path: str, found: Iterable[Rows], names: tuple[str, str], buckets: int) -> int:
    """Write rows by bucket; returns how many there are. Raises OSError."""
    first, index = 0, []
    with open(path, "wb") as file:
        for piece in pieces(found):
            bucket = bucket_of(piece, names, buckets)
            order = np.argsort(bucket, kind="stable")
            file.write(piece[order].tobytes())
            counts = np.bincount(bucket, minlength=buckets)
            starts = first + np.cumsum(counts) - counts
            there = np.flatnonzero(counts)
            at = np.empty(len(there), _AT)
            at["bucket"], at["first"], at["count"] = there, starts[there], counts[there]
            index.append(at)
            first += len(piece)
    at_bytes = io.BytesIO()  # numpy's own writing to a file does not tell of a full disk as such
    np.save(at_bytes, np.concatenate(index) if index else np.empty(0, _AT))
    with open(f"{path}.at.npy", "wb") as file:
        file.write(at_bytes.getbuffer())
    return first


def read(directory: str, stage: str, bucket: int) -> Rows:
    """All rows of a bucket, of all files of a stage. Raises OSError."""
    found = [np.empty(0, ROW)]
    for name in sorted(os.listdir(directory)):
        if not (name.startswith(f"{stage}-") and name.endswith(".rows")):
            continue
        path = os.path.join(directory, name)
        index = np.load(f"{path}.at.npy")
        with open(path, "rb") as file:
            for _, first, count in index[index["bucket"] == bucket].tolist():
                file.seek(first * ROW_BYTES)
                found.append(np.frombuffer(file.read(count * ROW_BYTES), ROW))
    return np.concatenate(found)


def pieces(found: Iterable[Rows]) -> Iterator[Rows]:
    """The rows in large pieces: each costs an entry a bucket."""
    kept: list[Rows] = []
    for rows in found:
        kept.append(rows)
        if sum(map(len, kept)) >= PIECE_ROWS:
            yield np.concatenate(kept)
            kept = []
    if kept:
        yield np.concatenate(kept)
