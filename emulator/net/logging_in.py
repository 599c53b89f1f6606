"""A connection's login: between its frames and the state machine (security/login/login.py).

Requests of a login pass no step of the chain: rules do not meet them, and nobody keeps them, for
they have passwords in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...wire import Buffer, Error, Response
from ...wire.api.api_versions import ApiVersionsRequest
from ...wire.codec.messages import read_message
from ...wire.frames import Frame
from ...wire.headers import RequestHeader
from ..base.call import ANONYMOUS, Call, Principal
from ..base.java_order import hash_map_order
from ..config.listener_configs import ListenerConfig
from ..handlers.api_versions import api_versions, note_software, unknown_version
from ..handlers.registry import SERVED
from ..security.security import LogInFailure

if TYPE_CHECKING:
    from ..security.login.exchange import Exchange
    from ..security.login.login import Login, Step
    from .connection import Connection

_LONGEST = 64


def begin_login(connection: Connection) -> Login | None:
    """The login of a new connection; None at a listener without."""
    if not connection.cluster.security.has_login(connection.listener):
        return None
    connection.frames.limit(_config(connection).get("sasl.server.max.receive.size"))
    from ..security.login.login import Login

    return Login(_Broker(connection))


def log_in(connection: Connection, login: Login, frame: Frame) -> bool:
    """Take a frame for the login; False if the client has logged in, and it is a request."""
    cluster = connection.cluster
    step = login.receive(frame, cluster.clock.now())
    if step is None:
        return False
    connection.client_id = login.client_id
    connection.requests += 1
    if step.is_done:
        is_again = connection.principal != ANONYMOUS
        connection.principal = Principal("User", login.user)
        connection.frames.limit(cluster.max_request_bytes)
        cluster.tracker.met(connection, connection.client_id)
        if is_again:
            cluster.journal.add("logged in again", client=connection.name)
    if not step.closes:
        connection.send_parts(step.answer or [])
        return True
    _fail(connection, login, step)
    return True


def _fail(connection: Connection, login: Login, step: Step) -> None:
    cluster = connection.cluster
    failure = LogInFailure(
        cluster.clock.now(),
        *(_shortened(login.user), _shortened(login.mechanism), step.failure),
        *(connection.listener, _shortened(connection.client_id), connection.client_host),
    )
    from .tls import tell_failure

    tell_failure(cluster, failure, _shortened(connection.name))
    delay_ms: int = _config(connection).get("connection.failed.authentication.delay.ms")
    if not step.is_delayed or delay_ms <= 0:
        _end(connection, step)
        return
    connection.muted += 1  # nothing that follows is served
    cluster.after(delay_ms, partial(_end, connection, step))


def _end(connection: Connection, step: Step) -> None:
    if connection.is_open:
        if step.answer is not None:
            connection.send_parts(step.answer)
        connection.close()


def _shortened(text: str) -> str:
    found = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return found if found.isprintable() else repr(found)


def _config(connection: Connection) -> ListenerConfig:
    config = connection.cluster.brokers[connection.node_id].config
    return ListenerConfig(config, connection.listener)


class _Broker:
    """The broker to the login of a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def mechanisms(self) -> Sequence[str]:
        from ..security.mechanisms import mechanisms_of

        return hash_map_order(mechanisms_of(_config(self._connection)))

    def serves(self, api_key: int, version: int) -> bool:
        release = self._connection.cluster.release
        return api_key in SERVED and release.serves(api_key, version)

    def versions(self, header: RequestHeader, request: ApiVersionsRequest | None) -> Response:
        call = self._call(header)
        if request is None:
            return unknown_version(self._connection.cluster, call, ApiVersionsRequest())
        note_software(call, request)
        return api_versions(self._connection.cluster, call, request)

    def refusal(self, header: RequestHeader, body: Buffer, error: Error, message: str) -> Response:
        from ..division.refusing import refused, whole

        kind, version = SERVED[header.api_key].request, header.api_version
        request, _ = read_message(kind, body, version)
        response: Response = refused(request, version, whole(kind, version), error, message)
        return response

    def begin(self, mechanism: str) -> Exchange:
        config = _config(self._connection)
        cluster = self._connection.cluster
        return cluster.security.begin(config, mechanism, cluster.clock.now())

    def max_session_ms(self, mechanism: str) -> int:
        longest: int = _config(self._connection).get("connections.max.reauth.ms", mechanism)
        return longest

    def _call(self, header: RequestHeader) -> Call:
        connection, now = self._connection, self._connection.cluster.clock.now()
        key, version = header.api_key, header.api_version
        return Call(connection, key, version, header.correlation_id, header.client_id, now)
