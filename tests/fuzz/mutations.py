"""Mutations of frames: bytes in, bytes out, whatever they mean. A frame has no size here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from odradek.wire import WireError
from odradek.wire.headers import RequestHeader, is_flexible, write_request_header
from odradek.wire.primitives import write_uvarint

from .batches import change_batch, find_batch
from .fields import Fields
from .seeds import Seed

_HEADER = 10  # up to the client id
_EXTREMES = {
    1: (b"\0", b"\1", b"\x7f", b"\x80", b"\xff"),
    2: (b"\0\0", b"\x7f\xff", b"\x80\0", b"\xff\xff", b"\xff\xfe", b"\0\1"),
    4: (b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\xff\xff\xff\xff", b"\0\xff\xff\xff"),
    8: (bytes(8), b"\x7f" + b"\xff" * 7, b"\x80" + bytes(7), b"\xff" * 8),
}
_UVARINTS = (
    b"\0",
    b"\1",
    b"\x80\1",
    b"\xff\xff\xff\xff\x0f",
    b"\xff" * 5,
    b"\xff" * 10,
    b"\x80" * 4,
)

Mutation = Callable[["Mutations", Seed, bytes], bytes]


class Mutations:
    """Draws mutations; other requests to take parts of are among `seeds`."""

    def __init__(self, random: Random, seeds: Sequence[Seed], api_keys: Sequence[int]) -> None:
        self.random = random
        self.seeds = seeds
        self.api_keys = api_keys
        self.fields = Fields(random)

    def mutated(self, seed: Seed, correlation_id: int) -> bytes:
        """The frame of a seed, with this correlation id, mutated in one way or two."""
        frame = with_correlation(seed.frame, correlation_id)
        for _ in range(self.random.choice((1, 1, 1, 1, 2))):
            frame = self.random.choice(_MUTATIONS)(self, seed, frame)
        return frame

    def _change_fields(self, seed: Seed, frame: bytes) -> bytes:
        """Other values in some fields, in good order."""
        request = self.fields.changed(seed.request, seed.version)
        number = int.from_bytes(frame[4:8], "big", signed=True)
        header = RequestHeader(request.api_key, seed.version, number, "fuzz")
        try:
            return write_request_header(header) + request.encode(seed.version)
        except WireError:  # a value of another request may be too long for this field
            return frame

    def _change_batch(self, seed: Seed, frame: bytes) -> bytes:
        """A record batch in the frame is another, as long as before."""
        found = find_batch(frame)
        if found is None:
            return self._change_fields(seed, frame)
        start, end = found
        changed = change_batch(self.random, frame[start:end])[: end - start]
        return frame[:start] + changed.ljust(end - start, b"\0") + frame[end:]

    def _flip(self, seed: Seed, frame: bytes) -> bytes:
        """Some bits."""
        changed = bytearray(frame)
        for _ in range(self.random.choice((1, 1, 2, 8))):
            if len(changed) > _HEADER:
                changed[self.random.randrange(_HEADER, len(changed))] ^= 1 << self.random.randrange(
                    8
                )
        return bytes(changed)

    def _extreme(self, seed: Seed, frame: bytes) -> bytes:
        """A number, perhaps a length or a count, as small or large as can be."""
        number = self.random.choice(_EXTREMES[self.random.choice((1, 2, 4, 4, 8))])
        at = self.random.randrange(min(_HEADER, len(frame)), len(frame) + 1)
        return frame[:at] + number + frame[at + len(number) :]

    def _uvarint(self, seed: Seed, frame: bytes) -> bytes:
        """A byte is replaced by a varint, perhaps a longer one."""
        at = self.random.randrange(min(_HEADER, len(frame)), len(frame) + 1)
        return frame[:at] + self.random.choice(_UVARINTS) + frame[at + 1 :]

    def _cut(self, seed: Seed, frame: bytes) -> bytes:
        """The end is missing."""
        return frame[: self.random.randrange(len(frame) + 1)]

    def _longer(self, seed: Seed, frame: bytes) -> bytes:
        """There is more after the end."""
        return frame + self.random.choice((b"\0", b"\xff" * 4, frame, self.random.randbytes(30)))

    def _splice(self, seed: Seed, frame: bytes) -> bytes:
        """The beginning of this one, and the end of another."""
        other = self.random.choice(self.seeds).frame
        at = self.random.randrange(len(frame) + 1)
        return frame[:at] + other[min(at, len(other)) :]

    def _header(self, seed: Seed, frame: bytes) -> bytes:
        """Another key, version, correlation id or client id."""
        chance = self.random.random()
        if chance < 0.3:
            key = self.random.choice((*self.api_keys, 4, 5, 6, 7, 92, 32767, -1))
            return key.to_bytes(2, "big", signed=True) + frame[2:]
        if chance < 0.6:
            version = self.random.choice((0, 1, 2, 3, 5, 9, 12, 19, 99, 32767, -1, -32768))
            return frame[:2] + version.to_bytes(2, "big", signed=True) + frame[4:]
        if chance < 0.7:
            return with_correlation(frame, self.random.choice((0, -1, 2**31 - 1, -(2**31))))
        length = self.random.choice((-1, -2, 0, 1, 32767, len(frame), len(frame) - _HEADER))
        length = min(length, 32767)
        text = self.random.choice((b"", b"", b"\0", b"\xff\xfe", b"x" * 300))
        return frame[:8] + length.to_bytes(2, "big", signed=True) + text + frame[_HEADER:]

    def _other_version(self, seed: Seed, frame: bytes) -> bytes:
        """The body is of another version than the header says."""
        version = max(0, seed.version + self.random.choice((-2, -1, 1, 2)))
        return frame[:2] + version.to_bytes(2, "big") + frame[4:]

    def _tags(self, seed: Seed, frame: bytes) -> bytes:
        """Tagged fields in place of a zero byte, where most often is the end of a struct."""
        if not is_flexible(seed.request.api_key, seed.version):
            return self._extreme(seed, frame)
        count = self.random.choice((1, 1, 2, 3, 1000))
        tags = write_uvarint(count)
        for number in range(min(count, 3)):
            tag = self.random.choice((0, 1, 2, number, 100 + number, 2**31 - 1))
            data = self.random.choice((b"", b"\0", b"\1\2\3", bytes(20), b"\x02x\0"))
            size = self.random.choice((len(data), len(data), len(data), 0, 1 << 20))
            tags += write_uvarint(tag) + write_uvarint(size) + data
        zeros = [at for at in range(_HEADER, len(frame)) if frame[at] == 0]
        at = self.random.choice((len(frame) - 1, self.random.choice(zeros or [len(frame) - 1])))
        return frame[:at] + tags + frame[at + 1 :]


def with_correlation(frame: bytes, number: int) -> bytes:
    """The frame with this correlation id."""
    return frame[:4] + number.to_bytes(4, "big", signed=True) + frame[8:]


_MUTATIONS: tuple[Mutation, ...] = (
    *[Mutations._change_fields] * 7,
    *[Mutations._change_batch] * 3,
    *[Mutations._flip] * 2,
    *[Mutations._extreme] * 2,
    Mutations._uvarint,
    Mutations._cut,
    Mutations._longer,
    Mutations._splice,
    Mutations._header,
    Mutations._other_version,
    Mutations._tags,
)
