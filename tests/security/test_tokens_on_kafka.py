"""Who may make delegation tokens for others, and see them, at a real Kafka and at an Emulator."""

from __future__ import annotations

from typing import Any

from odradek.emulator.security.authorizer.acl import Acl, Kind, Operation, Pattern, Permission
from odradek.wire import Error
from odradek.wire.api.create_delegation_token import CreateDelegationTokenRequest
from odradek.wire.api.describe_delegation_token import DescribeDelegationTokenRequest

from tests.differential.engine.asker import Asker

from .clients import ADMIN, create_request
from .secured import Secured, Started, on_both, until

USERS = ("alice", "bob", "carol", ADMIN)
CONFIGS = {"delegation.token.secret.key": "a secret"}
REFUSED = int(Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED)


@on_both(USERS, CONFIGS)
def test_who_makes_and_sees_tokens_of_others(started: Started) -> None:
    with started() as broker:
        clients = {user: broker.log_in(user) for user in USERS}
        admin, alice = clients[ADMIN], clients["alice"]
        assert made(alice, "bob")[0] == REFUSED
        assert made(admin, "bob")[:3] == (0, "bob", ADMIN)
        rules = [rule("alice", Operation.CREATE_TOKENS, Kind.USER, "User:bob")]
        allow(broker, admin, rules)
        assert made(alice, "bob")[:3] == (0, "bob", "alice")
        assert made(alice, "carol")[0] == REFUSED
        _, _, _, of_carol = made(clients["carol"], None)
        until(lambda: seen(admin) == ["bob", "bob", "carol"])
        assert seen(alice) == ["bob"]  # which alice has asked for
        assert seen(clients["bob"]) == ["bob", "bob"]
        rules.append(rule("alice", Operation.DESCRIBE_TOKENS, Kind.USER, "User:bob"))
        allow(broker, admin, rules)
        assert seen(alice) == ["bob", "bob"]
        rules.append(rule("alice", Operation.DESCRIBE, Kind.DELEGATION_TOKEN, of_carol))
        allow(broker, admin, rules)
        assert seen(alice) == ["bob", "bob", "carol"]
        for client in clients.values():
            client.close()


def rule(user: str, operation: Operation, kind: Kind, name: str) -> Acl:
    return Acl(kind, name, Pattern.LITERAL, f"User:{user}", "*", operation, Permission.ALLOW)


def allow(broker: Secured, admin: Asker, rules: list[Acl]) -> None:
    answer = admin.ask(create_request(rules[-1]), 3)
    assert [each.error_code for each in answer.results] == [0]
    broker.wait_for_acls(len(rules))


def made(client: Asker, owner: str | None) -> tuple[int, str, str, str]:
    """Error, owner, who has asked, and the token's id."""
    request = CreateDelegationTokenRequest(
        owner_principal_type=None if owner is None else "User",
        owner_principal_name=owner,
        renewers=[],
        max_lifetime_ms=-1,
    )
    answer: Any = client.ask(request, 3)
    names = answer.principal_name, answer.token_requester_principal_name
    return answer.error_code, *names, answer.token_id


def seen(client: Asker) -> list[str]:
    answer: Any = client.ask(DescribeDelegationTokenRequest(owners=None), 3)
    assert answer.error_code == 0
    return sorted(each.principal_name for each in answer.tokens)
