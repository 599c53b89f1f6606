"""The messages of a file of Kafka 0.7, a line each, for people."""

from __future__ import annotations

from typing import NamedTuple

from ..compression import Codec
from ..errors import WireError
from ..legacy.kafka_0_7 import OldMessage, messages, read_payloads

_SHOWN = 60


class Shown(NamedTuple):
    """Lines, and whether the file ends with a valid message."""

    lines: list[str]
    is_whole: bool


def segment_lines(data: bytes, start: int = 0) -> Shown:
    """The messages of a file that begins at this position."""
    found, end, why = [], start, ""
    try:
        for message in messages(data, start):
            found += _lines(message, data, start)
            if not message.is_valid:
                why = "the checksum of this one is wrong"
                break
            end = message.next_position
    except WireError as error:
        why = str(error)
    if not why and end - start < len(data):
        why = "a message that is not whole"
    if why:
        left = start + len(data) - end
        found.append(f"{end}: {why}; {left} bytes from here on are not valid")
    return Shown(found, not why)


def _lines(message: OldMessage, data: bytes, start: int) -> list[str]:
    head = f"{message.position}: magic {message.magic}, crc {message.crc:08x}"
    if not message.codec:
        return [f"{head}, {_payload(message.payload)}"]
    names = {int(codec): codec.name.lower() for codec in Codec}
    found = [f"{head}, {names.get(message.codec, 'codec 3')} of {len(message.payload)} bytes:"]
    whole = data[message.position - start : message.next_position - start]
    return found + [f"    {_payload(payload)}" for _, payload in read_payloads(whole)]


def _payload(payload: bytes) -> str:
    dots = "..." if len(payload) > _SHOWN else ""
    return f"{len(payload)} bytes {payload[:_SHOWN]!r}{dots}"
