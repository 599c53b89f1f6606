"""Bytes of the worst will: lengths that lie, bombs, and what might make a reader recurse.

Whatever comes in, it is read or refused with WireError, and what is set aside meanwhile is a small
multiple of what is there. Memory is measured with tracemalloc, which sees what Python and its
libraries ask Python for.
"""

from __future__ import annotations

import gzip
import inspect
import io
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import lz4.frame
import pytest
import snappy
import zstandard
from odradek.wire.batch import HEADER_SIZE
from odradek.wire.codec.messages import reader
from odradek.wire.compression import Codec, compress, decompress
from odradek.wire.errors import WireError
from odradek.wire.frames import Frames
from odradek.wire.headers import (
    RequestHeader,
    read_request_header,
    read_response_header,
    write_request_header,
)
from odradek.wire.legacy.message_sets import build_message, build_set, read_messages
from odradek.wire.primitives import write_uvarint
from odradek.wire.records import batches, build_batch, read_marker, read_records
from odradek.wire.scan import scan, scan_python
from odradek.wire.schema import Message, Struct

from tests.support.drawn import sample
from tests.support.looped import for_each
from tests.wire.support.messages import MESSAGES, full, say, versions

INT16, INT32 = b"\x7f\xff", b"\x7f\xff\xff\xff"
VARINT_OF_TWO_BILLION = b"\xff\xff\xff\xff\x07"
VARINT_OF_FOUR_BILLION = b"\xff\xff\xff\xff\x0f"
LIES = (INT32, VARINT_OF_TWO_BILLION, INT16, VARINT_OF_FOUR_BILLION)

PLACES = 16
"""Of a message where lengths are made to lie: one of this many, evenly spread."""
LITTLE = 20_000
"""Bytes that reading may take whatever is there: an error and its traceback."""
MULTIPLE = 80
"""Bytes that reading may take for each one there: a struct of a few is an object of some dozens."""

MIB = 1 << 20

each_message = for_each("cls", MESSAGES)


@pytest.fixture(scope="module")
def tried(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """Counts what was tried, and says so at the end."""
    counts: Counter[str] = Counter()
    yield counts
    say(request.config, ", ".join(f"{n} {what}" for what, n in counts.items()))


def most_in_use(action: Callable[[], object]) -> int:
    """The most bytes that were in use at once of those that an action asked for. What is much is
    looked at again: other threads of the process are counted too."""
    found = traced(action)
    return found if found < LITTLE else min(found, traced(action))


def traced(action: Callable[[], object]) -> int:
    """The most bytes that were in use at once during an action."""
    tracemalloc.start()
    try:
        read_or_refuse(action)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def read_or_refuse(action: Callable[[], object]) -> None:
    """Nothing but a result or a WireError may come out."""
    with suppress(WireError):
        action()


def compile_readers(cls: type[Message], version: int, encoded: bytes) -> None:
    """What compiling makes does not count."""
    cls.decode(encoded, version)
    reader(cls, version, "replace")


def lying(data: bytes, step: int = 1, start: int = 0) -> Iterator[bytes]:
    """The bytes with a lie at every place; and ending right behind it."""
    for at in range(start, len(data) + 1, step):
        for lie in LIES:
            yield data[:at] + lie + data[at + len(lie) :]
            yield data[:at] + lie


@pytest.mark.slow  # every version of everything: `make test` has the time, `make check` has not
@pytest.mark.parametrize("places", [PLACES // 4, pytest.param(PLACES, marks=pytest.mark.long)])
@each_message
def test_a_length_of_two_billion_costs_nothing(
    cls: type[Message], tried: Counter[str], places: int
) -> None:
    for version in versions(cls):
        encoded = full(cls, version).encode(version)
        compile_readers(cls, version, encoded)
        step = len(encoded) // places + 1
        for noise in lying(encoded, step, version % step):
            most = most_in_use(lambda: cls.decode(noise, version))  # noqa: B023
            assert most < LITTLE + MULTIPLE * len(noise)
            tried["messages with lengths that lie"] += 1
        tried["versions"] += 1


@for_each("cls", sample(MESSAGES))
def test_a_crowd_of_empty_items_takes_a_small_multiple_of_its_bytes(cls: type[Message]) -> None:
    for version in {cls.first_version, cls.last_version}:
        compile_readers(cls, version, full(cls, version).encode(version))
        for message in _crowded(cls, version, 200):
            encoded = message.encode(version)
            most = most_in_use(lambda: cls.decode(encoded, version))  # noqa: B023
            assert most < LITTLE + MULTIPLE * len(encoded)


def _crowded(cls: type[Struct], version: int, count: int) -> Iterator[Any]:
    """Messages of defaults in which one list, at whatever depth, has many items."""
    for field, t in cls.fields():
        if not field.is_in(version):
            continue
        if t.is_list:
            item = t.struct() if t.struct else t.kind.natural if t.kind else None
            yield cls(**{field.name: [item] * count})
        for inner in _crowded(t.struct, version, count) if t.struct else ():
            yield cls(**{field.name: [inner] if t.is_list else inner})


def test_nothing_recurses() -> None:
    batch = bytes(build_batch([(0, b"k", b"v", (("h", b"x"),))] * 50, codec=Codec.GZIP))
    encoded = [
        (cls, version, full(cls, version).encode(version))
        for cls in MESSAGES
        for version in (cls.first_version, cls.last_version)
    ]
    for cls, version, data in encoded:
        cls.decode(data, version)  # compiles the reader, which may recurse
    read_records(batch)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 25)
    try:
        for cls, version, data in encoded:
            cls.decode(data, version)
        read_records(batch)
        scan_python(batch[HEADER_SIZE:], 50, 0)
    finally:
        sys.setrecursionlimit(before)


# Headers and frames.


def test_headers_whose_lengths_lie_cost_nothing(tried: Counter[str]) -> None:
    for version in (0, 12):
        header = write_request_header(RequestHeader(3, version, 7, "client"))
        answer = bytes(4) + b"\x02\x01\x03abc\x05\x02xy"
        for noise in (*lying(header), *lying(header[:-1] + answer[4:])):
            assert most_in_use(lambda: read_request_header(noise)) < LITTLE  # noqa: B023
            tried["headers with lengths that lie"] += 1
        for noise in lying(answer):
            assert most_in_use(lambda: read_response_header(noise, 3, version)) < LITTLE  # noqa: B023


def test_a_frame_of_two_billion_bytes_costs_nothing() -> None:
    def fed(size: bytes, limit: int) -> Callable[[], object]:
        frames = Frames(limit)
        return lambda: frames.feed(size + b"sixbyt")

    assert most_in_use(fed(INT32, 100 << 20)) < LITTLE  # refused
    assert most_in_use(fed(INT32, 2**31 - 1)) < 3 * MIB  # a first buffer, and no more
    assert most_in_use(fed(b"\xff\xff\xff\xff", 100 << 20)) < LITTLE


# Records.


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.SNAPPY])
def test_batches_whose_lengths_lie_cost_nothing(codec: Codec, tried: Counter[str]) -> None:
    headers = (("h", b"x"), ("n", None))
    batch = bytes(build_batch([(1000 + n, b"key", b"value", headers) for n in range(4)]))
    if codec:
        batch = bytes(build_batch([(1000, b"key", b"value" * 9, headers)] * 4, codec=codec))
    for noise in lying(batch):
        for read in (read_records, read_marker, lambda b: list(batches(b))):
            assert most_in_use(lambda: read(noise)) < LITTLE  # noqa: B023
        tried["batches with lengths that lie"] += 1


def test_scanning_records_whose_lengths_lie_costs_nothing() -> None:
    payload = bytes(build_batch([(1000, b"key", b"value", (("h", b"x"),))] * 4))[HEADER_SIZE:]
    for noise in lying(payload):
        for count in (4, 2**31 - 1):
            assert scan(noise, count, 0) == scan_python(noise, count, 0)
            assert most_in_use(lambda: scan_python(noise, count, 0)) < LITTLE  # noqa: B023


def test_a_batch_that_counts_two_billion_records_costs_nothing() -> None:
    batch = build_batch([(0, None, None, ())] * 3)
    batch[57:61] = INT32
    with pytest.raises(WireError, match="cut short"):
        read_records(bytes(batch))
    assert most_in_use(lambda: read_records(bytes(batch))) < LITTLE


# Message sets.


def _sets() -> Iterator[bytes]:
    messages = [(n, 1000 + n, b"key", b"value" * 5) for n in range(3)]
    for magic in (0, 1):
        for codec in (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4):
            yield build_set(messages, magic, codec=codec)


def test_message_sets_whose_lengths_lie_cost_nothing(tried: Counter[str]) -> None:
    for data in _sets():
        for noise in lying(data):
            # A damaged lz4 frame may make the library set one piece aside.
            assert most_in_use(lambda: read_messages(noise)) < 2 * MIB  # noqa: B023
            tried["message sets with lengths that lie"] += 1


def test_wrappers_inside_wrappers_are_refused_however_deep() -> None:
    data = build_message((0, 1000, b"key", b"value"), 1)
    for _ in range(500):
        data = build_message((0, 1000, None, compress(Codec.GZIP, data)), 1, Codec.GZIP)
    with pytest.raises(WireError, match="wrapper inside a wrapper"):
        read_messages(data)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_a_bomb_in_a_wrapper_is_stopped_at_the_limit(codec: Codec) -> None:
    data = build_set([(0, 1000, None, bytes(16 * MIB))], 1, codec=codec)
    limit = 2 * MIB

    most = most_in_use(lambda: read_messages(data, limit))

    assert most < 2 * limit + 3 * len(data) + AT_ONCE[codec]
    with pytest.raises(WireError, match="more than"):
        read_messages(data, limit)
    assert len(read_messages(data)) == 1


# Bombs: a few bytes of much text. The limit is what counts, not what the bytes claim.


def _lz4_that_claims(size: int) -> bytes:
    """A frame whose header says how much there is, and an end."""
    frame = bytearray(lz4.frame.compress(b"", store_size=True, block_linked=False))
    whole = lz4.frame.compress(bytes(10), store_size=True, block_linked=False)
    frame[:15] = whole[:15]
    frame[6:14] = size.to_bytes(8, "little")
    frame[14] = _lz4_checksum(bytes(frame[4:14]))
    return bytes(frame[:15]) + bytes(whole[15:])


def _lz4_checksum(descriptor: bytes) -> int:
    """Found by trying: the reader refuses every other byte."""
    for byte in range(256):
        head = b"\x04\x22\x4d\x18" + descriptor + bytes([byte])
        try:
            lz4.frame.get_frame_info(head + bytes(8))
        except RuntimeError:
            continue
        return byte
    raise AssertionError("no checksum fits")


def _zstd_window(log: int) -> bytes:
    """A frame that wants a window of 2**log bytes, and has one block of 100 KB of one letter."""
    block = (100_000 << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"x"
    return b"\x28\xb5\x2f\xfd\x00" + bytes([(log - 10) << 3]) + block


def _raw_snappy(block: bytes) -> bytes:
    return len(block).to_bytes(4, "big") + block


def _deep_gzip(text: bytes, depth: int) -> bytes:
    for _ in range(depth):
        text = gzip.compress(text)
    return text


def _zstd_stream(text: bytes) -> bytes:
    out = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(out, closefd=False) as writer:
        writer.write(text)
    return out.getvalue()


XERIAL = bytes.fromhex("82534e41505059000000000100000001")
BOMBS: dict[str, tuple[Codec, Callable[[], bytes]]] = {
    "gzip": (Codec.GZIP, lambda: gzip.compress(bytes(16 * MIB))),
    "gzip of many members": (Codec.GZIP, lambda: gzip.compress(bytes(MIB // 2)) * 40),
    "gzip of gzip": (Codec.GZIP, lambda: _deep_gzip(bytes(16 * MIB), 2)),
    "snappy": (Codec.SNAPPY, lambda: snappy.compress(bytes(16 * MIB))),
    "snappy in frames": (Codec.SNAPPY, lambda: compress(Codec.SNAPPY, bytes(16 * MIB))),
    "snappy in one frame": (
        Codec.SNAPPY,
        lambda: XERIAL + _raw_snappy(snappy.compress(bytes(16 * MIB))),
    ),
    "snappy that claims": (Codec.SNAPPY, lambda: write_uvarint(2**31 - 1) + bytes(100)),
    "snappy frame that claims": (
        Codec.SNAPPY,
        lambda: XERIAL + _raw_snappy(write_uvarint(2**32 - 1)),
    ),
    "lz4": (Codec.LZ4, lambda: compress(Codec.LZ4, bytes(16 * MIB))),
    "lz4 in large blocks": (
        Codec.LZ4,
        lambda: lz4.frame.compress(bytes(16 * MIB), block_size=7, block_linked=False),
    ),
    "lz4 that claims": (Codec.LZ4, lambda: _lz4_that_claims(1 << 60)),
    "zstd": (Codec.ZSTD, lambda: compress(Codec.ZSTD, bytes(64 * MIB))),
    "zstd without its size": (Codec.ZSTD, lambda: _zstd_stream(bytes(64 * MIB))),
    "zstd of many frames": (Codec.ZSTD, lambda: compress(Codec.ZSTD, bytes(MIB // 2)) * 200),
    "zstd that claims": (
        Codec.ZSTD,
        lambda: b"\x28\xb5\x2f\xfd\xe0" + b"\xff" * 7 + b"\x0f" + bytes(9),
    ),
    "zstd with a window of 2 GiB": (Codec.ZSTD, lambda: _zstd_window(31)),
}
NOT_OVER_THE_LIMIT = {"gzip of gzip"}
"""Unpacked once, as a reader does, it is small."""

# One piece of 1 KiB of zstd may become 32 MiB before anybody can look.
AT_ONCE = {Codec.GZIP: MIB, Codec.SNAPPY: MIB, Codec.LZ4: 2 * MIB, Codec.ZSTD: 34 * MIB}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_stopped_at_the_limit(name: str) -> None:
    codec, make = BOMBS[name]
    packed, limit = make(), 2 * MIB

    most = most_in_use(lambda: decompress(codec, packed, limit))

    assert most < 2 * limit + 2 * len(packed) + AT_ONCE[codec]
    if name not in NOT_OVER_THE_LIMIT:
        with pytest.raises(WireError):
            decompress(codec, packed, limit)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_bomb_in_a_batch_is_stopped_at_the_limit(codec: Codec) -> None:
    batch = bytes(build_batch([(0, None, bytes(16 * MIB), ())], codec=codec))
    limit = 2 * MIB

    most = most_in_use(lambda: read_records(batch, 0, limit))

    assert most < 2 * limit + 3 * len(batch) + AT_ONCE[codec]
    with pytest.raises(WireError, match="more than"):
        read_records(batch, 0, limit)
    assert len(read_records(batch)) == 1
