"""The beginning of a connection with TLS. What follows is asyncio's.

As Kafka's engine does: who says nothing is left alone until `connections.max.idle.ms`; who begins
with anything but TLS is sent an alert, `internal_error`, and closed.

A client without the certificate that is required is sent `bad_certificate`, one of another
authority or one that has expired `certificate_unknown`, by TLS 1.2 (security/tls/context.py). Not
as there: in 1.3, where alerts are encrypted, they are OpenSSL's, `certificate_required`,
`unknown_ca` and `certificate_expired`. Source: Java's
SSLEngineInputRecord; RFC 8446.

What a listener with TLS needs of its broker: context, limits, and whom to tell of failures.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..base.call import ANONYMOUS, Principal
from ..base.logger import log
from ..config.listener_configs import ListenerConfig
from ..security.security import LogInFailure
from ..security.tls.principals import mapped, subject

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .server import Server


_HEAD_BYTES = 5
_RECORDS = range(20, 25)  # the types that a record may have
_ALERT = bytes.fromhex("15030300020250")
_READ_BYTES = 1 << 16
_SAY_GOODBYE_S = 1.0
_FOR_EVER_S = 365 * 24 * 3600.0


async def accept_tls(
    loop: asyncio.AbstractEventLoop,
    tls: ListenerTls,
    new_protocol: Callable[[], asyncio.BaseProtocol],
    client: socket.socket,
    address: str,
) -> None:
    """Agree on TLS with a client, and have its connection begin. Raises OSError."""
    idle_ms = tls.idle_ms()
    seconds = idle_ms / 1000 if idle_ms > 0 else _FOR_EVER_S
    try:
        head = await asyncio.wait_for(_head(loop, client), seconds)
    except TimeoutError:
        raise OSError("it said nothing") from None
    if not head:
        raise OSError("it left at once")
    if not _is_tls(head):
        client.recv(_READ_BYTES)  # else what is unread would make the end a reset
        client.send(_ALERT)
        tls.failed(address, "it does not speak TLS")
        raise OSError("it does not speak TLS")
    copy = client.dup()
    try:
        await loop.connect_accepted_socket(
            new_protocol,
            client,
            ssl=tls.context(),
            ssl_handshake_timeout=seconds,
            ssl_shutdown_timeout=_SAY_GOODBYE_S,
        )
    except ssl.SSLError as error:
        with suppress(OSError):  # the client has gone
            copy.send(getattr(error, "alert", b""))
        reason = (error.reason or str(error)).lower().replace("_", " ")
        tls.failed(address, reason)
        raise OSError(reason) from None
    except ConnectionError:
        reason = "it left before TLS was agreed on"
        tls.failed(address, reason)
        raise OSError(reason) from None
    except ValueError as error:  # a ConfigError, which was raised at the start
        raise OSError(str(error)) from None
    finally:
        copy.close()


def _is_tls(head: bytes) -> bool:
    """Whether a record of TLS, or the hello of SSL 2, may begin so."""
    if head[0] in _RECORDS:
        return head[1:2] in (b"", b"\x03")
    return bool(head[0] & 0x80) and head[2:3] in (b"", b"\x01", b"\x04")


async def _head(loop: asyncio.AbstractEventLoop, client: socket.socket) -> bytes:
    """The first bytes, which stay to be read; none if the client leaves."""
    ready = asyncio.Event()
    loop.add_reader(client, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(client)
    return client.recv(_HEAD_BYTES, socket.MSG_PEEK)


class ListenerTls:
    """TLS at one listener of a broker (tls.py). The cluster may be replaced meanwhile."""

    def __init__(self, server: Server, node_id: int, listener: str) -> None:
        self._server = server
        self._node_id = node_id
        self._listener = listener

    def context(self) -> ssl.SSLContext:
        """Raises ConfigError."""
        return self._server.cluster.security.contexts.of(self._config)

    def idle_ms(self) -> int:
        """As the broker's configs have it."""
        return self._server.cluster.max_idle_ms

    def failed(self, address: str, reason: str) -> None:
        tell_failure(
            self._server.cluster,
            LogInFailure(
                self._server.cluster.clock.now(), "", "TLS", reason, self._listener, "", address
            ),
        )

    @property
    def _config(self) -> ListenerConfig:
        config = self._server.cluster.brokers[self._node_id].config
        return ListenerConfig(config, self._listener)


def tell_failure(cluster: Cluster, failure: LogInFailure, name: str = "") -> None:
    """A client has not shown who it is. `name` is what it is called, if it has said."""
    log.info("%s, from %s", failure, failure.host)
    cluster.security.failures.append(failure)
    who = name or failure.client_id or "a client"
    cluster.journal.add("log-in failed", client=who, reason=str(failure))


def principal_of(
    cluster: Cluster, node_id: int, listener: str, host: str, certificate: Mapping[str, Any] | None
) -> Principal:
    """Who has shown a certificate, or has shown none. Raises ConfigError for rules that cannot be
    read; ValueError for a subject that no rule matches, which is a login that failed."""
    name = subject(certificate)
    if name is None:
        return ANONYMOUS
    config = ListenerConfig(cluster.brokers[node_id].config, listener)
    found = mapped(name, config.get("ssl.principal.mapping.rules"))
    if found is None:
        reason = "no rule of ssl.principal.mapping.rules matches it"
        now = cluster.clock.now()
        tell_failure(cluster, LogInFailure(now, name, "TLS", reason, listener, "", host))
        raise ValueError(f"{name}: {reason}")
    return Principal("User", found)
