"""Quotas of clients: AlterClientQuotas and DescribeClientQuotas."""

from __future__ import annotations

from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest

from tests.requests.asker import Asker

Entity = list[tuple[str, str | None]]
PRODUCED, CONSUMED = "producer_byte_rate", "consumer_byte_rate"
USER: Entity = [("user", "u")]


def entry(entity: Entity, *ops: tuple[str, float | None]) -> AlterClientQuotasRequest.Entry:
    """What to set for an entity; a quota of None is taken away."""
    made = AlterClientQuotasRequest.Entry
    return made(
        entity=[made.Entity(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[made.Op(key=key, value=value or 0.0, remove=value is None) for key, value in ops],
    )


def alter(
    client: Asker, *entries: AlterClientQuotasRequest.Entry, dry: bool = False, version: int = 1
) -> list[tuple[int, str | None]]:
    """Alter quotas; return error and message of each entity."""
    request = AlterClientQuotasRequest(entries=list(entries), validate_only=dry)
    return [(each.error_code, each.error_message) for each in client.ask(request, version).entries]


def find(
    client: Asker, *parts: tuple[str, int, str | None], strict: bool = False, version: int = 1
) -> dict[tuple[tuple[str, str | None], ...], dict[str, float]]:
    """The quotas of each entity that fits: its parts, as type, kind of match and name."""
    made = DescribeClientQuotasRequest
    request = made(
        components=[
            made.Component(entity_type=kind, match_type=how, match=name)
            for kind, how, name in parts
        ],
        strict=strict,
    )
    answer = client.ask(request, version)
    assert (answer.error_code, answer.error_message) == (0, "")
    return {
        tuple((part.entity_type, part.entity_name) for part in each.entity): {
            value.key: value.value for value in each.values
        }
        for each in answer.entries
    }
