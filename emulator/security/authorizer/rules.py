"""AclIndex: all access rules, found by what they concern and whom, without looking at the others.

A resource's rules are those of its literal name, of the literal `*`, and of each prefix of its
name; of these only the rules for the principal and for everybody are looked at. So a decision takes
as many steps as there are different lengths of prefixes, however many rules there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from .acl import Acl
from .terms import IMPLIES, WILDCARD, Operation, Pattern, Permission

EVERYBODY = "User:*"

_ByPrincipal: TypeAlias = dict[str, dict[Acl, None]]


class Decision(NamedTuple):
    """What the rules say: the rule that decides, or None, and whether any rule is about the
    resource at all."""

    is_allowed: bool
    acl: Acl | None
    has_acls: bool


class AclIndex:
    """Access rules, by what they concern."""

    def __init__(self) -> None:
        self._patterns: dict[tuple[int, int, str], _ByPrincipal] = {}
        self._lengths: dict[int, Counter[int]] = {}
        """By kind: the lengths of prefixes, and how many patterns have each."""

    def add(self, acl: Acl) -> None:
        """One more rule."""
        key = (acl.kind, acl.pattern, acl.name)
        if key not in self._patterns:
            self._patterns[key] = {}
            if acl.pattern == Pattern.PREFIXED:
                self._lengths.setdefault(acl.kind, Counter())[len(acl.name)] += 1
        self._patterns[key].setdefault(acl.principal, {})[acl] = None

    def remove(self, acl: Acl) -> None:
        """One rule less."""
        key = (acl.kind, acl.pattern, acl.name)
        whose = self._patterns[key]
        del whose[acl.principal][acl]
        if not whose[acl.principal]:
            del whose[acl.principal]
        if not whose:
            del self._patterns[key]
            if acl.pattern == Pattern.PREFIXED:
                lengths = self._lengths[acl.kind]
                lengths[len(acl.name)] -= 1
                if not lengths[len(acl.name)]:
                    del lengths[len(acl.name)]

    def about(self, kind: int, name: str) -> Iterator[_ByPrincipal]:
        """The rules about a resource, by principal: those of each pattern that fits its name."""
        find = self._patterns.get
        for found in (find((kind, Pattern.LITERAL, name)), find((kind, Pattern.LITERAL, WILDCARD))):
            if found is not None:
                yield found
        for length in self._lengths.get(kind, ()):
            if length <= len(name):
                found = find((kind, Pattern.PREFIXED, name[:length]))
                if found is not None:
                    yield found

    def decide(self, principal: str, host: str, operation: int, kind: int, name: str) -> Decision:
        """What the rules say. Any that denies wins; without one, any that allows."""
        allowed: Acl | None = None
        has_acls = False
        for whose in self.about(kind, name):
            has_acls = True
            for each in (principal, EVERYBODY):
                for acl in whose.get(each, ()):
                    if not _concerns(acl, host, operation):
                        continue
                    if acl.permission == Permission.DENY:
                        return Decision(False, acl, True)
                    allowed = acl
        return Decision(allowed is not None, allowed, has_acls)

    def of_kind(self, kind: int, principal: str, host: str, operation: int) -> list[Acl]:
        """The rules for a principal about any resource of a kind, that name just this operation."""
        return [
            acl
            for (of, _, _), whose in self._patterns.items()
            if of == kind
            for each in (principal, EVERYBODY)
            for acl in whose.get(each, ())
            if acl.host in (host, WILDCARD) and acl.operation in (operation, Operation.ALL)
        ]


def _concerns(acl: Acl, host: str, operation: int) -> bool:
    if acl.host not in (host, WILDCARD):
        return False
    if acl.operation in (operation, Operation.ALL):
        return True
    if acl.permission != Permission.ALLOW:
        return False
    return acl.operation in IMPLIES.get(operation, ())  # type: ignore[call-overload]
