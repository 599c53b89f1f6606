"""Messages that are led by an int16, as coordinators keep them and consumers send each other.

    value   int16 version, body
    key     int16 record type, body

Of a key there is one version, 0; what was once its version now says of which type the record is,
so that several types can share a topic. Source: the coordinators' records since KIP-848.
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
    """Encode a value led by its version, or a key led by its record type (given as `version`).

    Raises WireError when the message has no such version or type.
    """
    body_version = version
    if isinstance(message, Key):
        if not message.first_type <= version <= message.last_type:
            raise WireError(f"{type(message).__name__} is not of record type {version}")
        body_version = 0
    return b"".join([_PREFIX.pack(version), *message.parts(body_version)])


def read_value(cls: type[M], data: Buffer, *, newer: bool = False) -> tuple[M, int]:
    """Decode a value; return it and the version that led it.

    With `newer`, a version above the last one known is read as if it were that one.
    Raises WireError for damage, and otherwise for versions not known.
    """
    version = _prefix(data)
    known = min(version, cls.last_version) if newer else version
    return cls.decode(data, known, _PREFIX.size), version


def read_key(classes: Iterable[type[K]], data: Buffer) -> tuple[K, int]:
    """Decode a key as the one of these classes it is; return it and its record type.

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
