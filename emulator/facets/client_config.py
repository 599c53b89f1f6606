"""Settings with which stock clients are quick in a short test.

Their defaults are for production: a consumer tells its group that it is there every 3 seconds, and
hears of a rebalance then; it commits every 5 seconds; it waits before it connects or asks again.
What each setting brings is measured in docs/testing.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .facet import Facet

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
}
_DOTTED = {"confluent", "java", "librdkafka"}


class ClientConfig(Facet):
    """What goes into a client."""

    def client_config(self, client: str, kind: str | None = None) -> dict[str, Any]:
        """Settings for a stock client that make it quick in a test, with the bootstrap servers:
        `Consumer({**kafka.client_config("confluent", "consumer"), "group.id": "billing"})`.

        `client` is "aiokafka", "confluent", "java", "kafka-python" or "librdkafka"; `kind` is
        "consumer", "producer" or "admin"; without it there are those that each kind takes. Raises
        ValueError for others.
        """
        return settings(self.bootstrap_servers, client, kind)


def settings(bootstrap_servers: str, client: str, kind: str | None) -> dict[str, Any]:
    """Of a client of this broker. Raises ValueError."""
    if client not in _CLIENTS:
        raise ValueError(f"client is one of {', '.join(_CLIENTS)}, not {client!r}")
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")
    servers = "bootstrap.servers" if client in _DOTTED else "bootstrap_servers"
    kinds = _CLIENTS[client]
    return {servers: bootstrap_servers, **kinds[""], **kinds.get(kind or "", {})}
