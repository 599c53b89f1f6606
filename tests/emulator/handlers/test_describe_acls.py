"""DescribeAcls (semantics I9): what a broker without an authorizer says."""

from __future__ import annotations

import pytest
from odradek.wire import Error
from odradek.wire.api.describe_acls import DescribeAclsRequest

from tests.requests.acls import describe_request
from tests.support.cluster import Client
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(DescribeAclsRequest))
def test_there_is_no_authorizer(client: Client, version: int) -> None:
    answer = client.ask(describe_request(), version)
    assert (Error(answer.error_code), answer.resources) == (Error.SECURITY_DISABLED, [])
    assert answer.error_message == "No Authorizer is configured on the broker"


@pytest.mark.parametrize("request_", [describe_request(0), describe_request(operation=0)], ids=repr)
def test_what_is_not_known_at_all_closes_the_connection(
    client: Client, request_: DescribeAclsRequest
) -> None:
    client.send(request_, 3)
    assert (client.answers(), client.is_closed) == ([], True)
