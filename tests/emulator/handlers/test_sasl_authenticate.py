"""SaslAuthenticate (semantics A10): there is no SASL on this listener."""

from __future__ import annotations

import pytest
from odradek.wire import Error
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest

from tests.support.cluster import Client
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(SaslAuthenticateRequest))
def test_it_comes_too_late(client: Client, version: int) -> None:
    answer = client.ask(SaslAuthenticateRequest(auth_bytes=b"x"), version)
    assert (Error(answer.error_code), answer.auth_bytes) == (Error.ILLEGAL_SASL_STATE, b"")
    assert answer.error_message == (
        "SaslAuthenticate request received after successful authentication"
    )
    assert not client.is_closed
