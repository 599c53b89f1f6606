"""Records of a batch as bytes, part by part, whole and damaged."""

from __future__ import annotations

import random

from hypothesis import strategies as st
from odradek.wire.primitives import write_varint
from odradek.wire.records import NewRecord


def v(value: int, content: bytes = b"") -> bytes:
    return write_varint(value) + content


def record(
    *,
    attributes: bytes = b"\0",
    time: bytes = v(0),
    offset: bytes = v(0),
    key: bytes = v(1, b"k"),
    value: bytes = v(1, b"v"),
    headers: bytes = v(0),
    size: bytes | None = None,
    tail: bytes = b"",
) -> bytes:
    body = attributes + time + offset + key + value + headers + tail
    return (v(len(body)) if size is None else size) + body


SIX = b"\x82\x80\x80\x80\x80\x00"
ELEVEN = b"\x80" * 10 + b"\x00"
MAX = b"\xfe\xff\xff\xff\x0f"
MIN = b"\xff\xff\xff\xff\x0f"
GOOD = record()
SECOND = record(offset=v(1))
ONE_HEADER = v(1, b"h") + v(-1)

records = st.builds(
    NewRecord,
    st.integers(-3, 20) | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.binary(max_size=70),
    st.none() | st.binary(max_size=70),
    st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=2),
)


def mutated(chance: random.Random) -> tuple[bytes, int]:
    """A few records with a few changes to their bytes, and a count that is mostly right."""
    count = chance.randint(1, 4)
    payload = bytearray()
    for index in range(count):
        key, value = (
            chance.choice([v(-1), v(0), v(-2), v(3, b"abc"), v(70, bytes(70))]) for _ in range(2)
        )
        headers = chance.choice([v(0), v(1) + ONE_HEADER, v(2) + ONE_HEADER * 2])
        time = v(chance.choice([0, 1, -1, -2, 100, 2**63 - 1]))
        payload += record(time=time, offset=v(index), key=key, value=value, headers=headers)
    for _ in range(chance.randint(0, 3)):
        at = chance.randrange(len(payload))
        match chance.randrange(4):
            case 0:
                payload[at] = chance.randrange(256)
            case 1:
                payload[at] ^= 1 << chance.randrange(8)
            case 2:
                payload[at:at] = b"\x80" * chance.randint(1, 11)
            case 3:
                del payload[at + 1 : at + chance.randint(1, 4)]
    return bytes(payload), count if chance.random() < 0.95 else chance.randint(-1, 6)
