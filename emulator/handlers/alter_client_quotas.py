"""AlterClientQuotas (49): set and remove quotas, each entity by itself (semantics I11).

An entity that is named twice is answered once, with an error; all the same what is asked for it
first is done, unless that names a key twice. The rules: security/quotas.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ...wire import Refused
from ...wire.api.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from ...wire.stored.cluster import MetadataRecord
from ..base.call import Call
from ..metadata.image import QuotaEntity
from ..security.quotas import duplicate, entity_key, quota_records
from .one_change import write_together
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


Entry = AlterClientQuotasResponse.Entry


@handler(AlterClientQuotasRequest)
def alter(
    cluster: Cluster, call: Call, request: AlterClientQuotasRequest
) -> AlterClientQuotasResponse:
    asked: dict[QuotaEntity, list[AlterClientQuotasRequest.Entry]] = {}
    for entry in request.entries:
        asked.setdefault(entity_key(_names(entry)), []).append(entry)
    if not cluster.release.has_kraft:
        return _alter_old(cluster, asked.values(), request.validate_only)
    planned = [_planned(cluster, entries) for entries in asked.values()]
    if not request.validate_only:
        write_together(cluster, planned)
    return AlterClientQuotasResponse(entries=[answer for answer, _ in planned])


def _alter_old(
    cluster: Cluster,
    asked: Iterable[list[AlterClientQuotasRequest.Entry]],
    validate_only: bool,
) -> AlterClientQuotasResponse:
    """What a controller with ZooKeeper does: each entry by itself, its entity answered once."""
    from .users_old import quota_records_old

    has_ips = cluster.release.serves(AlterClientQuotasRequest.api_key, 1)
    answers = []
    for entries in asked:
        for entry in entries:
            answer = _answer(_names(entry))
            changes = [(op.key, None if op.remove else op.value) for op in entry.ops]
            image = cluster.metadata.image
            try:
                records = quota_records_old(image, _names(entry), changes, has_ips=has_ips)
                if not validate_only:
                    cluster.metadata.append(records)
            except Refused as refused:
                answer.error_code, answer.error_message = refused.error, refused.message
        answers.append(answer)
    return AlterClientQuotasResponse(entries=answers)


def _answer(names: Mapping[str, str | None]) -> Entry:
    return Entry(
        error_message=None,
        entity=[Entry.Entity(entity_type=kind, entity_name=name) for kind, name in names.items()],
    )


def _planned(
    cluster: Cluster, entries: list[AlterClientQuotasRequest.Entry]
) -> tuple[Entry, list[MetadataRecord]]:
    """How an entity is answered, and what is written for it."""
    entry = entries[0]
    names = _names(entry)
    records: list[MetadataRecord] = []
    answer = _answer(names)
    values = {op.key: None if op.remove else op.value for op in entry.ops}
    try:
        if len(values) < len(entry.ops):
            raise duplicate(names)
        are_bounded = cluster.release.bounds_quotas
        records = quota_records(cluster.metadata.image, names, values, are_bounded=are_bounded)
    except Refused as refused:
        answer.error_code, answer.error_message = refused.error, refused.message
    if len(entries) > 1:
        twice = duplicate(names)
        answer.error_code, answer.error_message = twice.error, twice.message
    return answer, records


def _names(entry: AlterClientQuotasRequest.Entry) -> dict[str, str | None]:
    return {part.entity_type: part.entity_name for part in entry.entity}
