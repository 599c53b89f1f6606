"""Every message of every version, there and back; and what any other bytes lead to.

What Hypothesis finds takes its time: here it tries each message a few times, and each version of it
many times in the tests marked long.
"""

from __future__ import annotations

import tracemalloc
from itertools import cycle
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from odradek.emulator.base.turns import carried_out
from odradek.wire.codec.messages import read_in_slices, write_in_slices
from odradek.wire.codec.source import default_of
from odradek.wire.errors import WireError
from odradek.wire.primitives import write_uvarint
from odradek.wire.schema import Message, Struct

from tests.support.drawn import IS_SAMPLE, sample, sized
from tests.support.looped import for_each
from tests.wire.support.messages import MESSAGES, full, may_be_null, structs, versions

each_message = for_each("cls", MESSAGES)
each_version = for_each("which", [(cls, n) for cls in MESSAGES for n in versions(cls)])
few = settings(
    max_examples=2,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
many = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@for_each("cls", sample(MESSAGES))
@few
@given(data=st.data())
def test_any_message_reads_as_it_was_written(cls: type[Message], data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(versions(cls)), label="version")
    _reads_as_written(data.draw(structs(cls, version)), version)


@pytest.mark.slow
@pytest.mark.long
@each_version
@many
@given(data=st.data())
def test_any_message_of_any_version_reads_as_it_was_written(
    which: tuple[type[Message], int], data: st.DataObject
) -> None:
    _reads_as_written(data.draw(structs(*which)), which[1])


def _reads_as_written(message: Message, version: int) -> None:
    encoded = message.encode(version)

    assert type(message).decode_from(encoded, version) == (message, len(encoded))


@each_message
def test_a_message_with_every_field_set_reads_as_it_was_written(cls: type[Message]) -> None:
    for version in versions(cls):
        message = full(cls, version)
        encoded = message.encode(version)
        assert cls.decode(encoded, version) == message
        assert b"".join(carried_out(write_in_slices(message, version))) == encoded
        assert carried_out(read_in_slices(cls, encoded, version)) == message
        for there in (bytearray(encoded), memoryview(encoded)):
            assert cls.decode(there, version) == message
        assert cls.decode_from(b"before" + encoded + b"behind", version, 6) == (
            message,
            len(encoded) + 6,
        )


@each_message
def test_defaults_are_read_back_as_defaults(cls: type[Message]) -> None:
    for version in versions(cls):
        assert cls.decode(cls().encode(version), version) == cls()


@each_message
def test_a_field_that_is_not_in_a_version_is_read_as_its_default(cls: type[Message]) -> None:
    newest = full(cls, cls.last_version)
    for version in versions(cls):
        read = cls.decode(newest.encode(version), version)
        for field, t in cls.fields():
            if not field.is_in(version):
                assert getattr(read, field.name) == default_of(field, t)


@each_message
def test_null_goes_where_it_may_and_nowhere_else(cls: type[Message]) -> None:
    for version in versions(cls):
        for field, t in cls.fields():
            if not field.is_in(version) or (t.kind and t.kind.code and not t.is_list):
                continue
            message = full(cls, version)
            setattr(message, field.name, None)
            if may_be_null(field, t, version):
                read = cls.decode(message.encode(version), version)
                assert getattr(read, field.name) is None
            else:
                with pytest.raises(WireError):
                    message.encode(version)


@each_message
def test_unknown_tagged_fields_are_skipped(cls: type[Message]) -> None:
    unknown = b"".join(
        write_uvarint(number) + write_uvarint(len(body)) + body
        for number, body in ((77, b"abc"), (300, b""), (70_000, bytes(200)))
    )
    for version in versions(cls):
        if cls.is_flexible(version):
            encoded = cls().encode(version)
            assert encoded[-1] == 0  # no tagged fields
            assert cls.decode(encoded[:-1] + b"\x03" + unknown, version) == cls()


@each_message
def test_a_message_cut_anywhere_is_refused(cls: type[Message]) -> None:
    # Anywhere in the newest version, and in the last one before lengths became compact; in the
    # others, at every fifth byte.
    whole = (cls.last_version, cls.first_flexible - 1)
    for version in versions(cls):
        encoded = full(cls, version).encode(version)
        for size in range(0, len(encoded), 1 if version in whole and not IS_SAMPLE else 5):
            with pytest.raises(WireError):
                cls.decode(encoded[:size], version)


@each_message
def test_any_bytes_are_a_message_or_are_refused(cls: type[Message]) -> None:
    random = Random(cls.__name__)
    for version in versions(cls):
        encoded = full(cls, version).encode(version)
        for _ in range(sized(10)):
            changes = [
                (random.randrange(len(encoded)), random.choice((0, 1, 127, 128, 255)))
                for _ in range(random.randint(1, 5) if encoded else 0)
            ]
            _decode_or_refuse(cls, _overwritten(encoded, changes), version)
        _decode_or_refuse(cls, random.randbytes(random.randrange(300)), version)


@pytest.mark.slow
@pytest.mark.long
@each_version
@many
@given(data=st.data())
def test_any_bytes_are_any_version_or_are_refused(
    which: tuple[type[Message], int], data: st.DataObject
) -> None:
    cls, version = which
    noise = data.draw(st.binary(max_size=300) | _damaged(full(cls, version).encode(version)))

    _decode_or_refuse(cls, noise, version)


@pytest.mark.slow
def test_a_length_that_lies_makes_nothing_large() -> None:
    lies = [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x07", b"\x7f\xff", b"\xff\xff\x03"]
    for cls in MESSAGES:
        encoded = full(cls, cls.last_version).encode(cls.last_version)
        # A dozen places are enough; tracemalloc is slow.
        places = range(0, len(encoded), len(encoded) // 12 + 1)
        lying = zip(places, cycle(lies))
        noises = [encoded[:at] + lie + encoded[at + len(lie) :] for at, lie in lying]
        # The shortest of these lies would make 32,767 items, of 8 bytes at least.
        assert _made(cls, noises) < 100_000 + 20 * len(encoded)


@pytest.mark.parametrize("byte", [b"\x00", b"\x01", b"\x02", b"\x7f", b"\x80", b"\xff"])
def test_what_is_made_is_a_small_multiple_of_the_bytes(byte: bytes) -> None:
    noise = byte * 20_000
    for cls in MESSAGES:
        assert _made(cls, [noise]) < 100 * len(noise)


def _made(cls: type[Message], noises: list[bytes]) -> int:
    """The most bytes that were in use while one of these was read as the newest version."""
    version = cls.last_version
    for noise in noises:
        _decode_or_refuse(cls, noise, version)  # what is made once, as readers are, does not count
    tracemalloc.start()
    try:
        for noise in noises:
            _decode_or_refuse(cls, noise, version)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_version_that_there_is_not_is_refused() -> None:
    for cls in MESSAGES:
        for version in (cls.first_version - 1, cls.last_version + 1):
            with pytest.raises(WireError, match=f"{cls.__name__} has versions"):
                cls().encode(version)
            with pytest.raises(WireError, match=f"{cls.__name__} has versions"):
                cls.decode(b"", version)


def _damaged(encoded: bytes) -> st.SearchStrategy[bytes]:
    """The bytes with some of them overwritten."""
    if not encoded:
        return st.just(encoded)
    places = st.integers(0, len(encoded) - 1)
    return st.lists(st.tuples(places, st.integers(0, 255)), min_size=1, max_size=5).map(
        lambda changes: _overwritten(encoded, changes)
    )


def _overwritten(encoded: bytes, changes: list[tuple[int, int]]) -> bytes:
    damaged = bytearray(encoded)
    for place, byte in changes:
        damaged[place] = byte
    return bytes(damaged)


def _decode_or_refuse(cls: type[Message], noise: bytes, version: int) -> None:
    """Nothing but a message or a WireError may come out."""
    try:
        message: Any = cls.decode(noise, version)
    except WireError:
        return
    assert isinstance(message, Struct)
