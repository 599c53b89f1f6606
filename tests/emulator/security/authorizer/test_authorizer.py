"""What rules allow (semantics M12), and why something is not allowed."""

from __future__ import annotations

from random import Random

import pytest
from odradek.emulator.base.call import Principal
from odradek.emulator.config.broker_rules import STANDARD_AUTHORIZER
from odradek.emulator.config.configs import BrokerConfig, ConfigError
from odradek.emulator.metadata.delta import MetadataDelta
from odradek.emulator.metadata.image import MetadataImage
from odradek.emulator.security.authorizer.acl import (
    IMPLIES,
    OPERATIONS,
    Acl,
    Kind,
    Operation,
    Pattern,
    Permission,
)
from odradek.emulator.security.authorizer.authorizer import (
    Authorizer,
    authorizer_of,
    super_users,
)
from odradek.wire.stored.cluster import RemoveAccessControlEntryRecord

ALICE = Principal("User", "alice")
HERE = "127.0.0.1"
T, G = Kind.TOPIC, Kind.GROUP


def rule(
    operation: Operation,
    name: str = "t",
    *,
    user: str = "User:alice",
    pattern: Pattern = Pattern.LITERAL,
    host: str = "*",
    permission: Permission = Permission.ALLOW,
    kind: Kind = T,
) -> Acl:
    return Acl(kind, name, pattern, user, host, operation, permission)


def denial(operation: Operation, name: str = "t", **more: object) -> Acl:
    return rule(operation, name, permission=Permission.DENY, **more)  # type: ignore[arg-type]


def having(*acls: Acl, users: tuple[str, ...] = (), is_open: bool = False) -> Authorizer:
    authorizer, image = Authorizer(users, is_open=is_open), MetadataImage()
    for number, acl in enumerate(acls):
        image.replay(acl.record(number.to_bytes(16, "big")))
    authorizer(MetadataDelta.of_all(image), image)
    return authorizer


def may(authorizer: Authorizer, operation: Operation, name: str = "t", host: str = HERE) -> bool:
    return authorizer.may(ALICE, host, operation, T, name)


def test_without_rules_nobody_may_do_anything() -> None:
    assert not may(having(), Operation.READ)


@pytest.mark.parametrize("operation", OPERATIONS[T])
def test_an_operation_allows_itself_and_what_it_implies(operation: Operation) -> None:
    authorizer = having(rule(operation))
    allowed = {each for each in OPERATIONS[T] if may(authorizer, each)}
    implied = {each for each, by in IMPLIES.items() if operation in by}
    assert allowed == {operation} | implied


@pytest.mark.parametrize("operation", OPERATIONS[T])
def test_a_denial_implies_nothing(operation: Operation) -> None:
    authorizer = having(rule(Operation.ALL), denial(operation))
    assert {each for each in OPERATIONS[T] if not may(authorizer, each)} == {operation}


def test_names_are_literal_prefixes_or_all() -> None:
    for acl, names in (
        (rule(Operation.READ, "ord"), {"ord"}),
        (rule(Operation.READ, "ord", pattern=Pattern.PREFIXED), {"ord", "orders"}),
        (rule(Operation.READ, "*"), {"or", "ord", "orders", "*"}),
        (rule(Operation.READ, "*", pattern=Pattern.PREFIXED), {"*"}),
    ):
        asked = ("or", "ord", "orders", "*")
        assert {name for name in asked if may(having(acl), Operation.READ, name)} == names


def test_everybody_is_a_user_and_hosts_are_exact() -> None:
    assert may(having(rule(Operation.READ, user="User:*")), Operation.READ)
    assert not may(having(rule(Operation.READ, user="Group:*")), Operation.READ)
    authorizer = having(rule(Operation.READ, host="10.0.0.1"))
    assert may(authorizer, Operation.READ, host="10.0.0.1")
    assert not may(authorizer, Operation.READ, host="10.0.0.11")


def test_a_denial_wins_wherever_it_is() -> None:
    allowed = rule(Operation.READ)
    for acl in (
        denial(Operation.READ),
        denial(Operation.ALL, "*", user="User:*"),
        denial(Operation.READ, "", pattern=Pattern.PREFIXED)._replace(name="t"),
    ):
        assert not may(having(allowed, acl), Operation.READ)
        assert not may(having(acl, allowed), Operation.READ)


def test_a_super_user_passes_a_denial() -> None:
    authorizer = having(denial(Operation.ALL), users=("User:alice",))
    assert may(authorizer, Operation.READ)


def test_what_no_rule_is_about_may_be_open() -> None:
    authorizer = having(rule(Operation.READ, "t", user="User:bob"), is_open=True)
    assert not may(authorizer, Operation.READ, "t")
    assert may(authorizer, Operation.READ, "other")


def test_rules_come_and_go_with_the_metadata() -> None:
    authorizer, image = Authorizer(), MetadataImage()
    acls = [rule(Operation.READ, "t", pattern=Pattern.PREFIXED), rule(Operation.WRITE, "t")]
    for number, acl in enumerate(acls):
        delta = MetadataDelta()
        image.replay(acl.record(bytes([number] * 16)), delta)
        authorizer(delta, image)
    assert may(authorizer, Operation.READ, "topic")
    for number in range(2):
        delta = MetadataDelta()
        image.replay(RemoveAccessControlEntryRecord(id=bytes([number] * 16)), delta)
        authorizer(delta, image)
    assert not may(authorizer, Operation.READ, "topic")
    assert authorizer.rules == []


def test_an_idempotent_producer_needs_any_topic() -> None:
    def any_topic(*acls: Acl) -> bool:
        return having(*acls).may_any(ALICE, HERE, Operation.WRITE, T)

    allowed = rule(Operation.WRITE, "orders")
    prefix = rule(Operation.WRITE, "ord", pattern=Pattern.PREFIXED)
    assert not any_topic()
    assert not any_topic(rule(Operation.READ, "orders"))
    assert any_topic(allowed)
    assert any_topic(prefix, denial(Operation.WRITE, "orders"))
    assert not any_topic(allowed, denial(Operation.WRITE, "orders"))
    assert not any_topic(allowed, denial(Operation.ALL, "o", pattern=Pattern.PREFIXED))
    assert not any_topic(allowed, denial(Operation.WRITE, "*"))
    assert any_topic(rule(Operation.WRITE, "*"), denial(Operation.WRITE, "orders"))
    assert not any_topic(rule(Operation.WRITE, "orders", host="10.0.0.1"))


def test_many_rules_say_the_same_as_each_looked_at() -> None:
    """Against the rules of M12, applied to every rule there is."""
    random = Random(5)
    names = ("t", "to", "top", "x", "*")
    operations = (Operation.ALL, *OPERATIONS[T])
    for _ in range(200):
        acls = {
            rule(
                random.choice(operations),
                random.choice(names),
                user=random.choice(("User:alice", "User:bob", "User:*")),
                pattern=random.choice((Pattern.LITERAL, Pattern.PREFIXED)),
                host=random.choice(("*", HERE, "10.0.0.1")),
                permission=random.choice((Permission.ALLOW, Permission.ALLOW, Permission.DENY)),
            )
            for _ in range(random.randrange(8))
        }
        authorizer = having(*acls)
        for name in names:
            for operation in OPERATIONS[T]:
                expected = _by_hand(acls, operation, name)
                assert may(authorizer, operation, name) == expected, (acls, operation, name)


def _by_hand(acls: set[Acl], operation: Operation, name: str) -> bool:
    found = set()
    for acl in acls:
        is_literal = acl.pattern == Pattern.LITERAL
        fits = acl.name in (name, "*") if is_literal else name.startswith(acl.name)
        if not fits or acl.principal == "User:bob" or acl.host == "10.0.0.1":
            continue
        is_meant = acl.operation in (operation, Operation.ALL)
        if acl.permission == Permission.ALLOW and acl.operation in IMPLIES.get(operation, ()):
            is_meant = True
        if is_meant:
            found.add(acl.permission)
    return found == {Permission.ALLOW}


def test_why_not() -> None:
    def why(*acls: Acl, name: str = "orders") -> str:
        return having(*acls).why_not(ALICE, HERE, Operation.READ, T, name)

    assert why() == "no ACL allows it"
    assert why(rule(Operation.READ, "elsewhere", user="User:bob")) == "no ACL allows it"
    assert why(denial(Operation.READ, "orders")) == (
        "an ACL denies it: User:alice may not READ topic orders"
    )
    for acl, closest in (
        (rule(Operation.WRITE, "orders"), "User:alice may WRITE topic orders"),
        (rule(Operation.READ, "order"), "User:alice may READ topic order"),
        (
            rule(Operation.ALL, "orders", host="10.0.0.1"),
            "User:alice may do anything to topic orders from 10.0.0.1",
        ),
        (
            rule(Operation.READ, "pay.", pattern=Pattern.PREFIXED),
            "User:alice may READ topics with the prefix pay.",
        ),
    ):
        assert why(acl) == f"no ACL allows it; closest: {closest}"


def test_super_users_are_separated_by_semicolons() -> None:
    assert super_users(" User:a; User:CN=b,O=c ;") == ["User:a", "User:CN=b,O=c"]
    for text, why in (
        ("alice", "expected a string in format principalType:principalName but got alice"),
        ("User:a,User:b", "separated by semicolons, not commas"),
    ):
        with pytest.raises(ConfigError, match=why):
            super_users(text)


def test_the_config_names_the_one_class_there_is() -> None:
    assert authorizer_of(BrokerConfig()) is None
    given = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:a"}
    found = authorizer_of(BrokerConfig(given))
    assert found is not None
    assert found.super_users == {"User:a"}
    with pytest.raises(
        ConfigError, match=r"authorizer\.class\.name is org\.apache\.kafka.*or empty"
    ):
        BrokerConfig({"authorizer.class.name": "com.example.Mine"})
