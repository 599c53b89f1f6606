"""What a listener with TLS needs of its broker: context, limits, and whom to tell of failures."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..base.client import ANONYMOUS, Principal
from ..base.logger import log
from ..config.listener_configs import ListenerConfig
from ..security.security import LogInFailure
from ..security.tls.principals import mapped, subject

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .server import Server


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
        """Tell and keep it."""
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
