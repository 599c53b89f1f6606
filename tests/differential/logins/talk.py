"""One connection of a transcript: frames go out, and what comes back is written down."""

from __future__ import annotations

import hashlib
import hmac
import socket
import ssl
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

from odradek.emulator.security.login.scram import HASHES
from odradek.wire import Request
from odradek.wire.api import response_class
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest
from odradek.wire.frames import SIZE
from odradek.wire.headers import RequestHeader, read_response_header, write_request_header

from .brokers import PASSWORDS, Address

SILENCE_S = 1.5
"""After so long without an answer there is none."""
ANSWER_S = 30.0
_FROM = " from "


def came_from(listener: str, address: str) -> str:
    """After the name of a listener: connect to it from this address of the machine."""
    return f"{listener}{_FROM}{address}"


class Talk:
    """A connection to a listener. `said` has what was answered, in order."""

    def __init__(
        self, address: Address, tls: ssl.SSLContext | None = None, source: str = ""
    ) -> None:
        self.said: list[str] = []
        own = (source, 0) if source else None
        plain = socket.create_connection(address, timeout=ANSWER_S, source_address=own)
        self.socket = plain if tls is None else tls.wrap_socket(plain, server_hostname="localhost")

    def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        try:
            self.socket.sendall(data)
        except OSError:
            self.said.append("could not send")

    def frame(self, data: bytes) -> None:
        """Send bytes with their size."""
        self.raw(SIZE.pack(len(data)) + data)

    def send(self, request: Request, version: int, *, as_version: int | None = None) -> None:
        """Send a request, perhaps as another version than it is written in."""
        key = request.api_key
        header = RequestHeader(key, version, 1, "app")
        data = write_request_header(header) + request.encode(version)
        if as_version is not None:
            data = data[:2] + as_version.to_bytes(2) + data[4:]
        self.frame(data)

    def ask(self, request: Request, version: int, **keywords: int) -> Any:
        """Send a request, write down its answer, and return it; None without one."""
        self.send(request, version, **keywords)
        return self.answer(request, version)

    def answer(self, request: Request, version: int) -> Any:
        """The answer to a request that was sent; None without one."""
        data = self.read()
        if data is None:
            return None
        _, pos = read_response_header(data, request.api_key, version)
        response, _ = response_class(request.api_key).decode_from(data, version, pos)
        self.said.append(repr(response))
        return response

    def read(self, seconds: float = ANSWER_S) -> bytes | None:
        """The next frame; None, and how it ended is written down, if there is none."""
        try:
            self.socket.settimeout(seconds)
            size = SIZE.unpack(self._exactly(4))[0]
            self.socket.settimeout(ANSWER_S)
            return self._exactly(size)
        except TimeoutError:
            self.said.append("open")
        except (EOFError, OSError):
            self.said.append("closed")
        return None

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def end(self) -> None:
        """Write down whether the connection is open, or closed, or what else comes."""
        data = self.read(SILENCE_S)
        if data is not None:
            self.said.append(f"{data.hex()}")
            self.end()

    def rest(self) -> None:
        """Write down every byte until the end, or until nothing more comes."""
        data = b""
        self.socket.settimeout(SILENCE_S)
        try:
            while more := self.socket.recv(1000):
                data += more
            self.said.append(f"{data.hex()} closed")
        except TimeoutError:
            self.said.append(f"{data.hex()} open")
        except OSError:
            self.said.append(f"{data.hex()} reset")

    def close(self) -> None:
        self.socket.close()

    # Logins

    def handshake(self, mechanism: str, version: int = 1) -> None:
        self.ask(SaslHandshakeRequest(mechanism=mechanism), version)

    def token(self, data: bytes, version: int = 2) -> bytes:
        """Send a token; return what the broker said to it."""
        answer = self.ask(SaslAuthenticateRequest(auth_bytes=data), version)
        return b"" if answer is None else bytes(answer.auth_bytes)

    def scram(
        self,
        name: str,
        password: str | bytes,
        mechanism: str = "SCRAM-SHA-256",
        *,
        head: str = "n,,",
        end: str = "",
        last: str = "",
        channel: bytes = b"n,,",
        change: Callable[[bytes], bytes] = lambda data: data,
    ) -> None:
        """Log in by SCRAM. `end` follows the first message, `last` is in the final one before the
        proof; `change` changes that as a whole."""
        bare = f"n={name},r=client{end}"
        first = self.token(f"{head}{bare}".encode())
        answer = self.said.pop() if first else ""
        if not first:
            return
        fields = dict(part.split("=", 1) for part in first.decode().split(",", 2))
        starts = fields["r"].startswith("client")
        self.said.append(
            f"challenge {starts} {first.decode().rpartition(',')[2]} {len(answer) > 0}"
        )
        hash_of = HASHES[mechanism]
        secret = password.encode() if isinstance(password, str) else password
        rounds = int(fields["i"])
        salted = hashlib.pbkdf2_hmac(hash_of().name, secret, b64decode(fields["s"]), rounds)
        client_key = hmac.digest(salted, b"Client Key", hash_of)
        final = f"c={b64encode(channel).decode()},r={fields['r']}{last}"
        signed = f"{bare},{first.decode()},{final}".encode()
        signature = hmac.digest(hash_of(client_key).digest(), signed, hash_of)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        answered = self.token(change(f"{final},p={b64encode(proof).decode()}".encode()))
        if answered:
            server_key = hmac.digest(salted, b"Server Key", hash_of)
            good = b"v=" + b64encode(hmac.digest(server_key, signed, hash_of))
            said = self.said.pop()
            self.said.append(f"signature {answered == good} {said.rpartition(',')[2]}")


def plain(name: str = "alice", password: str | None = None, wanted: str = "") -> bytes:
    """PLAIN's token."""
    secret = PASSWORDS.get(name, "") if password is None else password
    return f"{wanted}\0{name}\0{secret}".encode()


Open = Callable[[str], Talk]
"""Connects to a listener by its name."""
Case = Callable[[Open], list[str]]


def divided(name: str) -> tuple[str, str]:
    """The listener, and the address from which to connect to it, if one is named."""
    listener, _, address = name.partition(_FROM)
    return listener, address
