"""One connection's login: frames in, answers out; no socket, and no clock but the given `now`.

    VERSIONS --ApiVersions--> HANDSHAKE --SaslHandshake v1--> TOKENS --...--> DONE
        |                        ^  |          v0--> RAW TOKENS --...---------^
        +------------------------+--+

- Until it is DONE nothing else is served. One ApiVersions is answered, and those before it that
  are answered by an error; anything else closes the connection.
- A failure is answered, and the connection closed, after
  `connection.failed.authentication.delay.ms`. What is not a request of Kafka closes it at once.
- Sessions end where `connections.max.reauth.ms` is set, or with what the client has shown: then a
  Handshake begins a login anew, by the same mechanism and for the same principal, at most once in a
  second. The first other request after the end closes the connection.

Source: KIP-43, KIP-152, KIP-255, KIP-368; Kafka 4.3.1's SaslServerAuthenticator.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Any, NamedTuple, Protocol

from ....wire import Buffer, Error, Request, Response, WireError
from ....wire.api.api_versions import ApiVersionsRequest
from ....wire.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ....wire.api.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ....wire.codec.messages import read_message
from ....wire.headers import (
    API_VERSIONS,
    RequestHeader,
    read_request_header,
    write_response_header,
)
from .exchange import Broken, Exchange, LoginFailed

HANDSHAKE, AUTHENTICATE = SaslHandshakeRequest.api_key, SaslAuthenticateRequest.api_key
_AGAIN_MS = 1000
_DIFFERENT = "SaslAuthenticate request received after successful authentication"


class Authority(Protocol):
    """The broker to a login."""

    @property
    def mechanisms(self) -> Sequence[str]:
        """Those that are enabled, in order."""
        ...

    def serves(self, api_key: int, version: int) -> bool: ...

    def versions(self, header: RequestHeader, request: ApiVersionsRequest | None) -> Response:
        """The answer to ApiVersions; None for a version that is not served."""
        ...

    def refusal(self, header: RequestHeader, body: Buffer, error: Error, message: str) -> Response:
        """The answer of an API that refuses all of a request. Raises WireError."""
        ...

    def begin(self, mechanism: str) -> Exchange: ...

    def max_session_ms(self, mechanism: str) -> int:
        """After how long a session ends; 0 if it does not."""
        ...


class Step(NamedTuple):
    answer: list[Buffer] | None = None
    closes: bool = False
    is_delayed: bool = False
    """Whether answer and end wait, as after a failure."""
    failure: str = ""
    """Why the login has failed, for people."""
    is_done: bool = False
    """Whether it has just succeeded."""


class State(Enum):
    VERSIONS = auto()
    HANDSHAKE = auto()
    TOKENS = auto()
    RAW_TOKENS = auto()
    OTHER_MECHANISM = auto()
    DONE = auto()
    FAILED = auto()


class Login:
    """The login of one connection. `authority` may be replaced."""

    def __init__(self, authority: Authority) -> None:
        self.authority = authority
        self.state = State.VERSIONS
        self.user = ""
        """Who has logged in, or tries to."""
        self.mechanism = ""
        self.is_token = False
        """Whether it was by a delegation token."""
        self.client_id = ""
        """As in its last request."""
        self.ends_at: int | None = None
        """When the session ends, in ms since 1970; None if it does not."""
        self._exchange: Exchange | None = None
        self._again_at: int | None = None  # when the last login anew began
        self._before: tuple[str, str] | None = None  # mechanism and user, while that goes on

    def receive(self, frame: Buffer, now: int) -> Step | None:
        """The step after a frame; None if it is a request for others, as the client has logged
        in."""
        if self.state is State.DONE and not self._begins_anew(frame, now):
            return self._ended(now)
        try:
            return self._receive(frame, now)
        except (WireError, Broken) as error:
            self.state = State.FAILED
            return Step(closes=True, failure=str(error))

    def _begins_anew(self, frame: Buffer, now: int) -> bool:
        if self.ends_at is None or len(frame) < 2 or int.from_bytes(frame[:2]) != HANDSHAKE:
            return False
        if self._again_at is not None and now - self._again_at < _AGAIN_MS:
            return False
        self._again_at = now
        self._before = self.mechanism, self.user
        self.state = State.HANDSHAKE
        return True

    def _ended(self, now: int) -> Step | None:
        if self.ends_at is None or now <= self.ends_at:
            return None
        return Step(closes=True, failure="its session has ended")

    def _receive(self, frame: Buffer, now: int) -> Step:
        if self.state is State.RAW_TOKENS:
            return self._raw_token(bytes(frame), now)
        if self.state is State.OTHER_MECHANISM:
            return self._failed("another mechanism than before")
        header, pos = read_request_header(frame)
        self.client_id = header.client_id
        if self.state is State.TOKENS:
            return self._token(header, frame, pos, now)
        if header.api_key == API_VERSIONS:
            return self._versions(header, frame, pos)
        if header.api_key == HANDSHAKE:
            return self._handshake(
                _read(self.authority, SaslHandshakeRequest, header, frame, pos), header
            )
        return self._failed(f"a request with API key {header.api_key} before the login")

    def _versions(self, header: RequestHeader, frame: Buffer, pos: int) -> Step:
        if self.state is not State.VERSIONS:
            raise WireError("a second ApiVersions")
        if not self.authority.serves(API_VERSIONS, header.api_version):
            return Step(
                _encoded(header._replace(api_version=0), self.authority.versions(header, None))
            )
        request = _read(self.authority, ApiVersionsRequest, header, frame, pos)
        response: Any = self.authority.versions(header, request)
        if not response.error_code:
            self.state = State.HANDSHAKE
        return Step(_encoded(header, response))

    def _handshake(self, request: SaslHandshakeRequest, header: RequestHeader) -> Step:
        mechanisms, wanted = list(self.authority.mechanisms), request.mechanism
        if wanted not in mechanisms:
            error = Error.UNSUPPORTED_SASL_MECHANISM
            answer = SaslHandshakeResponse(error_code=error, mechanisms=mechanisms)
            reason = "a mechanism that is not enabled"
            if self._before is not None:
                raise Broken(reason)
            self.mechanism = wanted
            return self._failed(reason, _encoded(header, answer))
        if self._before is not None and self._before[0] != wanted:
            self.state = State.OTHER_MECHANISM
        else:
            self.mechanism = wanted
            self._exchange = self.authority.begin(wanted)
            self.state = State.TOKENS if header.api_version else State.RAW_TOKENS
        return Step(_encoded(header, SaslHandshakeResponse(mechanisms=mechanisms)))

    def _raw_token(self, token: bytes, now: int) -> Step:
        try:
            answer = self._exchanged(token, now)
        except LoginFailed as failed:
            return self._failed(failed.reason)
        self._lifetime_ms(now)
        return Step([answer], is_done=self.state is State.DONE)

    def _token(self, header: RequestHeader, frame: Buffer, pos: int, now: int) -> Step:
        if header.api_key != AUTHENTICATE:
            refusal = self._refusal(header, frame, pos)
            return self._failed("another request in the middle of the login", refusal)
        request = _read(self.authority, SaslAuthenticateRequest, header, frame, pos)
        try:
            answer = self._exchanged(bytes(request.auth_bytes), now)
        except LoginFailed as failed:
            shown = failed.shown or self._generic()
            error = Error.SASL_AUTHENTICATION_FAILED
            response = SaslAuthenticateResponse(error_code=error, error_message=shown)
            return self._failed(failed.reason, _encoded(header, response))
        lifetime = self._lifetime_ms(now)
        response = SaslAuthenticateResponse(
            error_message="", auth_bytes=answer, session_lifetime_ms=lifetime
        )
        return Step(_encoded(header, response), is_done=self.state is State.DONE)

    def _refusal(self, header: RequestHeader, frame: Buffer, pos: int) -> list[Buffer]:
        if not self.authority.serves(header.api_key, header.api_version):
            raise WireError(f"API key {header.api_key} v{header.api_version} is not served")
        message = "Request is not valid given the current SASL state."
        error = Error.ILLEGAL_SASL_STATE
        return _encoded(header, self.authority.refusal(header, frame[pos:], error, message))

    def _exchanged(self, token: bytes, now: int) -> bytes:
        """The answer to a token. Raises LoginFailed, Broken."""
        exchange = self._exchange
        assert exchange is not None
        try:
            answer = exchange.receive(token, now)
        finally:
            self.user = exchange.user or self.user
        if not exchange.is_complete:
            return answer
        if self._before is not None and self._before[1] != exchange.user:
            names = f"User.{self._before[1]}: User.{exchange.user}"
            shown = f"Cannot change principals during re-authentication from {names}"
            raise LoginFailed("another user than before", shown)
        self.is_token = exchange.is_token
        self.state, self._before = State.DONE, None
        return answer

    def _lifetime_ms(self, now: int) -> int:
        """How long the session lasts, once the login is done; 0 without an end."""
        if self.state is not State.DONE or self._exchange is None:
            return 0
        ends = [] if self._exchange.expires_at is None else [self._exchange.expires_at - now]
        longest = self.authority.max_session_ms(self.mechanism)
        ends += [longest] if longest > 0 else []
        self._exchange = None
        self.ends_at = None
        if not ends:
            return 0
        lifetime = max(0, min(ends))
        # One that is over already allows no request at all.
        self.ends_at = now + lifetime if lifetime else now - 1
        return lifetime

    def _generic(self) -> str:
        what = "authentication" if self._before is None else "re-authentication"
        cause = "due to invalid credentials with SASL mechanism"
        return f"Authentication failed during {what} {cause} {self.mechanism}"

    def _failed(self, reason: str, answer: list[Buffer] | None = None) -> Step:
        self.state = State.FAILED
        return Step(answer, closes=True, is_delayed=True, failure=reason)


def _read(
    authority: Authority, request: type[Request], header: RequestHeader, frame: Buffer, pos: int
) -> Any:
    """Raises WireError."""
    if not authority.serves(header.api_key, header.api_version):
        raise WireError(f"{request.__name__} v{header.api_version} is not served")
    return read_message(request, frame, header.api_version, pos)[0]


def _encoded(header: RequestHeader, response: Response) -> list[Buffer]:
    key, version = header.api_key, header.api_version
    return [write_response_header(header.correlation_id, key, version), *response.parts(version)]
