"""Small summaries of many values, which can be joined: distinct values, the most frequent ones.

- `Distinct` counts exactly up to `EXACT_MAX` values, then estimates (HyperLogLog, Flajolet et al.
  2007, 2^14 registers): the standard error is 0.8 %, whatever the number.
- `Frequent` keeps the most frequent values (Misra and Gries, joined as by Agarwal et al. 2012): a
  count may be too low by at most `error`, which is below 1/`KEPT` of all.

Both are picklable, and the same whichever way they were split and joined, up to their error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import nlargest
from math import log

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

EXACT_MAX = 4_096
_BITS = 14
_REGISTERS = 1 << _BITS
STANDARD_ERROR = 1.04 / _REGISTERS**0.5
KEPT = 256
_SHOWN_BYTES = 200


def hashes(values: Iterable[bytes]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """A number of 64 bits for each value, the same in every process."""
    digests = b"".join(blake2b(value, digest_size=8).digest() for value in values)
    return np.frombuffer(digests, np.uint64)


@dataclass
class Distinct:
    exact: set[int] | None = field(default_factory=set)
    """Their hashes; None once they were too many."""
    registers: bytes = b""

    def add(self, values: Iterable[bytes]) -> None:
        """Add values; the same one as often as you like."""
        self._add(hashes(values))

    def join(self, other: Distinct) -> None:
        if other.exact is not None:
            self._add(np.fromiter(other.exact, np.uint64, len(other.exact)))
            return
        self._estimate()
        mine, theirs = (np.frombuffer(each, np.uint8) for each in (self.registers, other.registers))
        self.registers = np.maximum(mine, theirs).tobytes()

    @property
    def is_exact(self) -> bool:
        """Whether `count` is no estimate."""
        return self.exact is not None

    @property
    def count(self) -> int:
        if self.exact is not None:
            return len(self.exact)
        registers = np.frombuffer(self.registers, np.uint8)
        scale = 0.7213 / (1 + 1.079 / _REGISTERS)
        estimate = scale * _REGISTERS**2 / float(np.sum(np.exp2(-registers.astype(np.float64))))
        empty = int(np.count_nonzero(registers == 0))
        if estimate <= 2.5 * _REGISTERS and empty:
            estimate = _REGISTERS * log(_REGISTERS / empty)
        return round(estimate)

    def _add(self, found: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> None:
        if self.exact is not None:
            self.exact.update(found.tolist())
            if len(self.exact) > EXACT_MAX:
                self._estimate()
        else:
            self._note(found)

    def _estimate(self) -> None:
        if self.exact is not None:
            found = np.fromiter(self.exact, np.uint64, len(self.exact))
            self.exact, self.registers = None, bytes(_REGISTERS)
            self._note(found)

    def _note(self, found: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> None:
        registers = np.frombuffer(self.registers, np.uint8).copy()
        index = (found >> np.uint64(64 - _BITS)).astype(np.int64)
        rest = found & np.uint64((1 << (64 - _BITS)) - 1)
        # A float of 53 bits holds the 50 that are left exactly, so its exponent is their length.
        length = np.frexp(rest.astype(np.float64))[1]
        rank = (64 - _BITS + 1 - length).astype(np.uint8)
        np.maximum.at(registers, index, rank)
        self.registers = registers.tobytes()


@dataclass
class Frequent:
    """The most frequent values. Of a long one the beginning and a hash are kept."""

    counts: dict[bytes, int] = field(default_factory=dict)
    total: int = 0
    error: int = 0

    def add(self, values: Iterable[bytes], counts: Iterable[int]) -> None:
        """Add values, each so many times."""
        known = self.counts
        for value, count in zip(values, counts, strict=True):
            name = value if len(value) <= _SHOWN_BYTES else _shortened(value)
            known[name] = known.get(name, 0) + count
            self.total += count
        self._reduce()

    def join(self, other: Frequent) -> None:
        for name, count in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.total += other.total
        self.error += other.error
        self._reduce()

    def top(self, number: int) -> list[tuple[bytes, int]]:
        """The most frequent ones first; among equals the least."""
        return sorted(self.counts.items(), key=lambda each: (-each[1], each[0]))[:number]

    def _reduce(self) -> None:
        if len(self.counts) <= KEPT:
            return
        least = nlargest(KEPT + 1, self.counts.values())[-1]
        self.counts = {name: n - least for name, n in self.counts.items() if n > least}
        self.error += least


def _shortened(value: bytes) -> bytes:
    return value[: _SHOWN_BYTES - 20] + b"..." + blake2b(value, digest_size=8).hexdigest().encode()


def counted(column: pa.Array) -> tuple[list[bytes], list[int]]:
    """The different values of a column, and how often there is each; nulls are left out."""
    found = pc.value_counts(column.drop_null())
    return found.field("values").to_pylist(), found.field("counts").to_pylist()


def lengths(column: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Bytes of each value; 0 for null."""
    found = pc.fill_null(pc.binary_length(column), 0)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)
