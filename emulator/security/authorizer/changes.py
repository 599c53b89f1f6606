"""Rules made and removed: what CreateAcls and DeleteAcls write to the metadata log.

Rules (semantics M15; Kafka's `AclApis` and `AclControlManager`):
- Each rule of a request is judged by itself: numbers that do not exist are INVALID_REQUEST. But one
  that says what only a filter may say (ANY, MATCH) makes the whole request UNKNOWN_SERVER_ERROR.
- A rule that there is already is made again, which changes nothing.
- Each filter lists all rules that it fits, also those that another filter of the request lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ....wire import Error, Refused
from ....wire.stored.cluster import (
    MetadataRecord,
    RemoveAccessControlEntryRecord,
)
from .acl import Acl, AclFilter, check_name, check_principal
from .terms import Kind, Operation, Pattern, Permission

_MOST = 10_000
"""Records of one change (`MAX_RECORDS_PER_USER_OP`)."""


class Created(NamedTuple):
    """Why each rule was refused, None where it was not, and what is written."""

    outcomes: list[Refused | None]
    records: list[MetadataRecord]


class Deleted(NamedTuple):
    """The rules that each filter fits, or why it was refused, and what is written."""

    outcomes: list[list[Acl] | Refused]
    records: list[MetadataRecord]


def create(known: Iterable[Acl], acls: Iterable[Acl], new_id: Callable[[], bytes]) -> Created:
    """What making these rules writes."""
    acls = list(acls)
    if any(map(is_filter, acls)):
        return Created([Refused(Error.UNKNOWN_SERVER_ERROR)] * len(acls), [])
    existing = set(known)
    outcomes: list[Refused | None] = []
    records: list[MetadataRecord] = []
    for acl in acls:
        try:
            check_name(acl)
            _check_terms(acl)
            check_principal(acl)
        except Refused as refused:
            outcomes.append(refused)
            continue
        outcomes.append(None)
        if acl not in existing:
            existing.add(acl)
            records.append(acl.record(new_id()))
    return Created(outcomes, records)


def is_filter(acl: Acl) -> bool:
    """Whether it says what only a filter may say."""
    return (
        acl.kind == Kind.ANY
        or acl.pattern in (Pattern.ANY, Pattern.MATCH)
        or acl.operation == Operation.ANY
        or acl.permission == Permission.ANY
    )


def _check_terms(acl: Acl) -> None:
    """Raises Refused for what no rule can say."""
    values = (acl.kind, acl.pattern, acl.operation, acl.permission)
    for value, terms, what in zip(
        values,
        (Kind, Pattern, Operation, Permission),
        ("resourceType", "patternType", "operation", "permissionType"),
        strict=True,
    ):
        if value not in set(terms):
            raise Refused(Error.INVALID_REQUEST, f"Invalid {what} UNKNOWN")


def delete(known: dict[bytes, Acl], filters: Iterable[AclFilter]) -> Deleted:
    """What removing the rules that fit writes. Raises Refused for too many at once."""
    outcomes: list[list[Acl] | Refused] = []
    removed: dict[bytes, None] = {}
    for each in filters:
        problem = _problem(each)
        if problem is not None:
            outcomes.append(problem)
            continue
        found = {acl_id: acl for acl_id, acl in known.items() if each.fits(acl)}
        removed.update(dict.fromkeys(found))
        outcomes.append(list(found.values()))
        if len(removed) > _MOST:
            message = f"Cannot remove more than {_MOST} acls in a single delete operation."
            outcomes[-1] = Refused(Error.INVALID_REQUEST, message)
    return Deleted(outcomes, [RemoveAccessControlEntryRecord(id=acl_id) for acl_id in removed])


def _problem(given: AclFilter) -> Refused | None:
    if given.kind not in set(Kind) or given.pattern not in set(Pattern):
        return Refused(Error.INVALID_REQUEST, "Unknown patternFilter.")
    if given.operation not in set(Operation) or given.permission not in set(Permission):
        return Refused(Error.INVALID_REQUEST, "Unknown entryFilter.")
    return None
