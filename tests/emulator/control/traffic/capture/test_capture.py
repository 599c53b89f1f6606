"""Captures: written as packets, and read from packets as networks deliver them."""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.emulator.control.traffic.capture import blocks
from odradek.emulator.control.traffic.capture.packets import (
    ACK,
    LONGEST,
    SYN,
    Segment,
    frame_of,
    segment_of,
)
from odradek.emulator.control.traffic.capture.reading import Stream, read_capture
from odradek.emulator.control.traffic.capture.writing import write_capture
from odradek.emulator.control.traffic.exchange import Address, Exchange, NotAJournal
from odradek.emulator.control.traffic.traffic import Traffic
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.headers import RequestHeader, write_request_header

CLIENT, BROKER = Address("10.0.0.1", 50_000), Address("10.0.0.2", 31_000)


def asked(correlation_id: int = 5, padding: int = 0) -> bytes:
    header = write_request_header(RequestHeader(3, 9, correlation_id, "me"))
    return header + MetadataRequest(topics=None).encode(9) + bytes(padding)


def answer(correlation_id: int = 5, padding: int = 0) -> bytes:
    return struct.pack(">i", correlation_id) + bytes(padding)


def kept(*paddings: int, frame_bytes: int = 1 << 20, client: Address = CLIENT) -> Traffic:
    """Requests of one connection, each with its answer, so many bytes longer."""
    traffic = Traffic(frame_bytes=frame_bytes)
    peer = traffic.peer(client, BROKER)
    for number, padding in enumerate(paddings):
        exchange = traffic.begin(peer, asked(number, padding))
        traffic.answered(exchange, [answer(number, padding)])
    return traffic


def captured(traffic: Traffic, port: int | None = 9092) -> bytes:
    file = io.BytesIO()
    write_capture(traffic.exchanges, file, port, 0)
    return file.getvalue()


def read(data: bytes, port: int | None = None) -> list[Exchange]:
    return list(read_capture(io.BytesIO(data), port).exchanges)


def frames(exchanges: Any) -> list[Any]:
    return [(each.request_frame, each.response_frame) for each in exchanges]


def test_frames_longer_than_a_packet_are_read_as_they_were() -> None:
    traffic = kept(0, LONGEST, 5 * LONGEST, 3)
    assert frames(read(captured(traffic))) == frames(traffic.exchanges)


def test_of_frames_that_were_not_kept_whole_the_length_is_right_and_so_is_what_follows() -> None:
    traffic = kept(0, 3 * LONGEST, 0, frame_bytes=100)
    found = read(captured(traffic))
    assert frames(found) == frames(traffic.exchanges)
    sizes = [(each.request_size, each.response_size) for each in traffic.exchanges]
    assert [(each.request_size, each.response_size) for each in found] == sizes


def test_two_connections_of_one_client_port_are_kept_apart() -> None:
    traffic = kept(0)
    other = traffic.peer(CLIENT, BROKER._replace(port=31_001))
    traffic.answered(traffic.begin(other, asked(7)), [answer(7)])
    found = read(captured(traffic))
    assert frames(found) == frames(traffic.exchanges)
    assert [each.connection.client.port for each in found] == [50_000, 50_001]


def test_a_connection_without_a_socket_gets_a_port() -> None:
    found = read(captured(kept(0, client=Address("127.0.0.1", 0))))
    assert found[0].connection.client.port > 0


def test_which_end_is_the_broker() -> None:
    data = captured(kept(0), port=60_000)  # above the client's; a SYN tells
    assert read(data)[0].connection.broker.port == 60_000
    without_syn = b"".join(_blocks(data, skip=(2, 3, 4)))
    assert read(without_syn) == []
    assert read(without_syn, port=60_000)[0].connection.broker.port == 60_000


def _blocks(data: bytes, skip: tuple[int, ...]) -> Iterator[bytes]:
    pos = number = 0
    while pos < len(data):
        (size,) = struct.unpack_from("<I", data, pos + 4)
        if number not in skip:
            yield data[pos : pos + size]
        pos, number = pos + size, number + 1


def test_what_is_no_kafka_is_left_out() -> None:
    traffic = Traffic()
    peer = traffic.peer(CLIENT, BROKER)
    traffic.answered(traffic.begin(peer, b"GET / HTTP/1.1"), [b"HTTP/1.1 200"])
    assert read(captured(traffic)) == []


@pytest.mark.parametrize("host", ["10.0.0.1", "2001:db8::1"])
def test_headers_have_right_lengths_and_checksums(host: str) -> None:
    ends = Address(host, 5), Address(host, 6)
    data, size = frame_of(Segment(*ends, 7, 8, ACK, b"abc"))
    assert size == len(data)
    body = data[14:]
    if ":" in host:
        pseudo, tcp = body[8:40], body[40:]
        assert struct.unpack(">H", body[4:6])[0] == len(tcp)
    else:
        assert _sum(body[:20]) == 0xFFFF
        assert struct.unpack(">H", body[2:4])[0] == len(body)
        pseudo, tcp = body[12:20], body[20:]
    assert _sum(pseudo + struct.pack(">HH", 6, len(tcp)) + tcp) == 0xFFFF


def _sum(data: bytes) -> int:
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.mark.parametrize(
    ("link", "head"),
    [(1, None), (1, "vlan"), (0, bytes(4)), (101, b""), (113, bytes(16)), (276, bytes(20))],
)
def test_what_captures_begin_with(link: int, head: Any) -> None:
    sent = Segment(CLIENT, BROKER, 1, 2, SYN, b"")
    data, _ = frame_of(sent._replace(flags=ACK, payload=b"abc"))
    if head == "vlan":
        data = data[:12] + b"\x81\x00\x00\x05" + data[12:]
    elif head is not None:
        data = head + data[14:]
    found = segment_of(blocks.Packet(link, 0.0, data, len(data)))
    assert found == sent._replace(flags=ACK, payload=b"abc")
    for size in range(len(data)):
        cut = segment_of(blocks.Packet(link, 0.0, data[:size], len(data)))
        assert cut is None or len(cut.payload) + cut.missing == 3


def test_an_older_pcap_is_read_too() -> None:
    order = ">"
    file = bytearray(b"\xa1\xb2\xc3\xd4" + struct.pack(f"{order}HHiIII", 2, 4, 0, 0, 65535, 1))
    for packet in blocks.packets(io.BytesIO(captured(kept(0, 10)))):
        micros = round(packet.time_ms * 1000)
        times = micros // 1_000_000, micros % 1_000_000
        file += struct.pack(f"{order}IIII", *times, len(packet.data), packet.size) + packet.data
    assert frames(read(bytes(file))) == frames(kept(0, 10).exchanges)
    assert len(read(bytes(file)[:-5])) == 2


def test_a_capture_that_was_cut_is_read_as_far_as_it_goes() -> None:
    whole = captured(kept(0, 0))
    counts = {len(read(whole[:size])) for size in range(4, len(whole))}
    assert counts == {0, 1, 2}


@given(st.binary(max_size=60), st.integers(0, 2000))
def test_any_bytes_are_a_journal_or_refused(noise: bytes, at: int) -> None:
    whole = captured(kept(0, 0, 0))
    at %= len(whole)
    data = whole[:at] + noise + whole[at + len(noise) :]
    with suppress(NotAJournal):
        read(data)


@given(st.randoms(use_true_random=False), st.integers(0, 2**32 - 1))
def test_segments_in_any_order_and_again_make_the_same_frames(
    chance: random.Random, first: int
) -> None:
    """Also where sequence numbers begin again at 0."""
    data = b"".join(struct.pack(">i", size) + bytes([size]) * size for size in (3, 0, 50, 7))
    cuts = sorted(chance.sample(range(1, len(data)), 6))
    pieces = [
        (begin, data[begin:end]) for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)
    ]
    begin = max(0, cuts[0] - 1)
    pieces.append((begin, data[begin : cuts[1] + 1]))  # sent again, split otherwise
    chance.shuffle(pieces)
    stream = Stream()
    stream.put(Segment(CLIENT, BROKER, first, 0, SYN, b""))
    found = []
    for offset, payload in pieces:
        stream.put(Segment(CLIENT, BROKER, (first + 1 + offset) % 2**32, 0, ACK, payload))
        while (taken := stream.take()) is not None:
            found.append(taken)
    assert found == [(bytes([size]) * size, size) for size in (3, 0, 50, 7)]


def test_a_segment_that_was_lost_is_a_hole_in_one_frame() -> None:
    data = b"".join(struct.pack(">i", 10) + bytes([n]) * 10 for n in range(3))
    stream = Stream()
    stream.put(Segment(CLIENT, BROKER, 0, 0, ACK, data[:20]))
    stream.put(Segment(CLIENT, BROKER, 24, 0, ACK, data[24:]))
    stream.end()
    found = [stream.take() for _ in range(4)]
    assert found == [(b"\0" * 10, 10), (b"\1" * 2, 10), (b"\2" * 10, 10), None]
