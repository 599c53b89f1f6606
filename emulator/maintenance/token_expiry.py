"""Delegation tokens that have expired are removed, every
`delegation.token.expiry.check.interval.ms`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.stored.cluster import DelegationTokenRecord, RemoveDelegationTokenRecord

if TYPE_CHECKING:
    from ..cluster import Cluster


class TokenExpiry:
    """The regular removal of tokens that have expired."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def interval_ms(self) -> int:
        interval_ms: int = self._cluster.config.get("delegation.token.expiry.check.interval.ms")
        return interval_ms

    def run(self, now: int) -> bool:
        tokens = self._cluster.metadata.image.tokens.values()
        gone = [each.token_id for each in tokens if _is_over(each, now)]
        if gone:
            self._cluster.metadata.append(
                [RemoveDelegationTokenRecord(token_id=token_id) for token_id in gone]
            )
        return bool(gone)

    def due(self, now: int) -> int | None:
        ends = [each.expiration_timestamp for each in self._cluster.metadata.image.tokens.values()]
        return min(ends) + 1 if ends else None


def _is_over(record: DelegationTokenRecord, now: int) -> bool:
    return record.max_timestamp < now or record.expiration_timestamp < now
