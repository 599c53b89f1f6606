"""Packets of TCP: made with their headers and checksums, and taken apart.

Made are Ethernet, IPv4 or IPv6 by the addresses, and TCP. Read are the same, with VLAN tags and
IPv6 extension headers, and what captures of a loopback or of any interface begin with: "raw",
"null" and Linux's two "cooked" headers. Left out: IP fragments, and tunnels.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from struct import Struct
from typing import NamedTuple

from ..exchange import Address
from .blocks import ETHERNET, Packet

FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10
LONGEST = 32 * 1024
"""How much of a stream goes into one packet, as over a loopback."""
_IPV4, _IPV6, _VLANS = 0x0800, 0x86DD, (0x8100, 0x88A8)
_HEADS = {0: 4, 108: 4, 12: 0, 14: 0, 101: 0, 228: 0, 229: 0, 113: 16, 276: 20}
"""Kinds of links but Ethernet, and how long what comes before the IP header is."""
_TCP = 6
_EXTENSIONS = (0, 43, 60)  # hop-by-hop, routing, destination options
_IP4_HEAD = Struct(">BBHHHBBH4s4s")
_IP6_HEAD = Struct(">IHBB16s16s")
_TCP_HEAD = Struct(">HHIIBBHHH")
_WINDOW = 0xFFFF
# Largest segment 65,495 as on a loopback, window scale 14.
_SYN_OPTIONS = bytes([2, 4, 0xFF, 0xD7, 3, 3, 14, 0])


class Segment(NamedTuple):
    """One packet of TCP, from end to end."""

    source: Address
    target: Address
    sequence: int
    acknowledged: int
    flags: int
    payload: bytes
    missing: int = 0
    """How many bytes of the payload were not captured."""


def frame_of(segment: Segment) -> tuple[bytes, int]:
    """An Ethernet frame, and its length with the bytes that are missing."""
    source, target = ip_address(segment.source.host), ip_address(segment.target.host)
    options = _SYN_OPTIONS if segment.flags & SYN else b""
    body = options + segment.payload
    length = _TCP_HEAD.size + len(body) + segment.missing
    head = _tcp_head(segment, len(options), 0)
    pseudo = source.packed + target.packed + length.to_bytes(4, "big") + _TCP.to_bytes(4, "big")
    # What is missing counts as zeros.
    head = _tcp_head(segment, len(options), _checksum(pseudo + head + body))
    if isinstance(source, IPv4Address):
        kind, ip = _IPV4, _ip4_head(source.packed, target.packed, length)
    else:
        kind, ip = _IPV6, _IP6_HEAD.pack(6 << 28, length, _TCP, 64, source.packed, target.packed)
    is_from_client = segment.source.port > segment.target.port
    ends = (b"\2\0\0\0\0\2", b"\2\0\0\0\0\1")
    ethernet = b"".join(ends if is_from_client else ends[::-1]) + kind.to_bytes(2, "big")
    data = ethernet + ip + head + body
    return data, len(data) + segment.missing


def _tcp_head(segment: Segment, options: int, checksum: int) -> bytes:
    return _TCP_HEAD.pack(
        segment.source.port,
        segment.target.port,
        segment.sequence,
        segment.acknowledged,
        (_TCP_HEAD.size + options) // 4 << 4,
        segment.flags,
        _WINDOW,
        checksum,
        0,
    )


def _ip4_head(source: bytes, target: bytes, length: int) -> bytes:
    fields = (0x45, 0, _IP4_HEAD.size + length, 0, 0x4000, 64, _TCP)
    checksum = _checksum(_IP4_HEAD.pack(*fields, 0, source, target))
    return _IP4_HEAD.pack(*fields, checksum, source, target)


def _checksum(data: bytes) -> int:
    """The internet checksum (RFC 1071): a number modulo 65535 is the sum of its 16-bit words."""
    total = int.from_bytes(data + bytes(len(data) % 2), "big")
    return 0xFFFF - (total % 0xFFFF or (0xFFFF if total else 0))


def segment_of(packet: Packet) -> Segment | None:
    """The TCP in a packet; None if it is something else, or its headers were cut."""
    data = packet.data
    start = _network_at(packet.link, data)
    if start is None or start >= len(data):
        return None
    try:
        is_ip4 = data[start] >> 4 == 4
        return _ip4(data, start) if is_ip4 else _ip6(data, start)
    except (IndexError, ValueError):  # cut short
        return None


def _network_at(link: int, data: bytes) -> int | None:
    """Where the network header begins."""
    if link == ETHERNET:
        at = 12
        while int.from_bytes(data[at : at + 2], "big") in _VLANS:
            at += 4
        return at + 2 if int.from_bytes(data[at : at + 2], "big") in (_IPV4, _IPV6) else None
    return _HEADS.get(link)


def _ip4(data: bytes, start: int) -> Segment | None:
    head = start + (data[start] & 0x0F) * 4
    total = int.from_bytes(data[start + 2 : start + 4], "big")
    is_fragment = int.from_bytes(data[start + 6 : start + 8], "big") & 0x3FFF
    if data[start + 9] != _TCP or is_fragment:
        return None
    source = str(IPv4Address(data[start + 12 : start + 16]))
    target = str(IPv4Address(data[start + 16 : start + 20]))
    # A total of 0 was left to the network card, which splits what is too long.
    end = start + total if total else len(data)
    return _tcp(data, head, end, source, target)


def _ip6(data: bytes, start: int) -> Segment | None:
    length = int.from_bytes(data[start + 4 : start + 6], "big")
    kind, at = data[start + 6], start + 40
    end = at + length if length else len(data)
    while kind in _EXTENSIONS:
        kind, at = data[at], at + 8 + data[at + 1] * 8
    if kind != _TCP:
        return None
    source = str(IPv6Address(data[start + 8 : start + 24]))
    target = str(IPv6Address(data[start + 24 : start + 40]))
    return _tcp(data, at, end, source, target)


def _tcp(data: bytes, at: int, end: int, source: str, target: str) -> Segment | None:
    if at + _TCP_HEAD.size > len(data):
        return None
    fields = _TCP_HEAD.unpack_from(data, at)
    source_port, target_port, sequence, acknowledged, offset, flags, *_ = fields
    begin = at + (offset >> 4) * 4
    payload = data[begin:end]
    return Segment(
        Address(source, source_port),
        Address(target, target_port),
        sequence,
        acknowledged,
        flags,
        payload,
        max(0, end - begin) - len(payload),
    )
