"""Quotas of a test: how fast clients may be."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from ...wire import Refused
from ..cluster import Cluster
from .facet import Facet

ANY = "*"
_PRINCIPAL = "User:"


class Limiting(Facet):
    """Client quotas."""

    def throttle(
        self,
        *,
        user: str | None = None,
        client_id: str | None = None,
        produce: float | None = None,
        fetch: float | None = None,
        requests: float | None = None,
        mutations: float | None = None,
    ) -> None:
        """Give clients a quota, as kafka-configs does:

            kafka.throttle(client_id="billing", produce=100_000)

        user, client_id  of whom, one or both; "*" is every one that has no quota of its own; the
                         user "User:alice" is "alice", as in `allow`
        produce, fetch   bytes per second
        requests         how many percent of one thread's time
        mutations        partitions made or deleted per second

        A client over its quota is answered, told how long to wait, and its connection muted for so
        long. Without users everybody is "ANONYMOUS". It counts from the next request on, and
        replaces an earlier one of the same clients. Raises ValueError for nobody, nothing or a rate
        that is not positive, TypeError.
        """
        from ..security.throttling.limits import FETCHED, MUTATIONS, PRODUCED, REQUESTS

        given = {PRODUCED: produce, FETCHED: fetch, REQUESTS: requests, MUTATIONS: mutations}
        values = {key: _rate(key, value) for key, value in given.items() if value is not None}
        if not values:
            raise ValueError(
                "say how fast: produce=, fetch= (bytes per second), requests=, mutations="
            )
        names = _entity(user, client_id)
        self.run(lambda cluster: _set(cluster, names, values))

    def unthrottle(self, *, user: str | None = None, client_id: str | None = None) -> None:
        """Take away the quotas that `throttle` has given to these clients, or to all of them if
        neither is said."""
        from ..security.quotas import IP

        names = {} if user is None and client_id is None else _entity(user, client_id)

        def done(cluster: Cluster) -> None:
            for entity, values in list(cluster.metadata.image.quotas.items()):
                if names in ({}, dict(entity)) and IP not in dict(entity):
                    _set(cluster, dict(entity), dict.fromkeys(values))

        self.run(done)


def _set(
    cluster: Cluster, names: Mapping[str, str | None], values: Mapping[str, float | None]
) -> None:
    from ..security.quotas import quota_records

    try:
        cluster.metadata.append(quota_records(cluster.metadata.image, names, values))
    except Refused as refused:
        raise ValueError(refused.message or str(refused)) from None


def _entity(user: str | None, client_id: str | None) -> dict[str, str | None]:
    from ..security.quotas import CLIENT_ID, USER

    given = {USER: user, CLIENT_ID: client_id}
    for kind, name in given.items():
        if name is not None and not isinstance(name, str):
            raise TypeError(f"{kind.replace('-', '_')} is a str, not {name!r}")
    if user is not None:
        given[USER] = user.removeprefix(_PRINCIPAL)
    names = {
        kind: None if name == ANY else name for kind, name in given.items() if name is not None
    }
    if not names:
        raise ValueError('say whom: user=, client_id=, or both; "*" is everybody else')
    return names


def _rate(key: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"a rate is a number, not {value!r} ({key})")
    if not isfinite(value):
        raise ValueError(f"a rate is a number, not {value!r} ({key}); unthrottle takes one away")
    return float(value)
