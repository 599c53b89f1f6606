"""Limits: which quota a client has, and with whom it shares it.

The most specific one counts: that of user and client id, user and any client id, user; any user and
client id, any user and any client id, any user; client id, any client id. Clients share what is
measured if they have the same user and client id, as far as the quota names them, also by "any".
ANONYMOUS is a user like others. Source: KIP-55; Kafka's `DefaultQuotaCallback`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...metadata.image import QuotaEntity
from ..quotas import CLIENT_ID, USER

PRODUCED, FETCHED = "producer_byte_rate", "consumer_byte_rate"
REQUESTS, MUTATIONS = "request_percentage", "controller_mutation_rate"
CONNECTIONS = "connection_creation_rate"


class Limit(NamedTuple):
    """A quota, and what stands for those who share what is measured."""

    bound: float
    shared_by: tuple[str, str]


def limit_of(
    quotas: Mapping[QuotaEntity, Mapping[str, float]], key: str, user: str, client_id: str
) -> Limit | None:
    """The quota of a client; None if nothing limits it."""
    both, whole, client = (user, client_id), (user, ""), ("", client_id)
    for entity, shared_by in (
        (((CLIENT_ID, client_id), (USER, user)), both),
        (((CLIENT_ID, None), (USER, user)), both),
        (((USER, user),), whole),
        (((CLIENT_ID, client_id), (USER, None)), both),
        (((CLIENT_ID, None), (USER, None)), both),
        (((USER, None),), whole),
        (((CLIENT_ID, client_id),), client),
        (((CLIENT_ID, None),), client),
    ):
        bound = quotas.get(entity, {}).get(key)
        if bound is not None and any(shared_by):
            return Limit(bound, shared_by)
    return None
