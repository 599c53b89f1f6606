"""Sections I10 and I11: client quotas, and SCRAM credentials of users."""

from __future__ import annotations

from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest

from ..ask import cluster as ask
from ..engine.steps import Ask, Steps
from . import case

# Quotas


@case("I11", each=AlterClientQuotasRequest)
def quotas_are_set_and_removed() -> Steps:
    both = (("user", "~u"), ("client-id", "~c"))
    look = Ask(ask.quotas())
    return [
        Ask(ask.alter_quotas(ask.quota(both, (ask.PRODUCED, 10.0), (ask.CONSUMED, 20.0)))),
        look,
        Ask(ask.alter_quotas(ask.quota(both[::-1], (ask.PRODUCED, 11.0)))),
        look,
        Ask(
            ask.alter_quotas(
                ask.quota([("user", "~u")], (ask.MUTATIONS, 0.5), (ask.PERCENTAGE, 1.5)),
                ask.quota([("client-id", "~c")], (ask.PRODUCED, 5.0)),
                ask.quota([("user", "~u"), ("client-id", None)], (ask.PERCENTAGE, 250.0)),
                ask.quota([("user", None), ("client-id", "~c")], (ask.PRODUCED, 5e9)),
                ask.quota([("ip", "10.1.2.3")], (ask.CONNECTIONS, ask.FAST)),
            )
        ),
        look,
        Ask(ask.alter_quotas(ask.quota(both, (ask.PRODUCED, 7.0)), validate_only=True)),
        Ask(ask.alter_quotas(ask.quota([("user", "")], (ask.PRODUCED, 7.0)), validate_only=True)),
        look,
        Ask(ask.alter_quotas(ask.quota(both, (ask.PRODUCED, 0.0, True)))),
        Ask(ask.alter_quotas(ask.quota(both, (ask.PRODUCED, 0.0, True), ("nonsense", 0.0, True)))),
        Ask(ask.alter_quotas(ask.quota([("user", "~nobody")], (ask.PRODUCED, -5.0, True)))),
        Ask(ask.alter_quotas(ask.quota([("user", "~nobody")]))),
        look,
        Ask(ask.alter_quotas(ask.quota(both, (ask.CONSUMED, 0.0, True)))),
        look,
    ]


@case("I11")
def quotas_that_are_refused() -> Steps:
    user = [("user", "~u")]
    entries = [
        *(ask.quota(user, op) for op in _BAD_VALUES),
        *(ask.quota(entity, (ask.PRODUCED, 9.0)) for entity in _BAD_ENTITIES),
        *(ask.quota(entity, (ask.CONNECTIONS, ask.FAST)) for entity in _BAD_ENTITIES),
        ask.quota([("ip", "10.0.0.1")], (ask.CONNECTIONS, 1.5e6 + 0.5)),
        ask.quota([("ip", "10.0.0.1")], (ask.CONNECTIONS, 3e9)),
        ask.quota(user, ("nonsense", 1.0), (ask.PRODUCED, -1.0)),
        ask.quota(user, (ask.PRODUCED, -1.0), ("nonsense", 1.0)),
        ask.quota(user, (ask.PRODUCED, 1.0), (ask.PRODUCED, 2.0)),
        ask.quota(user, (ask.PRODUCED, 1.0), (ask.PRODUCED, 2.0, True)),
    ]
    twice = ask.quota([("user", "~v"), ("client-id", None)], (ask.PRODUCED, 8.0))
    address = ask.quota([("ip", ""), ("client-id", "")], (ask.CONNECTIONS, 8.0))
    return [
        *(Ask(ask.alter_quotas(entry)) for entry in entries),
        Ask(ask.alter_quotas()),
        Ask(ask.alter_quotas(twice, twice)),
        Ask(ask.alter_quotas(address, address)),
        Ask(ask.quotas()),
        Ask(
            ask.alter_quotas(
                ask.quota(user, ("nonsense", 1.0)), ask.quota(user, (ask.CONSUMED, 3.0))
            )
        ),
        Ask(ask.alter_quotas(ask.quota(user, (ask.CONSUMED, 4.0), (ask.CONSUMED, 5.0)), twice)),
        Ask(ask.quotas()),
        Ask(ask.alter_quotas(ask.quota([]), ask.quota([]))),
        Ask(ask.alter_quotas(ask.quota(user, ("nonsense", 1.0)), twice)),
        Ask(ask.quotas()),
    ]


_BAD_VALUES = (
    ("nonsense", 1.0),
    ("nonsense", -1.0),
    (ask.CONNECTIONS, 1.0),
    *((ask.PRODUCED, value) for value in (0.0, -1.0, 1.5, 1e19, 2.0**63, 3.0000001, 3.00001)),
    *((ask.PRODUCED, value) for value in (float("inf"), float("nan"), -0.0, 1e-7, 0.9999999)),
    *((ask.PERCENTAGE, value) for value in (0.0, -1.0, 1e19, float("inf"))),
)
_BAD_ENTITIES: tuple[list[tuple[str, str | None]], ...] = (
    [],
    [("group", "x")],
    [("", "x")],
    [("User", "x")],
    [("user", "")],
    [("client-id", "")],
    [("ip", "")],
    [("ip", "1.2.3.4.5")],
    [("ip", "300.1.1.1")],
    [("ip", "no.such.invalid")],
    [("ip", "10.0.0.1"), ("user", "x")],
    [("ip", None), ("user", None)],
    [("ip", "bad one"), ("user", "")],
    [("ip", "10.0.0.1"), ("client-id", "x")],
    [("user", "x"), ("group", "y")],
    [("user", ""), ("group", "")],
    [("user", "~x"), ("user", "~y")],
    [("user", "~x"), ("user", "")],
)


@case("I11", each=DescribeClientQuotasRequest)
def quotas_are_found() -> Steps:
    made: tuple[list[tuple[str, str | None]], ...] = (
        [("user", "~u")],
        [("user", "~v")],
        [("client-id", "~u")],
        [("user", "~u"), ("client-id", "~c")],
        [("user", "~u"), ("client-id", None)],
        [("user", None), ("client-id", "~c")],
    )
    matches = [
        (kind, *how)
        for kind in ("user", "client-id", "ip")
        for how in ((0, "~u"), (0, "~c"), (1, None), (2, None))
    ]
    filters = [[each] for each in matches]
    filters += [[a, b] for a in matches[:4] for b in matches[4:8]]
    return [
        Ask(ask.alter_quotas(*(ask.quota(entity, (ask.PRODUCED, 5e8)) for entity in made))),
        Ask(ask.quotas()),
        Ask(ask.quotas(strict=True)),
        *(Ask(ask.quotas(*parts, strict=strict)) for parts in filters for strict in (False, True)),
        *(Ask(ask.quotas(*parts)) for parts in _BAD_FILTERS),
    ]


_BAD_FILTERS: tuple[list[tuple[str, int, str | None]], ...] = (
    [("group", 2, None)],
    [("", 2, None)],
    [("User", 2, None)],
    [("user", 9, None)],
    [("user", -1, None)],
    [("user", 0, None)],
    [("user", 0, "")],
    [("user", 1, "x")],
    [("user", 2, "x")],
    [("group", 9, "x")],
    [("", 9, "x")],
    [("user", 2, None), ("user", 0, "x")],
    [("user", 2, None), ("user", 9, "x")],
    [("ip", 2, None), ("user", 2, None)],
    [("ip", 2, None), ("client-id", 0, "x")],
    [("ip", 2, None), ("client-id", 0, None)],
    [("user", 9, None), ("group", 2, None)],
    [("user", 2, None), ("group", 2, None), ("user", 9, None)],
)


# SCRAM


@case("I10")
def users_are_set_and_removed() -> Steps:
    look = Ask(DescribeUserScramCredentialsRequest(users=None))
    return [
        Ask(ask.users("~u", "~v")),
        Ask(ask.alter_users(ask.set_user("~u"), ask.set_user("~v", 2, 16384))),
        look,
        Ask(ask.users()),
        Ask(ask.users("~v", "~u", "~none", "")),
        Ask(ask.users("~u", "~u", "~v", "~none", "~none")),
        Ask(ask.alter_users(ask.set_user("~u", 2, 5000))),
        Ask(ask.users("~u")),
        Ask(ask.alter_users(ask.set_user("~u", 1, 4097))),
        Ask(ask.users("~u")),
        Ask(ask.alter_users(ask.drop_user("~u", 1))),
        Ask(ask.users("~u")),
        Ask(ask.alter_users(ask.drop_user("~u", 1), ask.drop_user("~v", 2), ask.set_user("~w"))),
        look,
        Ask(ask.alter_users(ask.drop_user("~u", 2), ask.drop_user("~w"))),
        look,
        Ask(ask.alter_users()),
    ]


@case("I10")
def users_that_are_refused() -> Steps:
    user, drop = ask.set_user, ask.drop_user
    every = (
        [user("~a", iterations=4095)],
        [user("~a", iterations=16385)],
        [user("")],
        [user("~a", 0)],
        [user("~a", 3)],
        [user("~a", -1, 1)],
        [user("", 0, 1)],
        [user("~a", salt=b"")],
        [user("~a", password=b"")],
        [user("~a", password=b"y" * 100)],
        [drop("~none")],
        [drop("~none", 0)],
        [drop("")],
        [user("~a", 1), user("~a", 2)],
        [user("~a", 1), user("~a", 1), user("~a", 1)],
        [drop("~a", 1), user("~a", 2)],
        [drop("~a", 1), drop("~a", 2)],
        [drop("~none", 1), user("~none", 2)],
        [user("~b", 1, 1), user("~b", 2)],
        [user("~b", 1), user("~b", 2, 1)],
        [user("~b", 0), user("~b", 2)],
        [user("~b", 1), user("~b", 0)],
        [drop("~none", 1), drop("~none", 7)],
        [drop(""), user("")],
        [drop("~n"), drop("~o"), user("~p", 1, 1), user("~q"), user("~r", 9), user("~s")],
        [user("~b", password=b""), user("~c")],
        [user("~b", password=b""), user("~b")],
    )
    return [
        Ask(ask.alter_users(ask.set_user("~a"))),
        *(Ask(ask.alter_users(*changes)) for changes in every),
        Ask(DescribeUserScramCredentialsRequest(users=None)),
    ]
