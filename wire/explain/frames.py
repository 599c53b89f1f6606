"""A whole frame, field by field: its size if there is one, its header, its message.

A frame may come with or without the int32 size before it. Four bytes are taken for the size if they
are the number of bytes that follow, unless the frame can only be decoded without a size (a response
may begin with any number). In a request they are also taken for it if the number is wrong, when
only the bytes after them begin with a known API and version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..api import API_MODULES, api_name, request_class, response_class
from ..headers import API_VERSIONS, is_flexible
from ..schema import Message
from .records import read_records
from .walk import Misfit, Reading, Row, Walk, read_message, shown

_SIZE = 4


class Explanation(NamedTuple):
    """A frame's rows, and what cannot be decoded; the message is None if it could not be read."""

    title: str
    rows: list[Row]
    misfits: list[Misfit]
    message: Message | None


# Reads a header; returns the message that follows and its version.
ReadHeader = Callable[[Reading], tuple[type[Message], int]]


def explain_request(frame: bytes) -> Explanation:
    surely_sized = _begins_request(frame[_SIZE:]) and not _begins_request(frame)
    return _explain(frame, "a request", _read_request_header, surely_sized)


def explain_response(frame: bytes, api_key: int, version: int) -> Explanation:
    """Show the answer to a request of this API and version, as far as it can be read.

    Raises WireError if there is no such API or version.
    """
    cls = response_class(api_key)
    cls.check_version(version)

    def read_header(reading: Reading) -> tuple[type[Message], int]:
        _read_number(reading, "i", "correlation_id")
        if api_key != API_VERSIONS and is_flexible(api_key, version):
            Walk(reading, version, True, read_records).tags({}, {})
        return cls, version

    return _explain(frame, f"{cls.__name__} v{version}", read_header, False)


def _explain(frame: bytes, title: str, read_header: ReadHeader, surely_sized: bool) -> Explanation:
    """Explain with a size if there may be one, unless it can only be decoded without."""
    size = int.from_bytes(frame[:_SIZE], "big", signed=True)
    if not surely_sized and size != len(frame) - _SIZE:
        return _explain_as(frame, title, read_header, sized=False)
    with_size = _explain_as(frame, title, read_header, sized=True)
    if surely_sized or not with_size.misfits:
        return with_size
    without = _explain_as(frame, title, read_header, sized=False)
    return with_size if without.misfits else without


def _explain_as(frame: bytes, title: str, read_header: ReadHeader, *, sized: bool) -> Explanation:
    reading = Reading(frame)
    message = None
    try:
        if sized:
            _read_size(reading)
        cls, version = read_header(reading)
        title = f"{cls.__name__} v{version}"
        message = read_message(reading, cls, version, read_records)
    except Misfit as misfit:
        reading.misfits.append(misfit)
        reading.depth = 0
        reading.give_up(misfit)
    if reading.left:
        reason = f"{reading.left} bytes are left over, which Kafka would ignore"
        reading.misfits.append(reading.misfit("what follows the message", reason))
        reading.rest("after the message", reason)
    reading.end = len(frame)
    if reading.left:
        reading.rest("after the frame", f"{reading.left} bytes")
    return Explanation(title, reading.rows, reading.misfits, message)


def _read_size(reading: Reading) -> None:
    size = _read_number(reading, "i", "size")
    follow = reading.left
    if size != follow:
        reading.misfits.append(reading.misfit("size", f"it is {size}, {follow} bytes follow", 0))
    if 0 <= size < follow:
        reading.end = _SIZE + size


def _begins_request(data: bytes) -> bool:
    """Whether the frame begins with a known API and version."""
    key, version = (int.from_bytes(data[at : at + 2], "big", signed=True) for at in (0, 2))
    if len(data) < 8 or key not in API_MODULES:
        return False
    cls = request_class(key)
    return cls.first_version <= version <= cls.last_version


def _read_request_header(reading: Reading) -> tuple[type[Message], int]:
    key = reading.number("h", "api_key")
    if key not in API_MODULES:
        raise reading.misfit("api_key", f"no API has the key {key}", reading.pos - 2)
    reading.row("api_key", f"{key} ({api_name(key)})")
    cls = request_class(key)
    version = reading.number("h", "api_version")
    if not cls.first_version <= version <= cls.last_version:
        there = f"{cls.first_version}-{cls.last_version}"
        reason = f"{api_name(key)} has versions {there}, and not {version}"
        raise reading.misfit("api_version", reason, reading.pos - 2)
    reading.row("api_version", str(version))
    _read_number(reading, "i", "correlation_id")
    size = reading.number("h", "client_id")
    if size < -1:
        raise reading.misfit("client_id", f"a length of {size}", reading.pos - 2)
    client_id = None if size < 0 else reading.take(size, "client_id").decode("utf-8", "replace")
    reading.row("client_id", shown(client_id))
    if is_flexible(key, version):
        Walk(reading, version, True, read_records).tags({}, {})
    return cls, version


def _read_number(reading: Reading, code: str, name: str) -> int:
    value: int = reading.number(code, name)
    reading.row(name, str(value))
    return value
