"""Settings with which stock clients are quick in a short test.

Their defaults are for production: a consumer tells its group that it is there every 3 seconds, and
hears of a rebalance then; it commits every 5 seconds; it waits before it connects or asks again.
What each setting brings is measured in docs/testing.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import parameters
from ..base.addresses import bracketed
from ..cluster import Cluster
from ..config.broker_rules import LISTENER_PREFIX
from ..config.listener_configs import ListenerConfig
from ..security.listeners import PLAINTEXT
from .facet import Facet

if TYPE_CHECKING:
    from ..security.clients import Access
    from ..security.tls.certificates import Certificate

SPARK = "spark"
KINDS = ("consumer", "producer", "admin")
_BEAT_MS = 100
_WAIT_MS = 50
_AGAIN_MS = 10
_AGAIN_MOST_MS = 100

_Kinds = Mapping[str, Mapping[str, Any]]
_JAVA: _Kinds = {
    "": {
        "reconnect.backoff.ms": 1,
        "reconnect.backoff.max.ms": _AGAIN_MOST_MS,
        "retry.backoff.ms": _AGAIN_MS,
        "retry.backoff.max.ms": _AGAIN_MOST_MS,
    },
    "consumer": {
        "heartbeat.interval.ms": _BEAT_MS,
        "auto.commit.interval.ms": _BEAT_MS,
        "fetch.max.wait.ms": _WAIT_MS,
    },
    "producer": {"linger.ms": 0},
}
_RECOVERY = {"metadata.recovery.strategy": "none"}
"""Else librdkafka forgets its coordinators when it has lost all brokers, and commits no offsets in
a transaction again (its issue 5511). There is such a property from 2.10 on."""
_KNOWS_RECOVERY = 0x020A00FF
_LIBRDKAFKA: _Kinds = {
    "": _JAVA[""],
    "consumer": {
        "heartbeat.interval.ms": _BEAT_MS,
        "auto.commit.interval.ms": _BEAT_MS,
        "fetch.wait.max.ms": _WAIT_MS,
        "fetch.error.backoff.ms": _AGAIN_MS,
    },
    "producer": {"linger.ms": 0},
}
_PYTHON_CONSUMER = {
    "heartbeat_interval_ms": _BEAT_MS,
    "auto_commit_interval_ms": _BEAT_MS,
    "fetch_max_wait_ms": _WAIT_MS,
}
_CLIENTS: dict[str, _Kinds] = {
    "aiokafka": {"": {"retry_backoff_ms": _AGAIN_MS}, "consumer": _PYTHON_CONSUMER},
    "confluent": _LIBRDKAFKA,
    "java": _JAVA,
    "kafka-python": {
        "": {
            "reconnect_backoff_ms": 1,
            "reconnect_backoff_max_ms": _AGAIN_MOST_MS,
            "retry_backoff_ms": _AGAIN_MS,
        },
        "consumer": _PYTHON_CONSUMER,
    },
    "librdkafka": _LIBRDKAFKA,
    SPARK: {"": {}},
}
_NAMES = {
    "confluent-kafka": "confluent",
    "kafka": "kafka-python",
    "kafka-clients": "java",
    "kafka-python-ng": "kafka-python",
    "pyspark": SPARK,
    "rdkafka": "librdkafka",
}
"""Of packages, and what else these clients are called, with dashes."""
_DOTTED = {"confluent", "java", "librdkafka", SPARK}


class ClientConfig(Facet):
    """What goes into a client."""

    # What of Emulator is used here.
    _users: dict[str, str]
    _is_secured: bool
    certificates: Any

    def client_config(
        self,
        client: str,
        kind: str | None = None,
        *,
        user: str | None = None,
        mechanism: str | None = None,
        certificate: Certificate | None = None,
        listener: str | None = None,
    ) -> dict[str, Any]:
        """Settings for a stock client that make it quick in a test, with the bootstrap servers:
        `Consumer({**kafka.client_config("confluent", "consumer"), "group.id": "billing"})`.

        `client` is "aiokafka", "confluent", "java", "kafka-python", "librdkafka" or "spark", or the
        name of its package: "confluent-kafka", "confluent_kafka", "pyspark"; `kind` is "consumer",
        "producer" or "admin"; without it there are those that each kind takes.

        Of a listener that is not plain text there are, too, its protocol, and the certificates to
        trust; `user` is one of `users`, by default the first, `mechanism` one of the listener's, by
        default the first, and `certificate` one of `kafka.certificates`. `listener` is the name of
        the listener, by default the first. Raises ValueError for others.
        """
        client = _named(client)
        given = (user, mechanism, certificate, listener)
        if not self._is_secured and all(each is None for each in given):
            return _prefixed(client, settings(self.bootstrap_servers, client, kind))
        found = self.run(lambda cluster: _listener(cluster, listener))
        made = settings(found.servers, client, kind)
        access = self._access(found, user, mechanism, certificate)
        if access is not None:
            from ..security.clients import access_settings

            made |= access_settings(client, access)
        return _prefixed(client, made)

    def unsecured_token(self, user: str, *, lifetime_s: float = 3600) -> str:
        """An unsecured JSON Web Token for OAUTHBEARER, that holds so long by the broker's clock.
        Raises TypeError."""
        if not isinstance(user, str):
            raise TypeError(f"user is a str, not {user!r}")
        from ..security.login.oauthbearer import unsecured_token

        now = self.run(lambda cluster: cluster.clock.now())
        return unsecured_token(user, now, now + round(lifetime_s * 1000))

    def _access(
        self,
        found: _Found,
        user: str | None,
        mechanism: str | None,
        certificate: Certificate | None,
    ) -> Access | None:
        from ..security.clients import Access
        from ..security.mechanisms import OAUTHBEARER
        from ..security.tls.certificates import Certificate

        for name, given in (("user", user), ("mechanism", mechanism)):
            if given is not None and not found.mechanisms:
                raise ValueError(
                    f"{name} is for a listener with SASL, and there is {found.protocol}"
                )
        if certificate is not None and not isinstance(certificate, Certificate):
            raise TypeError(
                f"certificate is one of kafka.certificates, not a {type(certificate).__name__}"
            )
        if certificate is not None and not found.has_tls:
            raise ValueError(f"certificate is for a listener with TLS, not {found.protocol}")
        if found.protocol == PLAINTEXT:
            return None
        ca = self.certificates.ca if found.trusts_ours else None
        access = Access(found.protocol, ca=ca, certificate=certificate)
        if not found.mechanisms:
            return access
        mechanism = found.mechanisms[0] if mechanism is None else mechanism
        parameters.one_of("mechanism", mechanism, found.mechanisms)
        if mechanism == OAUTHBEARER:
            return access._replace(mechanism=mechanism, user=user or "alice")
        if user is None and self._users:
            user = next(iter(self._users))
        if user not in self._users:
            known = ", ".join(map(repr, self._users)) or "none: Emulator(users={...}) gives them"
            raise ValueError(
                f"user is one of those with a password, not {user!r}; there is {known}"
            )
        return access._replace(mechanism=mechanism, user=user, password=self._users[user])


class _Found(NamedTuple):
    """A listener, as a client needs it."""

    servers: str
    protocol: str
    mechanisms: list[str]
    has_tls: bool
    trusts_ours: bool


def _listener(cluster: Cluster, name: str | None) -> _Found:
    """Raises ValueError for a name that there is not."""
    listeners = cluster.security.listeners
    if name is not None:
        parameters.one_of("listener", name, list(listeners))
    listener = next(iter(listeners.values())) if name is None else listeners[name]
    places = [node.at(listener.name) for node in cluster.nodes.values()]
    from ..security.mechanisms import mechanisms_of

    config = ListenerConfig(cluster.config, listener.name)
    own = config.own("ssl.keystore.certificate.chain")
    return _Found(
        ",".join(f"{bracketed(host)}:{port}" for host, port in places),
        listener.protocol,
        mechanisms_of(config) if listener.has_sasl else [],
        listener.has_tls,
        listener.has_tls and own is not None and own[0].startswith(LISTENER_PREFIX),
    )


def settings(bootstrap_servers: str, client: str, kind: str | None) -> dict[str, Any]:
    """Of a client of this broker. Raises ValueError."""
    if client not in _CLIENTS:
        raise ValueError(f"client is one of {', '.join(_CLIENTS)}, not {client!r}")
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")
    servers = "bootstrap.servers" if client in _DOTTED else "bootstrap_servers"
    kinds = _CLIENTS[client]
    recovery = _RECOVERY if client == "confluent" and _knows_recovery() else {}
    return {servers: bootstrap_servers, **kinds[""], **recovery, **kinds.get(kind or "", {})}


def _knows_recovery() -> bool:
    try:
        from confluent_kafka import libversion
    except ImportError:
        return False
    return bool(libversion()[1] >= _KNOWS_RECOVERY)


def _named(client: str) -> str:
    name = client.lower().replace("_", "-") if isinstance(client, str) else client
    return _NAMES.get(name, name)


def _prefixed(client: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as options of Spark's source and sink, if it is for that."""
    if client != SPARK:
        return dict(settings)
    return {f"kafka.{name}": str(value) for name, value in settings.items()}
