"""Acl: one access rule, and filters that find rules.

Rules (Kafka's):
- A principal is `Type:name`; the one that clients have is `User:name`. `User:*` is everybody.
- The pattern MATCH of a filter finds all rules that concern a name: literal, by prefix, and `*`.
- In a filter a name, principal or host of None fits all, and so does ANY.

Source: KIP-11, KIP-290; Kafka 4.3.1's `AclBinding`, `AccessControlEntryFilter` and
`ResourcePatternFilter`; the text is what kafka-acls prints.

What access rules speak of: operations, kinds of resources, patterns of names, permissions.

The numbers are those of the protocol, the names those of Kafka's tools. Source: KIP-11, KIP-290,
KIP-373, KIP-939; Kafka's `AclOperation`, `ResourceType`, `PatternType`, `AclPermissionType`.

Rules made and removed: what CreateAcls and DeleteAcls write to the metadata log.

Rules (semantics M15; Kafka's `AclApis` and `AclControlManager`):
- Each rule of a request is judged by itself: numbers that do not exist are INVALID_REQUEST. But one
  that says what only a filter may say (ANY, MATCH) makes the whole request UNKNOWN_SERVER_ERROR.
- A rule that there is already is made again, which changes nothing.
- Each filter lists all rules that it fits, also those that another filter of the request lists.

AclList: rules as a list, which prints as kafka-acls prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import NamedTuple

from ....wire import Error, Refused
from ....wire.stored.cluster import (
    AccessControlEntryRecord,
    MetadataRecord,
    RemoveAccessControlEntryRecord,
)
from ...base.call import Principal


class Operation(IntEnum):
    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Kind(IntEnum):
    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class Pattern(IntEnum):
    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Permission(IntEnum):
    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


WILDCARD = "*"
"""As a literal name every resource, as a host every address, as the name of a user everybody."""
CLUSTER_NAME = "kafka-cluster"
"""The name of the one resource of the kind CLUSTER."""

_O = Operation
OPERATIONS = {
    Kind.TOPIC: (
        *(_O.READ, _O.WRITE, _O.CREATE, _O.DELETE, _O.ALTER, _O.DESCRIBE),
        *(_O.DESCRIBE_CONFIGS, _O.ALTER_CONFIGS),
    ),
    Kind.GROUP: (_O.READ, _O.DELETE, _O.DESCRIBE, _O.DESCRIBE_CONFIGS, _O.ALTER_CONFIGS),
    Kind.CLUSTER: (
        *(_O.CREATE, _O.ALTER, _O.DESCRIBE, _O.CLUSTER_ACTION),
        *(_O.DESCRIBE_CONFIGS, _O.ALTER_CONFIGS, _O.IDEMPOTENT_WRITE),
    ),
    Kind.TRANSACTIONAL_ID: (_O.WRITE, _O.DESCRIBE, _O.TWO_PHASE_COMMIT),
    Kind.DELEGATION_TOKEN: (_O.DESCRIBE,),
    Kind.USER: (_O.CREATE_TOKENS, _O.DESCRIBE_TOKENS),
}
"""Which operations a kind of resource has."""
IMPLIES = {
    Operation.DESCRIBE: frozenset({_O.READ, _O.WRITE, _O.DELETE, _O.ALTER}),
    Operation.DESCRIBE_CONFIGS: frozenset({_O.ALTER_CONFIGS}),
}
"""Operations that are allowed where any of these is. What is denied implies nothing."""


class Acl(NamedTuple):
    """One access rule. `str` is what kafka-acls prints of its entry."""

    kind: int
    name: str
    pattern: int
    principal: str
    host: str
    operation: int
    permission: int

    def __str__(self) -> str:
        return (
            f"(principal={self.principal}, host={self.host}, "
            f"operation={_word(Operation, self.operation)}, "
            f"permissionType={_word(Permission, self.permission)})"
        )

    @property
    def resource(self) -> str:
        """The resource, as Kafka's tools print it."""
        return (
            f"ResourcePattern(resourceType={_word(Kind, self.kind)}, name={self.name}, "
            f"patternType={_word(Pattern, self.pattern)})"
        )

    @property
    def sentence(self) -> str:
        """The same in words: "User:alice may READ topics with the prefix ord"."""
        verb = "may" if self.permission == Permission.ALLOW else "may not"
        what = _word(Operation, self.operation)
        if self.operation == Operation.ALL:
            what = "do anything to"
        where = "" if self.host == WILDCARD else f" from {self.host}"
        return f"{self.principal} {verb} {what} {self._named()}{where}"

    def _named(self) -> str:
        if self.kind == Kind.CLUSTER:
            return "the cluster"
        kind = _word(Kind, self.kind).lower().replace("_", " ")
        if self.pattern == Pattern.PREFIXED:
            return f"{kind}s with the prefix {self.name}"
        return f"all {kind}s" if self.name == WILDCARD else f"{kind} {self.name}"

    @classmethod
    def of(cls, record: AccessControlEntryRecord) -> Acl:
        return cls(
            record.resource_type,
            record.resource_name,
            record.pattern_type,
            record.principal,
            record.host,
            record.operation,
            record.permission_type,
        )

    def record(self, acl_id: bytes) -> AccessControlEntryRecord:
        return AccessControlEntryRecord(
            id=acl_id,
            resource_type=self.kind,
            resource_name=self.name,
            pattern_type=self.pattern,
            principal=self.principal,
            host=self.host,
            operation=self.operation,
            permission_type=self.permission,
        )


class AclFilter(NamedTuple):
    """Which rules are meant; None and ANY fit all."""

    kind: int = Kind.ANY
    name: str | None = None
    pattern: int = Pattern.ANY
    principal: str | None = None
    host: str | None = None
    operation: int = Operation.ANY
    permission: int = Permission.ANY

    def fits(self, acl: Acl) -> bool:
        return (
            self.kind in (Kind.ANY, acl.kind)
            and self._fits_name(acl)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
        )

    def _fits_name(self, acl: Acl) -> bool:
        if self.pattern not in (Pattern.ANY, Pattern.MATCH, acl.pattern):
            return False
        if self.name is None or self.name == acl.name:
            return True
        if self.pattern != Pattern.MATCH:
            return False
        if acl.pattern == Pattern.PREFIXED:
            return self.name.startswith(acl.name)
        return acl.name == WILDCARD


def check_name(acl: Acl) -> None:
    """Raises Refused (INVALID_REQUEST) for a resource that cannot be."""
    if acl.kind == Kind.CLUSTER and acl.name != CLUSTER_NAME:
        message = f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
        raise Refused(Error.INVALID_REQUEST, message)
    if not acl.name:
        raise Refused(Error.INVALID_REQUEST, "Invalid empty resource name")


def check_principal(acl: Acl) -> None:
    """Raises Refused (INVALID_REQUEST) for a principal that cannot be."""
    if ":" not in acl.principal:
        message = (
            f"Could not parse principal from `{acl.principal}` (no colon is present separating the "
            "principal type from the principal name)"
        )
        raise Refused(Error.INVALID_REQUEST, message)


def parse_principal(text: str) -> Principal:
    """A principal from `Type:name`. Raises Refused (INVALID_REQUEST)."""
    kind, _, name = text.partition(":")
    if not kind or not name:
        message = f"expected a string in format principalType:principalName but got {text}"
        raise Refused(Error.INVALID_REQUEST, message)
    return Principal(kind, name)


def _word(terms: type[Operation | Kind | Pattern | Permission], value: int) -> str:
    """The name of a term, UNKNOWN for one that there is not."""
    return terms(value).name if value in set(terms) else "UNKNOWN"


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
    """The records that make these rules."""
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
    """The records that remove the rules that fit. Raises Refused for too many at once."""
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


class AclList(list[Acl]):
    def __str__(self) -> str:
        lines = []
        for resource in dict.fromkeys(acl.resource for acl in self):
            lines.append(f"Current ACLs for resource `{resource}`:")
            lines += [f"\t{acl}" for acl in self if acl.resource == resource]
        return "\n".join(lines)
