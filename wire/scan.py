"""Checking every record of a batch, once: is it complete, what is its time, has it a key?

`scan` takes the records section of a batch (decompressed), with count and base timestamp of the
header, and has two implementations: `scan_python` below, the reference, and one in C (_scan.c),
which is built at install where a compiler is found. They agree on every input; `scan` is the faster
one.

How a broker treats damage was asked of Apache Kafka 4.3.1's validator, record by record:

    damage                                            sent plain   compressed   codec kept
    a length varint of more than 5 bytes     VARINT   -1           87           87
    a record's length is not its contents'   LENGTH   87           87           accepted
    everything else                          BROKEN   87           87           87

where everything else is: fewer or more records than counted, bytes after the last one, a key,
value or header that runs past the end, a varint too long inside a record, a header count that is
negative or too high, a header without a key. Key and value lengths below -1 are null, as is a
header's value. LENGTH is accepted if the codec is kept: there Kafka reads the records by their
contents and does not check their lengths.

Left out: everything about the batch's own header. In particular, when a producer sets the log
append time bit, Kafka takes the header's maxTimestamp for every record's time: then the times found
here mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, StrEnum
from typing import NamedTuple

from .errors import Error, WireError
from .primitives import Buffer, read_varint, read_varlong, wrapped

try:
    from ._scan import scan as _scan_c  # type: ignore[import-not-found]
except ImportError:  # not built: no compiler, or a Python it was not built for
    _scan_c = None

HAVE_C: bool = _scan_c is not None
"""True when the C twin is built, and `scan` is fast enough for batches of any size."""

NO_TIMESTAMP = -1
NO_MIN_TIMESTAMP = (1 << 63) - 1
_VARINT_BYTES = 5


class Fault(IntEnum):
    """The fault of the bytes of the records, by the table above."""

    OK = 0
    BROKEN = 1
    VARINT = 2
    LENGTH = 3

    def error(self, *, compressed: bool, kept: bool) -> Error:
        """The broker's answer. `compressed`: the batch was sent so; `kept`: its codec is kept."""
        if self is Fault.OK or (self is Fault.LENGTH and compressed and kept):
            return Error.NONE
        if self is Fault.VARINT and not compressed:
            return Error.UNKNOWN_SERVER_ERROR
        return Error.INVALID_RECORD


class Scan(NamedTuple):
    """The result of a scan. After BROKEN and VARINT only `fault` means anything."""

    fault: Fault
    min_timestamp: int
    """Smallest time (ms) other than -1; 2^63-1 if there is none, so that it is in all bounds."""
    max_timestamp: int
    """Largest time (ms), at least -1: the right maxTimestamp of the header."""
    null_keys: int
    """Records without a key."""
    consecutive: bool
    """True when the offset deltas are 0, 1, 2, ..."""
    index_of_max: int
    """Index of the first record that has max_timestamp; 0 if none is above -1."""


class Problem(StrEnum):
    """Why a record is refused although its bytes are valid."""

    KEY = "key"
    """It has no key, and the topic is compacted."""
    TIMESTAMP = "timestamp"
    """Its time is outside the topic's bounds."""


def scan_python(payload: Buffer, count: int, base_timestamp: int) -> Scan:
    """Check every record; see `scan`."""
    buf = bytes(payload)
    fault = Fault.OK
    earliest, latest = NO_MIN_TIMESTAMP, NO_TIMESTAMP
    pos = null_keys = index_of_max = 0
    consecutive = True
    if count < 0:
        return _NOTHING[Fault.BROKEN]
    for index in range(count):
        try:
            size, start = read_varint(buf, pos)
        except WireError:
            too_long = len(buf) - pos >= _VARINT_BYTES
            # After a wrong length a broker cannot find this record by lengths: BROKEN.
            return _NOTHING[Fault.VARINT if too_long and not fault else Fault.BROKEN]
        try:
            timestamp_delta, offset_delta, has_key, pos = _look(buf, start)
        except WireError:
            return _NOTHING[Fault.BROKEN]
        if pos != start + size:
            fault = Fault.LENGTH
        timestamp = wrapped(base_timestamp + timestamp_delta)
        if timestamp > latest:
            latest = timestamp
            index_of_max = index
        if timestamp < earliest and timestamp != NO_TIMESTAMP:
            earliest = timestamp
        if not has_key:
            null_keys += 1
        if offset_delta != index:
            consecutive = False
    if pos != len(buf):
        return _NOTHING[Fault.BROKEN]
    return Scan(fault, earliest, latest, null_keys, consecutive, index_of_max)


def runs_out(payload: Buffer, count: int) -> bool:
    """Whether the first damage of the records is one that says it is longer than what is left:
    brokers up to 2.7 stumble over it, but after the last record they first see that something is
    left."""
    buf = bytes(payload)
    pos = 0
    try:
        for index in range(count):
            size, start = read_varint(buf, pos)
            if size > len(buf) - start:
                return index < count - 1 or start == len(buf)
            *_, pos = _look(buf, start)
            if pos != start + size:
                return False
    except WireError:
        return False
    return False


def _look(buf: bytes, pos: int) -> tuple[int, int, bool, int]:
    """Timestamp delta, offset delta, has a key, end: of the record whose attributes are at `pos`.

    Read by the contents, not the length. Raises WireError if they are damaged.
    """
    timestamp_delta, pos = read_varlong(buf, pos + 1)
    offset_delta, pos = read_varint(buf, pos)
    key_size, pos = read_varint(buf, pos)
    if key_size > 0:
        pos += key_size
    pos = _skip(buf, pos)
    header_count, pos = read_varint(buf, pos)
    if header_count:
        if not 0 < header_count <= len(buf) - pos:
            raise WireError(f"{header_count} record headers at byte {pos}")
        for _ in range(header_count):
            size, pos = read_varint(buf, pos)
            if size < 0:
                raise WireError(f"record header without a key at byte {pos}")
            pos = _skip(buf, pos + size)
    if pos > len(buf):
        raise WireError("record runs past the end")
    return timestamp_delta, offset_delta, key_size >= 0, pos


def _skip(buf: bytes, pos: int) -> int:
    """The position after the length at `pos` and its bytes, which may be past the end.

    Then the next read raises WireError.
    """
    size, pos = read_varint(buf, pos)
    return pos + size if size > 0 else pos


_NOTHING = {fault: Scan(fault, NO_MIN_TIMESTAMP, NO_TIMESTAMP, 0, False, 0) for fault in Fault}
_FAULTS = tuple(Fault)
_new_scan = tuple.__new__


def _scan_with_c(payload: Buffer, count: int, base_timestamp: int) -> Scan:
    """Check every record; see `scan`."""
    # Written out, because unpacking with a star or calling Scan() takes twice as long.
    fault, earliest, latest, null_keys, consecutive, index = _scan_c(payload, count, base_timestamp)
    return _new_scan(Scan, (_FAULTS[fault], earliest, latest, null_keys, consecutive, index))


scan: Callable[[Buffer, int, int], Scan] = _scan_with_c if HAVE_C else scan_python
"""Check every record of `payload` (contiguous), a batch's decompressed records section.

`count` (32 bits) and `base_timestamp` (ms, 64 bits) are the batch header's. Raises nothing.
"""


def record_problems(
    payload: Buffer,
    count: int,
    base_timestamp: int,
    *,
    null_keys: bool,
    earliest: int,
    latest: int,
) -> list[tuple[int, Problem]]:
    """List every record that a topic refuses, in order, one problem each: its key, then its time.

    `null_keys`: whether null keys are a problem. `earliest` and `latest` (ms): the bounds of times
    that are accepted, besides -1. For the rare batch in which `scan` finds a value out of bounds.
    Raises WireError for records in which `scan` finds a fault other than LENGTH.
    """
    buf = bytes(payload)
    problems = []
    pos = 0
    for index in range(count):
        _, pos = read_varint(buf, pos)
        timestamp_delta, _, has_key, pos = _look(buf, pos)
        timestamp = wrapped(base_timestamp + timestamp_delta)
        if null_keys and not has_key:
            problems.append((index, Problem.KEY))
        elif timestamp != NO_TIMESTAMP and not earliest <= timestamp <= latest:
            problems.append((index, Problem.TIMESTAMP))
    return problems
