"""Authorizer: Kafka's StandardAuthorizer. It answers whether a principal may do something.

Rules (semantics M12):
- A super user may do anything, whatever the rules say.
- Any rule that denies wins over all that allow.
- With `allow.everyone.if.no.acl.found` a resource that no rule is about is open to everybody.
- WRITE to any topic (for a producer that is idempotent): some rule allows it, and no rule denies
  all that it allows.

It follows the metadata log: a change of the rules counts from the next request on, also on
connections that are open. Left out: the audit log; the journal tells of what is denied.

AclIndex: all access rules, found by what they concern and whom, without looking at the others.

A resource's rules are those of its literal name, of the literal `*`, and of each prefix of its
name; of these only the rules for the principal and for everybody are looked at. So a decision takes
as many steps as there are different lengths of prefixes, however many rules there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import NamedTuple, TypeAlias

from ....wire import Refused
from ...base.call import Principal
from ...config.configs import BrokerConfig, ConfigError
from ...metadata.delta import MetadataDelta
from ...metadata.image import MetadataImage
from .acl import IMPLIES, WILDCARD, Acl, Kind, Operation, Pattern, Permission, parse_principal

EVERYBODY = "User:*"

_ByPrincipal: TypeAlias = dict[str, dict[Acl, None]]


class Decision(NamedTuple):
    """The decision: the rule that decides, or None, and whether any rule is about the
    resource at all."""

    is_allowed: bool
    acl: Acl | None
    has_acls: bool


class AclIndex:
    def __init__(self) -> None:
        self._patterns: dict[tuple[int, int, str], _ByPrincipal] = {}
        self._lengths: dict[int, Counter[int]] = {}
        """By kind: the lengths of prefixes, and how many patterns have each."""

    def add(self, acl: Acl) -> None:
        key = (acl.kind, acl.pattern, acl.name)
        if key not in self._patterns:
            self._patterns[key] = {}
            if acl.pattern == Pattern.PREFIXED:
                self._lengths.setdefault(acl.kind, Counter())[len(acl.name)] += 1
        self._patterns[key].setdefault(acl.principal, {})[acl] = None

    def remove(self, acl: Acl) -> None:
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
        """The decision of the rules. Any that denies wins; without one, any that allows."""
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


class Authorizer:
    """The access rules in force, and who need not heed them."""

    def __init__(self, super_users: Iterable[str] = (), *, is_open: bool = False) -> None:
        self.super_users = frozenset(super_users)
        """As `Type:name`."""
        self.is_open = is_open
        """Whether everybody may do anything to what no rule is about."""
        self._index = AclIndex()
        self._acls: dict[bytes, Acl] = {}
        self._decisions: dict[tuple[Principal, str, int, str], bool] = {}

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        if delta.acls:
            self._decisions.clear()
        for acl_id in delta.acls:
            before, record = self._acls.pop(acl_id, None), image.acls.get(acl_id)
            if before is not None:
                self._index.remove(before)
            if record is not None:
                acl = self._acls[acl_id] = Acl.of(record)
                self._index.add(acl)

    @property
    def acls(self) -> dict[bytes, Acl]:
        """All rules by id, in the order in which they were made."""
        return self._acls

    @property
    def rules(self) -> list[Acl]:
        """All rules, in the order in which they were made."""
        return list(self._acls.values())

    def may(
        self, principal: Principal, host: str, operation: Operation, kind: Kind, name: str
    ) -> bool:
        key = (principal, host, operation << 8 | kind, name)
        may = self._decisions.get(key)
        if may is None:
            if len(self._decisions) >= _DECISIONS_MAX:
                self._decisions.clear()
            may = self._decisions[key] = self._decide(principal, host, operation, kind, name)
        return may

    def _decide(
        self, principal: Principal, host: str, operation: Operation, kind: Kind, name: str
    ) -> bool:
        if self.allows_all(principal):
            return True
        decision = self._index.decide(str(principal), host, operation, kind, name)
        return decision.is_allowed or (self.is_open and not decision.has_acls)

    def allows_all(self, principal: Principal) -> bool:
        """Whether it is a super user."""
        return str(principal) in self.super_users

    def may_any(self, principal: Principal, host: str, operation: Operation, kind: Kind) -> bool:
        if self.may(principal, host, operation, kind, "hardcode"):  # as Kafka asks: a super user
            return True
        found = self._index.of_kind(kind, str(principal), host, operation)
        denied = {(a.pattern, a.name) for a in found if a.permission == Permission.DENY}
        if (Pattern.LITERAL, WILDCARD) in denied:
            return False
        return any(_is_left(acl, denied) for acl in found if acl.permission == Permission.ALLOW)

    def why_not(
        self, principal: Principal, host: str, operation: Operation, kind: Kind, name: str
    ) -> str:
        """Why a principal may not do this: the rule that denies it, or the one that comes closest
        to allowing it."""
        decision = self._index.decide(str(principal), host, operation, kind, name)
        if decision.acl is not None:
            return f"an ACL denies it: {decision.acl.sentence}"
        closest = self._closest(str(principal), operation, kind, name)
        what = "no ACL allows it"
        return what if closest is None else f"{what}; closest: {closest.sentence}"

    def _closest(self, who: str, operation: Operation, kind: Kind, name: str) -> Acl | None:
        """The rule that has most in common with what is asked for."""
        allowing = [
            acl
            for acl in self._acls.values()
            if acl.permission == Permission.ALLOW and acl.kind == kind
        ]
        here = {acl.name for acl in allowing}
        alike = get_close_matches(name, here, 1) if len(here) <= _MOST_NAMES else []

        def score(acl: Acl) -> int:
            is_about = self._is_about(acl, name)
            does = acl.operation in (operation, Operation.ALL)
            return 4 * is_about + 2 * (acl.principal == who) + does + 3 * (acl.name in alike)

        best = max(allowing, key=score, default=None)
        return best if best is not None and score(best) >= _LEAST_ALIKE else None

    def _is_about(self, acl: Acl, name: str) -> bool:
        if acl.pattern == Pattern.PREFIXED:
            return name.startswith(acl.name)
        return acl.name in (name, WILDCARD)


_DECISIONS_MAX = 10_000
_MOST_NAMES = 1000
_LEAST_ALIKE = 2


def _is_left(acl: Acl, denied: set[tuple[int, str]]) -> bool:
    """Whether something of what a rule allows is not denied."""
    if acl.pattern == Pattern.LITERAL:
        if acl.name == WILDCARD:
            return True
        if (Pattern.LITERAL, acl.name) in denied:
            return False
    return not any(
        (Pattern.PREFIXED, acl.name[:length]) in denied for length in range(1, len(acl.name) + 1)
    )


def authorizer_of(config: BrokerConfig) -> Authorizer | None:
    """The authorizer that the configs ask for, None if they ask for none. Raises ConfigError."""
    if not config.get("authorizer.class.name"):
        return None
    return Authorizer(
        super_users(config.get("super.users") or ""),
        is_open=bool(config.get("allow.everyone.if.no.acl.found")),
    )


def super_users(text: str) -> list[str]:
    """The principals of `super.users`, which semicolons separate. Raises ConfigError."""
    found = []
    for each in filter(None, map(str.strip, text.split(";"))):
        try:
            principal = parse_principal(each)
        except Refused as refused:
            raise ConfigError("super.users", f"super.users: {refused.message}") from None
        if ",User:" in each.replace(" ", ""):
            sentence = f"super.users are separated by semicolons, not commas: {each}"
            raise ConfigError("super.users", sentence)
        found.append(str(principal))
    return found
