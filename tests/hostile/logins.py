"""`python -m tests.hostile.logins [NUMBER]`: so many hostile beginnings of connections, or a
million, against each kind of listener; what the broker keeps is counted."""

from __future__ import annotations

import random
import resource
import socket
import struct
import sys
from typing import NamedTuple

from odradek.emulator import Emulator
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.frames import SIZE
from odradek.wire.headers import RequestHeader, write_request_header

LISTENERS = ("SASL_PLAINTEXT", "SSL", "SASL_SSL")
MILLION = 1_000_000
_TIMEOUT_S = 30.0
_FRAMES = 50
"""In one connection, as far as it stays open."""
_HANDSHAKE = struct.pack(">hhih", 17, 1, 1, -1)
_VERSIONS = write_request_header(RequestHeader(18, 0, 1, "x")) + ApiVersionsRequest().encode(0)
_HELLO = bytes.fromhex("16030102000100")


class Kept(NamedTuple):
    """What a broker holds after an attack."""

    sent: int
    connections: int
    grown_kb: int


def beginnings(draw: random.Random, listener: str) -> bytes:
    """Some bytes that no client sends, though many begin like one."""
    found = [_noise(draw) for _ in range(draw.randrange(1, _FRAMES))]
    if listener != "SASL_PLAINTEXT" and draw.random() < 0.7:
        size = draw.randrange(0, 65536)
        found.insert(0, struct.pack(">BHH", draw.randrange(20, 25), 0x0301, size))
        if draw.random() < 0.5:
            found.insert(0, _HELLO)
    return b"".join(found)


def _noise(draw: random.Random) -> bytes:
    kind = draw.randrange(6)
    body = draw.randbytes(draw.randrange(0, 200))
    if kind == 0:
        return body
    if kind == 1:
        return SIZE.pack(draw.choice([-1, 0, 524_288, 524_289, 2**31 - 1])) + body
    if kind == 2:
        mechanism = draw.choice([b"PLAIN", b"SCRAM-SHA-256", b"OAUTHBEARER", body[:9]])
        frame = _HANDSHAKE + struct.pack(">h", len(mechanism)) + mechanism
        return SIZE.pack(len(frame)) + frame
    if kind == 3:
        frame = struct.pack(">hhihi", 36, 1, 1, -1, len(body)) + body
        return SIZE.pack(len(frame)) + frame
    if kind == 4:
        return SIZE.pack(len(_VERSIONS)) + _VERSIONS
    return SIZE.pack(len(body)) + body


def attack(kafka: Emulator, listener: str, number: int, seed: int = 0) -> Kept:
    """Begin so many connections, a few of which stay open and say no more."""
    draw, sent = random.Random(seed), 0
    place = kafka.run(lambda cluster: cluster.nodes[1].at(listener))
    before = _memory_kb()
    silent: list[socket.socket] = []
    for _ in range(number):
        client = socket.create_connection(place, timeout=_TIMEOUT_S)
        data = beginnings(draw, listener)
        try:
            client.sendall(data)
            sent += len(data)
        except OSError:
            pass  # it was closed in the middle
        if draw.random() < 0.01 and len(silent) < 50:
            silent.append(client)
        else:
            client.close()
    for client in silent:
        client.close()
    return Kept(sent, _connections(kafka), _memory_kb() - before)


def _connections(kafka: Emulator) -> int:
    def counted(_: object) -> int:
        return len(kafka._started().running().server.protocols)

    return kafka.run(counted)


def _memory_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def broker() -> Emulator:
    """A broker with each kind of listener."""
    names = ",".join(f"{name}://127.0.0.1:0" for name in ("PLAINTEXT", *LISTENERS))
    config = {
        "listeners": names,
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,OAUTHBEARER",
        "connection.failed.authentication.delay.ms": "1",
    }
    return Emulator(config, users={"alice": "secret"}, max_events=100)


def main(number: int) -> None:
    """Attack each listener, and print what was kept."""
    with broker() as kafka:
        for listener in LISTENERS:
            kept = attack(kafka, listener, number // len(LISTENERS))
            print(f"{listener}: {kept.sent} bytes sent, {kept.connections} connections are left,")
            print(f"  and the process has grown by {kept.grown_kb} kB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else MILLION)
