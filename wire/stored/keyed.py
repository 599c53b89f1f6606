"""Messages that begin with an int16, in records of coordinators and in the consumers' protocol.

    value   int16 version, body
    key     int16 record type, body

A key has only version 0; the number that was its version once is the record type now, so that
several types can share a topic. Source: the coordinators' records since KIP-848.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct as Packer
from typing import Any, ClassVar, TypeVar

from ..errors import WireError
from ..primitives import Buffer
from ..schema import Message, parse_versions

M = TypeVar("M", bound=Message)

_PREFIX = Packer(">h")


class Key(Message):
    """The key of a coordinator's record, of one of these types."""

    __slots__ = ()
    first_type: ClassVar[int]
    last_type: ClassVar[int]

    def __init_subclass__(cls, record_types: str, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.first_type, cls.last_type = parse_versions(record_types)


K = TypeVar("K", bound=Key)


def keyed(message: Message, version: int) -> bytes:
    """Encode a value after its version, or a key after its record type (given as `version`).

    Raises WireError when the message has no such version or type.
    """
    body_version = version
    if isinstance(message, Key):
        if not message.first_type <= version <= message.last_type:
            raise WireError(f"{type(message).__name__} is not of record type {version}")
        body_version = 0
    return b"".join([_PREFIX.pack(version), *message.parts(body_version)])


def read_value(cls: type[M], data: Buffer, *, newer: bool = False) -> tuple[M, int]:
    """Decode a value; return it and its version.

    With `newer`, a version above the last one known is read as if it were that one.
    Raises WireError for damage, and otherwise for versions not known.
    """
    version = _prefix(data)
    known = min(version, cls.last_version) if newer else version
    return cls.decode(data, known, _PREFIX.size), version


def read_key(classes: Iterable[type[K]], data: Buffer) -> tuple[K, int]:
    """Decode a key of one of these classes; return it and its record type.

    Raises WireError for damage, and for a record type of none of the classes.
    """
    record_type = _prefix(data)
    for cls in classes:
        if cls.first_type <= record_type <= cls.last_type:
            return cls.decode(data, 0, _PREFIX.size), record_type
    raise WireError(f"no key of record type {record_type} is known")


def _prefix(data: Buffer) -> int:
    if len(data) < _PREFIX.size:
        raise WireError(f"{len(data)} bytes, where an int16 should lead")
    prefix: int = _PREFIX.unpack_from(data)[0]
    return prefix
