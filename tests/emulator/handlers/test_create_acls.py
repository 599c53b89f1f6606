"""CreateAcls (semantics I9): what a broker without an authorizer says."""

from __future__ import annotations

import pytest
from odradek.wire import Error
from odradek.wire.api.create_acls import CreateAclsRequest

from tests.requests.acls import create_request
from tests.support.cluster import Client
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(CreateAclsRequest))
def test_there_is_no_authorizer(client: Client, version: int) -> None:
    results = client.ask(create_request(), version).results
    assert [(Error(each.error_code), each.error_message) for each in results] == [
        (Error.SECURITY_DISABLED, "No Authorizer is configured.")
    ] * 2


@pytest.mark.parametrize("request_", [create_request(0)], ids=repr)
def test_what_is_not_known_at_all_closes_the_connection(
    client: Client, request_: CreateAclsRequest
) -> None:
    client.send(request_, 3)
    assert (client.answers(), client.is_closed) == ([], True)
