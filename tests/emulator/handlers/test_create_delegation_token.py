"""CreateDelegationToken (semantics I17): no token is made on a listener without security."""

from __future__ import annotations

import pytest
from odradek.wire.api.create_delegation_token import CreateDelegationTokenRequest

from tests.support.cluster import Client
from tests.support.versions import first_and_last


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


@pytest.mark.parametrize("version", first_and_last(CreateDelegationTokenRequest))
def test_in_every_version(client: Client, version: int) -> None:
    request = CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=1)
    answer = client.ask(request, version)
    assert (answer.error_code, answer.token_id, answer.hmac) == (64, "", b"")
