"""DeleteAcls (semantics I9): what a broker without an authorizer says."""

from __future__ import annotations

import pytest
from odradek.wire import Error
from odradek.wire.api.delete_acls import DeleteAclsRequest

from tests.requests.acls import delete_request
from tests.support.cluster import Client
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(DeleteAclsRequest))
def test_there_is_no_authorizer(client: Client, version: int) -> None:
    results = client.ask(delete_request(), version).filter_results
    assert [(Error(each.error_code), each.error_message) for each in results] == [
        (Error.SECURITY_DISABLED, "No Authorizer is configured.")
    ] * 2
    assert [each.matching_acls for each in results] == [[], []]


@pytest.mark.parametrize("request_", [delete_request(0)], ids=repr)
def test_what_is_not_known_at_all_closes_the_connection(
    client: Client, request_: DeleteAclsRequest
) -> None:
    client.send(request_, 3)
    assert (client.answers(), client.is_closed) == ([], True)
