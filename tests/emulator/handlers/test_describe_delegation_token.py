"""DescribeDelegationToken (semantics I17): there are no tokens on a listener without security."""

from __future__ import annotations

import pytest
from odradek.wire import Error
from odradek.wire.api.describe_delegation_token import DescribeDelegationTokenRequest

from tests.support.cluster import Client
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(DescribeDelegationTokenRequest))
def test_it_is_not_allowed(client: Client, version: int) -> None:
    answer = client.ask(DescribeDelegationTokenRequest(owners=None), version)
    assert Error(answer.error_code) is Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert answer.tokens == []
