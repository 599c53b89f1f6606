"""The files: blocks of pcapng, written and read, and the older pcap, read.

A pcapng is a row of blocks: type uint32, total length uint32, a body of whole 4 bytes, the length
again. Written are a section header, one interface (Ethernet, times in microseconds), and a packet
block for each packet, perhaps with a comment. Read are these in either byte order, simple packet
blocks too; other blocks are skipped. Source: the IETF draft draft-ietf-opsawg-pcapng;
pcap-savefile(5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from struct import Struct, unpack_from
from struct import error as StructError
from typing import BinaryIO, NamedTuple

from ..exchange import NotAJournal

ETHERNET = 1
_SECTION, _INTERFACE, _SIMPLE, _PACKET = 0x0A0D0D0A, 1, 3, 6
_ORDER = 0x1A2B3C4D
_END, _COMMENT, _APPLICATION = 0, 1, 4
_NAME, _RESOLUTION = 2, 9
_PCAP = {b"\xd4\xc3\xb2\xa1": ("<", 1e3), b"\xa1\xb2\xc3\xd4": (">", 1e3)} | {
    b"\x4d\x3c\xb2\xa1": ("<", 1e6), b"\xa1\xb2\x3c\x4d": (">", 1e6)
}  # fmt: skip
"""First bytes of a pcap: byte order, and how many of its parts of a second make a ms."""
_BLOCK = Struct("<II")
_LONGEST = 1 << 26
_TEXT_MAX = 65_000


class Packet(NamedTuple):
    link: int
    """The kind of what it begins with: 1 is Ethernet."""
    time_ms: float
    data: bytes
    size: int
    """Its length on the wire; what was captured may be less."""


def is_capture(first: bytes) -> bool:
    """Whether a file that begins so is a pcapng or a pcap."""
    return first[:4] == _SECTION.to_bytes(4, "little") or first[:4] in _PCAP


# Writing


def begin(file: BinaryIO, application: str, comment: str, interface: str) -> None:
    """Write what comes before the packets."""
    options = [(_COMMENT, comment.encode()), (_APPLICATION, application.encode())]
    head = Struct("<IHHq").pack(_ORDER, 1, 0, -1)
    file.write(_block(_SECTION, head + _options(options)))
    named = _options([(_NAME, interface.encode()), (_RESOLUTION, b"\x06")])
    file.write(_block(_INTERFACE, Struct("<HHI").pack(ETHERNET, 0, 0) + named))


def write_packet(file: BinaryIO, time_ms: float, data: bytes, size: int, comment: str = "") -> None:
    """Write a packet of which `data` is kept, and `size` bytes went over the wire."""
    micros = round(time_ms * 1000)
    head = Struct("<IIIII").pack(0, micros >> 32, micros & 0xFFFFFFFF, len(data), size)
    options = _options([(_COMMENT, comment.encode()[:_TEXT_MAX])])
    file.write(_block(_PACKET, head + _padded(data) + options))


def _block(kind: int, body: bytes) -> bytes:
    total = len(body) + 12
    return _BLOCK.pack(kind, total) + body + total.to_bytes(4, "little")


def _options(options: Sequence[tuple[int, bytes]]) -> bytes:
    given = [(code, value) for code, value in options if value]
    if not given:
        return b""
    some = [Struct("<HH").pack(code, len(value)) + _padded(value) for code, value in given]
    return b"".join([*some, bytes(4)])


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


# Reading


def packets(file: BinaryIO) -> Iterator[Packet]:
    """Each packet of a capture, as far as it goes: its end may be cut. Raises NotAJournal for what
    is none."""
    first = file.read(4)
    if first in _PCAP:
        yield from _pcap(file, *_PCAP[first])
    elif first == _SECTION.to_bytes(4, "little"):
        with suppress(EOFError, StructError):  # a block was cut
            yield from _pcapng(file)
    else:
        raise NotAJournal("it is not a capture of packets")


def _pcap(file: BinaryIO, order: str, per_ms: float) -> Iterator[Packet]:
    head = file.read(20)
    if len(head) < 20:
        return
    (link,) = unpack_from(f"{order}I", head, 16)
    while len(record := file.read(16)) == 16:
        seconds, parts, kept, size = unpack_from(f"{order}IIII", record)
        if kept > _LONGEST:
            raise NotAJournal(f"a packet of {kept} bytes in the capture")
        data = file.read(kept)
        if len(data) < kept:
            return
        yield Packet(link & 0xFFFF, seconds * 1000 + parts / per_ms, data, size)


def _pcapng(file: BinaryIO) -> Iterator[Packet]:
    order = "<"
    interfaces: list[tuple[int, float]] = []
    file.seek(0)
    while len(head := file.read(8)) == 8:
        kind, total = unpack_from(f"{order}II", head)
        if kind == _SECTION:
            magic = file.read(4)
            if len(magic) < 4:
                return
            order = "<" if magic == _ORDER.to_bytes(4, "little") else ">"
            (total,) = unpack_from(f"{order}I", head, 4)
            interfaces.clear()
            _rest(file, total, 12)
            continue
        body = _rest(file, total, 8)
        if kind == _INTERFACE:
            (link,) = unpack_from(f"{order}H", body)
            interfaces.append((link, _ticks_per_ms(body[8:], order)))
        elif kind == _PACKET:
            number, high, low, kept, size = unpack_from(f"{order}IIIII", body)
            link, per_ms = _of(interfaces, number)
            yield Packet(link, ((high << 32) + low) / per_ms, body[20 : 20 + kept], size)
        elif kind == _SIMPLE:
            (size,) = unpack_from(f"{order}I", body)
            link, _ = _of(interfaces, 0)
            yield Packet(link, 0.0, body[4 : 4 + size], size)


def _of(interfaces: list[tuple[int, float]], number: int) -> tuple[int, float]:
    if number >= len(interfaces):
        raise NotAJournal("the capture has a packet of an interface that it does not describe")
    return interfaces[number]


def _rest(file: BinaryIO, total: int, read: int) -> bytes:
    """The rest of a block, without the length at its end. Raises EOFError."""
    if not read + 4 <= total <= _LONGEST or total % 4:
        raise NotAJournal(f"a block of {total} bytes in the capture")
    data = file.read(total - read)
    if len(data) < total - read:
        raise EOFError
    return data[:-4]


def _ticks_per_ms(options: bytes, order: str) -> float:
    """How many units of an interface's times make a millisecond."""
    pos = 0
    while pos + 4 <= len(options):
        code, size = unpack_from(f"{order}HH", options, pos)
        if code == _END:
            break
        if code == _RESOLUTION and pos + 4 < len(options):
            value = options[pos + 4]
            per_second = 2.0 ** (value & 0x7F) if value & 0x80 else 10.0**value
            return per_second / 1000
        pos += 4 + size + -size % 4
    return 1000.0
