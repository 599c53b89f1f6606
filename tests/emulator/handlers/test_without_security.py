"""Access rules, tokens, SASL: what a plain listener without an authorizer says (A10, I9, I17)."""

from __future__ import annotations

import pytest
from odradek.wire import Request
from odradek.wire.api.create_acls import CreateAclsRequest
from odradek.wire.api.create_delegation_token import CreateDelegationTokenRequest
from odradek.wire.api.delete_acls import DeleteAclsRequest
from odradek.wire.api.describe_acls import DescribeAclsRequest
from odradek.wire.api.describe_delegation_token import DescribeDelegationTokenRequest
from odradek.wire.api.expire_delegation_token import ExpireDelegationTokenRequest
from odradek.wire.api.renew_delegation_token import RenewDelegationTokenRequest
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest

from tests.support.cluster import Client


def described(kind: int = 2, operation: int = 3) -> DescribeAclsRequest:
    return DescribeAclsRequest(
        resource_type_filter=kind,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=operation,
        permission_type=3,
    )


def created(kind: int = 2) -> CreateAclsRequest:
    rule = CreateAclsRequest.Creation(
        resource_type=kind,
        resource_name="t",
        principal="User:x",
        host="*",
        operation=3,
        permission_type=3,
    )
    return CreateAclsRequest(creations=[rule, rule])


def deleted(kind: int = 2) -> DeleteAclsRequest:
    wanted = DeleteAclsRequest.Filter(
        resource_type_filter=kind,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=3,
        permission_type=3,
    )
    return DeleteAclsRequest(filters=[wanted, wanted])


def test_there_is_no_authorizer(client: Client) -> None:
    answer = client.ask(described(), 3)
    sentence = "No Authorizer is configured on the broker"
    assert (answer.error_code, answer.error_message, answer.resources) == (54, sentence, [])
    sentence = "No Authorizer is configured."
    results = [*client.ask(created(), 3).results, *client.ask(deleted(), 3).filter_results]
    assert [(each.error_code, each.error_message) for each in results] == [(54, sentence)] * 4


@pytest.mark.parametrize(
    "request_", [described(0), described(operation=0), created(0), deleted(0)], ids=repr
)
def test_what_is_not_known_at_all_closes_the_connection(client: Client, request_: Request) -> None:
    client.send(request_, 3)
    assert client.is_closed
    assert client.answers() == []


@pytest.mark.parametrize(
    ("kind", "name", "code", "principal"),
    [
        (None, None, 64, ("User", "ANONYMOUS")),
        ("Foo", "", 64, ("User", "ANONYMOUS")),
        ("Foo", "x", 64, ("Foo", "x")),
        (None, "x", -1, ("User", "ANONYMOUS")),
    ],
)
def test_no_token_is_made(
    client: Client, kind: str | None, name: str | None, code: int, principal: tuple[str, str]
) -> None:
    answer = client.ask(
        CreateDelegationTokenRequest(
            owner_principal_type=kind, owner_principal_name=name, renewers=[], max_lifetime_ms=1
        ),
        3,
    )
    assert (answer.error_code, (answer.principal_type, answer.principal_name)) == (code, principal)
    assert (answer.token_id, answer.hmac, answer.issue_timestamp_ms) == ("", b"", -1)


def test_no_token_is_renewed_ended_or_described(client: Client) -> None:
    for request, version in (
        (RenewDelegationTokenRequest(hmac=b"x", renew_period_ms=1), 2),
        (ExpireDelegationTokenRequest(hmac=b"x", expiry_time_period_ms=1), 2),
        (DescribeDelegationTokenRequest(owners=None), 3),
    ):
        assert client.ask(request, version).error_code == 64


def test_there_is_no_sasl(client: Client) -> None:
    answer = client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    assert (answer.error_code, answer.mechanisms) == (34, [])
    answer = client.ask(SaslAuthenticateRequest(auth_bytes=b"x"), 2)
    assert answer.error_code == 34
    assert answer.error_message == (
        "SaslAuthenticate request received after successful authentication"
    )
