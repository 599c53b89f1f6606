"""Hostile beginnings of connections: what is sent to a listener before anybody has logged in.

At SASL: frames of a log-in in any order, whole and mutated, tokens of any content and size, other
requests, sizes that lie. At TLS: a client's hello, whole and mutated, records of any type and
length, plain bytes; and, once TLS is agreed on, records that are damaged, or the frames of a
log-in.
"""

from __future__ import annotations

import json
import ssl
from base64 import urlsafe_b64encode
from collections import deque
from random import Random
from typing import NamedTuple

from odradek.wire import Request
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest
from odradek.wire.frames import SIZE
from odradek.wire.headers import RequestHeader, write_request_header

from .mutations import Mutations, with_correlation
from .seeds import Seed

LISTENERS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI", "", "plain")
_VERSIONS = ApiVersionsRequest(client_software_name="app", client_software_version="1")
_SIZES = (-1, -(2**31), 0, 1, 524_288, 524_289, 2**31 - 1)
_HANDSHAKE, _ALERT, _CHANGE, _DATA = 22, 21, 20, 23
_MOST_FRAMES = 8
_PLAIN_BYTES = (
    b"GET / HTTP/1.1\r\n\r\n",
    b"\x80\x2e\x01\x00\x02",
    b"\0\0\0\x10" + bytes(16),
    b"\n",
)


class Script(NamedTuple):
    """What one connection sends. `pieces` are frames or records, one each."""

    pieces: list[bytes]
    over_tls: bool
    """Whether TLS is agreed on first; then each piece is a record."""
    damages: bool = False
    """Whether these records are damaged on their way."""


class Beginnings:
    """Draws scripts for a listener of one kind."""

    def __init__(self, random: Random, listener: str) -> None:
        self._random = random
        self._has_tls = listener in ("SSL", "SASL_SSL")
        self._seeds = deque(_seed(request, version) for request, version in _requests(random))
        keys = sorted({seed.request.api_key for seed in self._seeds})
        self._mutations = Mutations(random, self._seeds, keys)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._hellos = [_hello(context) for _ in range(20)]

    def script(self) -> Script:
        """The next one."""
        random = self._random
        if not self._has_tls:
            return Script(self._frames(), False)
        chance = random.random()
        if chance < 0.7:
            return Script(self._records(), False)
        return Script(self._frames(), True, damages=chance < 0.85)

    # Frames

    def _frames(self) -> list[bytes]:
        random = self._random
        frames = [self._frame() for _ in range(random.randrange(1, _MOST_FRAMES))]
        if random.random() < 0.15:
            last = frames[-1]
            frames[-1] = last[: random.randrange(len(last))]
        return frames

    def _frame(self) -> bytes:
        random = self._random
        seed = random.choice(self._seeds)
        number = random.randrange(1 << 31)
        chance = random.random()
        if chance < 0.45:
            body = with_correlation(seed.frame, number)
        elif chance < 0.85:
            body = self._mutations.mutated(seed, number)
        else:  # a token as it is after Handshake v0, or nonsense
            body = random.choice((_token(random), random.randbytes(random.randrange(300))))
        size = random.choice(_SIZES) if random.random() < 0.03 else len(body)
        return SIZE.pack(size) + body

    # Records

    def _records(self) -> list[bytes]:
        random = self._random
        if random.random() < 0.1:
            return [random.choice(_PLAIN_BYTES)]
        records = [self._record() for _ in range(random.randrange(1, _MOST_FRAMES))]
        if random.random() < 0.5:
            records.insert(0, random.choice(self._hellos))
        if random.random() < 0.2:
            last = records[-1]
            records[-1] = last[: random.randrange(len(last))]
        return records

    def _record(self) -> bytes:
        random = self._random
        chance = random.random()
        if chance < 0.5:
            return self._damaged(random.choice(self._hellos))
        kind = random.choice((_CHANGE, _ALERT, _HANDSHAKE, _DATA, random.randrange(256)))
        version = random.choice((b"\x03\x01", b"\x03\x03", b"\x03\x04", random.randbytes(2)))
        body = random.randbytes(random.choice((0, 0, 1, 2, 4, 40, 300, 16_384, 16_700)))
        size = random.randrange(1 << 16) if random.random() < 0.2 else len(body)
        return bytes([kind]) + version + size.to_bytes(2, "big") + body

    def _damaged(self, record: bytes) -> bytes:
        """Some bits of it are others, something is missing, or it is in two parts."""
        random = self._random
        changed = bytearray(record)
        for _ in range(random.choice((0, 1, 1, 3, 20))):
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
        if random.random() < 0.3:
            at = random.randrange(5, len(changed))
            del changed[at : at + random.randrange(1, 40)]
        return bytes(changed)


def _hello(context: ssl.SSLContext) -> bytes:
    """The first record of a client."""
    out = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return out.read()
    raise AssertionError("nobody has answered")


def _seed(request: Request, version: int) -> Seed:
    header = RequestHeader(request.api_key, version, 0, "fuzz")
    return Seed(request, version, write_request_header(header) + request.encode(version))


def _requests(random: Random) -> list[tuple[Request, int]]:
    """Of log-ins, and a few others."""
    found: list[tuple[Request, int]] = [(_VERSIONS, version) for version in range(5)]
    found += [(MetadataRequest(topics=[]), 9)]
    for mechanism in _MECHANISMS:
        found += [(SaslHandshakeRequest(mechanism=mechanism), n) for n in (0, 1, 1, 1)]
    for _ in range(60):
        token = SaslAuthenticateRequest(auth_bytes=_token(random))
        found.append((token, random.choice((0, 1, 2))))
    return found


def _token(random: Random) -> bytes:
    """Of any mechanism."""
    name = random.choice(("alice", "nobody", "", "a" * 5000, "\0", "=2C", "ü"))
    kind = random.randrange(5)
    if kind == 0:
        return f"\0{name}\0{random.choice(('alice', 'wrong', ''))}".encode()
    if kind == 1:
        return f"n,,n={name},r={random.randrange(1 << 40):x}".encode()
    if kind == 2:
        proof = "A" * random.choice((4, 44, 9000))
        return f"c=biws,r={random.randrange(1 << 40):x},p={proof}".encode()
    if kind == 3:
        parts = ({"alg": "none"}, {"sub": name, "exp": random.choice((0, 1 << 40, "x"))})
        token = ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts)
        return f"n,,\x01auth=Bearer {token}.\x01\x01".encode()
    return random.randbytes(random.choice((0, 1, 50, 100_000)))
