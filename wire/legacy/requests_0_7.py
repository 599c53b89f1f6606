"""Requests of Kafka 0.7 and their answers, as bytes: they have no correlation id and no version.

    request        size int32, type int16, and by its type:
    0 Produce      topic, partition int32, size int32, messages; it is not answered
    1 Fetch        topic, partition int32, offset int64, max_size int32
    2 MultiFetch   count int16, and so many of what Fetch has
    3 MultiProduce count int16, and so many of what Produce has; it is not answered
    4 Offsets      topic, partition int32, time int64, count int32; a time of -1 is the latest,
                   of -2 the earliest, and others are in ms

    topic          size int16, text
    answer         size int32, error int16, and of Fetch messages; of MultiFetch for each an answer
                   as of Fetch; of Offsets count int32, so many int64, the latest first

Offsets are byte positions (kafka_0_7.py). Rules: any bytes either decode or raise WireError.
Source: the 0.7 design (fetch and multi-fetch results); `brod` 0.4.3 and `samsa` 0.3.11.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from struct import Struct
from typing import NamedTuple, TypeAlias

from ..errors import WireError

_INT16, _INT32, _INT64 = Struct(">h"), Struct(">i"), Struct(">q")
LATEST, EARLIEST = -1, -2


class Kind(IntEnum):
    PRODUCE = 0
    FETCH = 1
    MULTI_FETCH = 2
    MULTI_PRODUCE = 3
    OFFSETS = 4


class OldError(IntEnum):
    """Errors of 0.7."""

    UNKNOWN = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    INVALID_MESSAGE = 2
    WRONG_PARTITION = 3
    INVALID_FETCH_SIZE = 4


class OldProduce(NamedTuple):
    """Messages for a partition; -1 for any."""

    topic: str
    partition: int
    messages: bytes


class OldFetch(NamedTuple):
    """A chunk that is wanted."""

    topic: str
    partition: int
    offset: int
    max_size: int


class OldOffsets(NamedTuple):
    """Offsets before a time that are wanted, at most so many."""

    topic: str
    partition: int
    time_ms: int
    most: int


OldRequest: TypeAlias = list[OldProduce] | list[OldFetch] | OldOffsets
Answer: TypeAlias = tuple[OldError, bytes]


def decode_request(frame: bytes) -> tuple[Kind, OldRequest]:
    """A request from its frame, without the size. Raises WireError."""
    reader = _Reader(frame)
    number = reader.number(_INT16)
    if number not in Kind._value2member_map_:
        raise WireError(f"there is no request of type {number} in 0.7")
    kind = Kind(number)
    if kind is Kind.OFFSETS:
        topic, partition = reader.topic(), reader.number(_INT32)
        return kind, OldOffsets(topic, partition, reader.number(_INT64), reader.number(_INT32))
    is_multi = kind in (Kind.MULTI_FETCH, Kind.MULTI_PRODUCE)
    count = reader.number(_INT16) if is_multi else 1
    if kind in (Kind.FETCH, Kind.MULTI_FETCH):
        return kind, [_fetch(reader) for _ in range(count)]
    return kind, [_produce(reader) for _ in range(count)]


def _fetch(reader: _Reader) -> OldFetch:
    topic, partition = reader.topic(), reader.number(_INT32)
    return OldFetch(topic, partition, reader.number(_INT64), reader.number(_INT32))


def _produce(reader: _Reader) -> OldProduce:
    topic, partition = reader.topic(), reader.number(_INT32)
    return OldProduce(topic, partition, reader.bytes_of(reader.number(_INT32)))


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self, of: Struct) -> int:
        return int(of.unpack(self.bytes_of(of.size))[0])

    def topic(self) -> str:
        return self.bytes_of(self.number(_INT16)).decode(errors="replace")

    def bytes_of(self, size: int) -> bytes:
        end = self._at + size
        if size < 0 or end > len(self._data):
            raise WireError(f"{size} bytes at byte {self._at} of a request of {len(self._data)}")
        found, self._at = self._data[self._at : end], end
        return found


def encode_request(kind: Kind, asked: OldRequest) -> bytes:
    parts = asked if isinstance(asked, list) else [asked]
    body = _INT16.pack(kind)
    if kind in (Kind.MULTI_FETCH, Kind.MULTI_PRODUCE):
        body += _INT16.pack(len(parts))
    for part in parts:
        topic = part.topic.encode()
        body += _INT16.pack(len(topic)) + topic + _INT32.pack(part.partition)
        match part:
            case OldProduce():
                body += _INT32.pack(len(part.messages)) + part.messages
            case OldFetch():
                body += _INT64.pack(part.offset) + _INT32.pack(part.max_size)
            case OldOffsets():
                body += _INT64.pack(part.time_ms) + _INT32.pack(part.most)
    return _INT32.pack(len(body)) + body


def encode_answer(error: OldError, body: bytes = b"") -> bytes:
    """An answer with its size; that of a fetch has messages, that of offsets those."""
    return _INT32.pack(_INT16.size + len(body)) + _INT16.pack(error) + body


def multi_fetch_body(answers: Iterable[Answer]) -> bytes:
    return b"".join(encode_answer(error, messages) for error, messages in answers)


def offsets_body(offsets: Sequence[int]) -> bytes:
    return _INT32.pack(len(offsets)) + b"".join(map(_INT64.pack, offsets))
