"""RenewDelegationToken (semantics I17): there are no tokens on a listener without security."""

from __future__ import annotations

import pytest
from odradek.wire import Error
from odradek.wire.api.renew_delegation_token import RenewDelegationTokenRequest

from tests.support.cluster import Client
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(RenewDelegationTokenRequest))
def test_it_is_not_allowed(client: Client, version: int) -> None:
    answer = client.ask(RenewDelegationTokenRequest(hmac=b"x", renew_period_ms=1), version)
    assert Error(answer.error_code) is Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert answer.expiry_timestamp_ms == -1
