"""A blocking connection to one broker of any Kafka: one request at a time.

The first request is ApiVersions; every other one is then sent in a version that both sides know:
KIP-35, KIP-511. A connection that was lost is of no more use: its owner opens another.

With a `ClientSecurity` the connection is encrypted, and a user logs in, before the first request of
the caller. A session that the broker ends after a time (KIP-368) counts as idle before that.
"""

from __future__ import annotations

import socket
import ssl
import struct
from typing import Any

from ...emulator.base.addresses import bracketed
from ...emulator.base.real_time import monotonic
from ...wire import Error, Refused, Request, WireError
from ...wire.api import response_class
from ...wire.api.api_versions import ApiVersionsRequest
from ...wire.api.sasl_authenticate import SaslAuthenticateRequest
from ...wire.api.sasl_handshake import SaslHandshakeRequest
from ...wire.headers import RequestHeader, read_response_header, write_request_header
from .security import ClientSecurity, SecurityError

CLIENT_ID = "odradek"
_NEWEST_API_VERSIONS = 3
_OLDEST_API_VERSIONS = 0  # which every broker serves
_SIZE = struct.Struct(">i")
_FRAME_MAX = 1 << 28  # below what the first bytes of a TLS record say
_IDLE_S = 60  # a broker closes connections that are idle, after 10 minutes by default
_OF_SESSION = 0.8  # of the time after which a broker wants another log-in


class NoBroker(ConnectionError):
    """Nobody listens at the address."""


class RequestLost(ConnectionError):
    """The connection ended while an answer was waited for: the broker may have done it."""


class NotLetIn(ConnectionError):
    """The broker is not trusted, or does not let the user in."""


class Connection:
    """A connection to the broker at an address. Raises NoBroker, RequestLost, NotLetIn."""

    def __init__(
        self,
        host: str,
        port: int,
        timeout: float,
        client_id: str = CLIENT_ID,
        security: ClientSecurity | None = None,
    ) -> None:
        self.address = f"{bracketed(host)}:{port}"
        self._client_id = client_id
        self._timeout = timeout
        self._correlation_id = 0
        self._used_at = monotonic()
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout)
        except OSError as error:
            raise NoBroker(f"no broker at {self.address}: {error.strerror or error}") from None
        except UnicodeError:
            raise NoBroker(f"no broker at {self.address}: not a name of a host") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._session_ends = float("inf")
        try:
            if security is not None and security.has_tls:
                self._encrypt(host, security)
            self._served = self._ask_versions()
            if security is not None and security.has_login:
                self._log_in(security)
        except BaseException:
            self.close()
            raise

    @property
    def is_idle(self) -> bool:
        """Whether it was not used for so long that the broker may have closed it."""
        now = monotonic()
        return now - self._used_at > _IDLE_S or now > self._session_ends

    def version(self, api: type[Request], most: int | None = None) -> int:
        """The newest version of a request, up to `most`, that both sides know.

        Raises Refused(UNSUPPORTED_VERSION) if there is none.
        """
        first, last = self._served.get(api.api_key, (0, -1))
        newest = min(last, api.last_version if most is None else most)
        if newest < max(first, api.first_version):
            knows = f"; this client knows {api.first_version} to {api.last_version}"
            serves = _serves(api, first, last) + (knows if last >= 0 else "")
            raise Refused(Error.UNSUPPORTED_VERSION, f"the broker at {self.address} {serves}")
        return newest

    def ask(self, request: Request, version: int, more_s: float = 0) -> Any:
        """The answer, which may take `more_s` longer than the timeout.

        Raises Refused(UNSUPPORTED_VERSION) if the broker does not serve this version of the
        request, WireError if no broker can be asked that, RequestLost."""
        first, last = self._served.get(request.api_key, (0, -1))
        if not first <= version <= last:
            serves = _serves(type(request), first, last)
            text = f"the broker at {self.address} {serves}, and is asked version {version}"
            raise Refused(Error.UNSUPPORTED_VERSION, text)
        self._socket.settimeout(self._timeout + more_s)
        return self._exchange(request, version)

    def _encrypt(self, host: str, security: ClientSecurity) -> None:
        from .security.tls import context, problem

        try:
            self._socket = context(security).wrap_socket(self._socket, server_hostname=host)
        except SecurityError as error:
            raise NotLetIn(str(error)) from None
        except ssl.SSLError as error:
            raise NotLetIn(f"{self.address}: {problem(error, host)}") from None
        except OSError as error:
            raise NotLetIn(f"{self.address} ended the handshake of TLS: {error}") from None

    def _log_in(self, security: ClientSecurity) -> None:
        from .security.sasl import exchange

        who = f"{security.username or 'the token'} ({security.mechanism})"
        hello = SaslHandshakeRequest(mechanism=security.mechanism)
        answer = self.ask(hello, self.version(SaslHandshakeRequest))
        if answer.error_code:
            there = ", ".join(answer.mechanisms) or "none"
            raise NotLetIn(
                f"{self.address} has no log-in by {security.mechanism}: its mechanisms are {there}"
            )
        steps = exchange(security)
        token = next(steps)
        try:
            while True:
                request = SaslAuthenticateRequest(auth_bytes=token)
                answer = self.ask(request, self.version(SaslAuthenticateRequest))
                if answer.error_code:
                    why = answer.error_message or Error(answer.error_code).name
                    raise NotLetIn(f"{self.address} does not let {who} in: {why}")
                token = steps.send(bytes(answer.auth_bytes))
        except StopIteration:
            if answer.session_lifetime_ms:
                lasts = answer.session_lifetime_ms / 1000 * _OF_SESSION
                self._session_ends = monotonic() + lasts
        except SecurityError as error:
            raise NotLetIn(f"{self.address}: {error}") from None

    def _ask_versions(self) -> dict[int, tuple[int, int]]:
        hello = ApiVersionsRequest(client_software_name="odradek", client_software_version="1")
        answer = self._exchange(hello, _NEWEST_API_VERSIONS)
        if answer.error_code == Error.UNSUPPORTED_VERSION:
            answer = self._exchange(hello, _OLDEST_API_VERSIONS)
        if answer.error_code:
            raise RequestLost(f"{self.address} refuses ApiVersions: error {answer.error_code}")
        return {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}

    def _exchange(self, request: Request, version: int) -> Any:
        self._correlation_id += 1
        self._used_at = monotonic()
        key = request.api_key
        header = RequestHeader(key, version, self._correlation_id, self._client_id)
        try:
            body = write_request_header(header) + request.encode(version)
        except UnicodeError as error:
            raise WireError(str(error)) from None
        try:
            self._socket.sendall(_SIZE.pack(len(body)) + body)
            frame = self._frame()
            correlation_id, position = read_response_header(frame, key, version)
            if correlation_id != self._correlation_id:
                raise WireError("its answers are out of step")
            if key == ApiVersionsRequest.api_key and _is_unsupported(frame, position):
                version = _OLDEST_API_VERSIONS  # such an answer is encoded in the oldest
            return response_class(key).decode(frame, version, position)
        except (OSError, WireError) as error:
            name = _name(type(request))
            raise RequestLost(f"{self.address} does not answer {name}: {error}") from None

    def _frame(self) -> bytearray:
        (size,) = _SIZE.unpack(self._read(_SIZE.size))
        if not 0 <= size <= _FRAME_MAX:
            raise WireError(f"an answer of {size} bytes: it is no Kafka broker, or wants TLS")
        return self._read(size)

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        with memoryview(data) as left:
            done = 0
            while done < size:
                read = self._socket.recv_into(left[done:])
                if not read:
                    raise WireError("it closed the connection")
                done += read
        return data

    def close(self) -> None:
        self._socket.close()


def _name(api: type[Request]) -> str:
    return api.__name__.removesuffix("Request")


def _serves(api: type[Request], first: int, last: int) -> str:
    name = _name(api)
    return f"serves {name} {first} to {last}" if last >= 0 else f"does not serve {name}"


def _is_unsupported(frame: bytearray, pos: int) -> bool:
    """Whether an ApiVersions answer has error 35."""
    return int.from_bytes(frame[pos : pos + 2], "big") == Error.UNSUPPORTED_VERSION
