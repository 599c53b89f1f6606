"""Access rules of a test: who may do what, as sentences."""

from __future__ import annotations

import ipaddress
import uuid
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TypeAlias

from ...wire import Refused
from ..base.client import Principal
from ..cluster import Cluster
from ..metadata.topic_rules import name_problem
from ..security.authorizer.acl import Acl, AclFilter, parse_principal
from ..security.authorizer.changes import create, delete
from ..security.authorizer.listing import AclList
from ..security.authorizer.terms import (
    CLUSTER_NAME,
    OPERATIONS,
    WILDCARD,
    Kind,
    Operation,
    Pattern,
    Permission,
)
from .facet import Facet

Words: TypeAlias = str | Sequence[str]

_NO_AUTHORIZER = (
    "this broker has no authorizer, so everybody may do everything: "
    'write Emulator(acls=True), or set "authorizer.class.name" in its config'
)
_HABITS = {
    "PRODUCE": "WRITE",
    "PUBLISH": "WRITE",
    "SEND": "WRITE",
    "CONSUME": "READ",
    "SUBSCRIBE": "READ",
    "FETCH": "READ",
    "*": "ALL",
    "ADMIN": "ALL",
}
"""What is written for an operation elsewhere."""


class Access(Facet):
    """Access rules (ACLs). What the test does itself is not subject to them."""

    def allow(
        self,
        principal: str | Principal,
        operation: Words,
        *,
        topic: Words = (),
        topic_prefix: Words = (),
        group: Words = (),
        group_prefix: Words = (),
        transactional_id: Words = (),
        transactional_id_prefix: Words = (),
        cluster: bool = False,
        host: str = WILDCARD,
    ) -> AclList:
        """Let somebody do something; returns the rules that say so.

            kafka.allow("alice", "READ", topic="orders", group="billing")

        principal         "alice" or "User:alice"; "*" is everybody
        operation         as kafka-acls has it, in any case, or several: "READ", ["WRITE", "CREATE"]
        topic, group, transactional_id
                          a name, or several; "*" is all of them
        topic_prefix, group_prefix, transactional_id_prefix
                          all whose names begin so
        cluster           the cluster as a whole
        host              an IP address of the client; "*" is any

        It counts from the next request on, also on connections that are open. Raises ValueError for
        an operation that a resource does not have, for no resource, and for a topic or host that
        cannot be, so that the rule would never count; TypeError, RuntimeError without an
        authorizer.
        """
        kinds = _resources(
            topic=topic,
            topic_prefix=topic_prefix,
            group=group,
            group_prefix=group_prefix,
            transactional_id=transactional_id,
            transactional_id_prefix=transactional_id_prefix,
            cluster=cluster,
        )
        return self._add(Permission.ALLOW, principal, operation, kinds, host)

    def deny(
        self,
        principal: str | Principal,
        operation: Words,
        *,
        topic: Words = (),
        topic_prefix: Words = (),
        group: Words = (),
        group_prefix: Words = (),
        transactional_id: Words = (),
        transactional_id_prefix: Words = (),
        cluster: bool = False,
        host: str = WILDCARD,
    ) -> AclList:
        """Forbid somebody something, whatever other rules allow; as `allow`. To deny READ does not
        deny DESCRIBE: a denial implies nothing."""
        kinds = _resources(
            topic=topic,
            topic_prefix=topic_prefix,
            group=group,
            group_prefix=group_prefix,
            transactional_id=transactional_id,
            transactional_id_prefix=transactional_id_prefix,
            cluster=cluster,
        )
        return self._add(Permission.DENY, principal, operation, kinds, host)

    def acls(
        self,
        principal: str | Principal | None = None,
        *,
        topic: str | None = None,
        group: str | None = None,
        transactional_id: str | None = None,
        cluster: bool = False,
    ) -> AclList:
        """The rules there are; of one principal, or about one resource, by prefix and "*" too.
        `print` shows them as kafka-acls does. Raises RuntimeError without an authorizer."""
        return self._asked(_filters(principal, topic, group, transactional_id, cluster=cluster))

    def remove_acl(
        self,
        rules: Acl | Sequence[Acl] | None = None,
        *,
        principal: str | Principal | None = None,
        topic: str | None = None,
        group: str | None = None,
        transactional_id: str | None = None,
        cluster: bool = False,
    ) -> AclList:
        """Remove rules: these (what `allow`, `deny` and `acls` return), or those that are found as
        by `acls`. Returns what was removed. Raises ValueError if there is no such rule, or none is
        meant; RuntimeError without an authorizer."""
        if rules is not None:
            given = [rules] if isinstance(rules, Acl) else list(rules)
            filters = [AclFilter(*acl) for acl in given]
        else:
            filters = _filters(principal, topic, group, transactional_id, cluster=cluster)
            if filters == [AclFilter()]:
                raise ValueError(
                    "remove_acl takes rules, or a principal or resource whose rules to remove; "
                    "all of them are kafka.remove_acl(kafka.acls())"
                )

        def done(found: Cluster) -> AclList:
            authorizer = found.authorizer
            assert authorizer is not None
            deleted = delete(authorizer.acls, filters)
            removed = dict.fromkeys(acl for some in deleted.outcomes for acl in _rules(some))
            if not removed and filters:
                raise ValueError(f"there is no such rule; there are:\n{AclList(authorizer.rules)}")
            found.metadata.append(deleted.records)
            return AclList(removed)

        return self._with_authorizer(done)

    def _asked(self, filters: list[AclFilter]) -> AclList:
        def found(cluster: Cluster) -> AclList:
            assert cluster.authorizer is not None
            rules = cluster.authorizer.rules
            return AclList(acl for acl in rules if any(each.fits(acl) for each in filters))

        return self._with_authorizer(found)

    def _add(
        self,
        permission: Permission,
        principal: str | Principal,
        operation: Words,
        kinds: list[tuple[Kind, Pattern, str]],
        host: str,
    ) -> AclList:
        who = _principal(principal)
        operations = [_operation(each) for each in _several("operation", operation)]
        _check_host(host)
        if not kinds:
            raise ValueError(
                "say what it is about: topic=, topic_prefix=, group=, group_prefix=, "
                "transactional_id=, transactional_id_prefix= or cluster=True"
            )
        acls = [
            Acl(kind, name, pattern, who, host, each, permission)
            for kind, pattern, name in kinds
            for each in operations
        ]
        for acl in acls:
            _check_has(Kind(acl.kind), Operation(acl.operation))

        def done(cluster: Cluster) -> AclList:
            assert cluster.authorizer is not None
            known = cluster.authorizer.rules
            created = create(known, acls, lambda: uuid.uuid4().bytes)
            for refused in filter(None, created.outcomes):
                raise refused
            cluster.metadata.append(created.records)
            return AclList(acls)

        return self._with_authorizer(done)

    def _with_authorizer(self, action: Callable[[Cluster], AclList]) -> AclList:
        def done(cluster: Cluster) -> AclList:
            if cluster.authorizer is None:
                raise RuntimeError(_NO_AUTHORIZER)
            return action(cluster)

        return self.run(done)


def _rules(outcome: list[Acl] | Refused) -> list[Acl]:
    if isinstance(outcome, Refused):
        raise outcome
    return outcome


def _principal(given: str | Principal) -> str:
    if isinstance(given, Principal):
        return str(given)
    if not isinstance(given, str):
        raise TypeError(f'principal is a str, "alice" or "User:alice", not {given!r}')
    if not given.strip():
        raise ValueError('principal is a name, or "*" for everybody, not an empty text')
    return str(parse_principal(given)) if ":" in given else f"User:{given}"


def _several(name: str, given: Words) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list | tuple | set | frozenset) or not all(
        isinstance(each, str) for each in texts
    ):
        raise TypeError(f"{name} is a str, or several of them, not {given!r}")
    if any(not each for each in texts):
        raise ValueError(f'{name} is a name, or "*" for all of them, not an empty text')
    return list(texts)


def _operation(given: str) -> Operation:
    """Of an operation's name, in any usual way of writing it."""
    word = "".join(f"_{c}" if c.isupper() and i and given[i - 1].islower() else c
                   for i, c in enumerate(given)).upper()  # fmt: skip
    word = word.replace("-", "_").replace(" ", "_")
    names = [each.name for each in Operation if each > Operation.ANY]
    if word not in names:
        near = [_HABITS[word]] if word in _HABITS else get_close_matches(word, names, 2)
        hint = f"; do you mean {' or '.join(near)}?" if near else f"; there are {', '.join(names)}"
        raise ValueError(f"there is no operation {given!r}{hint}")
    return Operation[word]


def _check_has(kind: Kind, operation: Operation) -> None:
    """Raises ValueError for an operation that has no effect on what it is allowed for."""
    if operation not in (Operation.ALL, *OPERATIONS[kind]):
        word = kind.name.lower().replace("_", " ")
        names = ", ".join(each.name for each in OPERATIONS[kind])
        raise ValueError(f"a {word} has no operation {operation.name}; it has {names}, ALL")


def _check_host(host: str) -> None:
    """Raises TypeError, ValueError for what is no client's address."""
    if not isinstance(host, str) or not host:
        raise TypeError(f'host is an IP address, or "*" for any, not {host!r}')
    if host == WILDCARD:
        return
    try:
        ipaddress.ip_address(host)
    except ValueError:
        why = "names and networks are not looked up, as in Kafka"
        raise ValueError(f'host is an IP address, or "*" for any, not {host!r}: {why}') from None


def _check_topic(argument: str, name: str) -> None:
    """Raises ValueError for what no topic is called, so that the rule would never count."""
    is_prefix = argument != "topic"
    if name_problem(name + "x" * is_prefix) is None or (name == WILDCARD and not is_prefix):
        return
    start = name.removesuffix(WILDCARD)
    hint = f"; do you mean topic_prefix={start!r}?" if name_problem(start) is None else ""
    if name == WILDCARD:
        hint = '; all topics are topic="*"'
    raise ValueError(f"{argument}: no topic can be called {name!r}{hint}")


def _resources(*, cluster: bool, **given: Words) -> list[tuple[Kind, Pattern, str]]:
    found = []
    for argument, words in given.items():
        kind = Kind[argument.removesuffix("_prefix").upper()]
        pattern = Pattern.PREFIXED if argument.endswith("_prefix") else Pattern.LITERAL
        for name in _several(argument, words):
            if kind == Kind.TOPIC:
                _check_topic(argument, name)
            found.append((kind, pattern, name))
    if not isinstance(cluster, bool):
        raise TypeError(f"cluster is True or False, not {cluster!r}")
    if cluster:
        found.append((Kind.CLUSTER, Pattern.LITERAL, CLUSTER_NAME))
    return found


def _filters(
    principal: str | Principal | None,
    topic: str | None,
    group: str | None,
    transactional_id: str | None,
    *,
    cluster: bool,
) -> list[AclFilter]:
    who = None if principal is None else _principal(principal)
    given = {Kind.TOPIC: topic, Kind.GROUP: group, Kind.TRANSACTIONAL_ID: transactional_id}
    filters = []
    for kind, name in given.items():
        if name is not None:
            _several(kind.name.lower(), name)
            filters.append(AclFilter(kind, name, Pattern.MATCH, who))
    if cluster:
        filters.append(AclFilter(Kind.CLUSTER, CLUSTER_NAME, Pattern.ANY, who))
    return filters or [AclFilter(principal=who)]
