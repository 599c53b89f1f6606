"""Idempotent producers expire `producer.id.expiration.ms` (a day) after their last batch.

What counts is the timestamp of the batch. It is checked when a directory is opened, and then every
`producer.id.expiration.check.interval.ms` (10 minutes). A producer with an open transaction does
not expire. One that writes again after it expired may begin with any sequence, and its duplicates
are not recognised.

Source: Kafka 4.3.1's answers after a restart.

Delegation tokens that have expired are removed, every
`delegation.token.expiry.check.interval.ms`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.stored.cluster import DelegationTokenRecord, RemoveDelegationTokenRecord

if TYPE_CHECKING:
    from ..environment import Environment
    from ..metadata.log import MetadataLog


class ProducerExpiry:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        now = environment.clock.now()
        self.run(now)
        environment.timers.every(now + self.interval_ms(), self)

    def interval_ms(self) -> int:
        interval_ms: int = self._environment.config.get("producer.id.expiration.check.interval.ms")
        return interval_ms

    def run(self, now: int) -> bool:
        expiration_ms = self._expiration_ms()
        expired = 0
        for log in self._environment.log_dir.logs.values():
            if log.producers.states:
                expired += log.producers.expire(now, expiration_ms)
        return expired > 0

    def due(self, now: int) -> int | None:
        logs = self._environment.log_dir.logs.values()
        oldest = [log.producers.oldest_timestamp() for log in logs if log.producers.states]
        least = min((one for one in oldest if one is not None), default=None)
        return None if least is None else least + self._expiration_ms()

    def _expiration_ms(self) -> int:
        expiration_ms: int = self._environment.config.get("producer.id.expiration.ms")
        return expiration_ms


class TokenExpiry:
    def __init__(self, environment: Environment, metadata: MetadataLog) -> None:
        self._environment, self._metadata = environment, metadata

    def interval_ms(self) -> int:
        interval_ms: int = self._environment.config.get("delegation.token.expiry.check.interval.ms")
        return interval_ms

    def run(self, now: int) -> bool:
        tokens = self._metadata.image.tokens.values()
        gone = [each.token_id for each in tokens if _is_over(each, now)]
        if gone:
            self._metadata.append(
                [RemoveDelegationTokenRecord(token_id=token_id) for token_id in gone]
            )
        return bool(gone)

    def due(self, now: int) -> int | None:
        ends = [each.expiration_timestamp for each in self._metadata.image.tokens.values()]
        return min(ends) + 1 if ends else None


def _is_over(record: DelegationTokenRecord, now: int) -> bool:
    return record.max_timestamp < now or record.expiration_timestamp < now
