"""Acl: one access rule, and filters that find rules.

Rules (Kafka's):
- A principal is `Type:name`; the one that clients have is `User:name`. `User:*` is everybody.
- The pattern MATCH of a filter finds all rules that concern a name: literal, by prefix, and `*`.
- In a filter a name, principal or host of None fits all, and so does ANY.

Source: KIP-11, KIP-290; Kafka 4.3.1's `AclBinding`, `AccessControlEntryFilter` and
`ResourcePatternFilter`; the text is what kafka-acls prints.
"""

from __future__ import annotations

from typing import NamedTuple

from ....wire import Error, Refused
from ....wire.stored.cluster import AccessControlEntryRecord
from ...base.client import Principal
from .terms import CLUSTER_NAME, WILDCARD, Kind, Operation, Pattern, Permission


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
        """What it concerns, as Kafka's tools print it."""
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
        """The rule that a record of the metadata log keeps."""
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
        """The record that keeps it."""
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
        """Whether it means this rule."""
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
