"""SaslHandshake (semantics A10): there is no SASL on this listener."""

from __future__ import annotations

import pytest
from odradek.wire import Error
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest

from tests.support.cluster import Client
from tests.support.versions import first_and_last


@pytest.mark.parametrize("mechanism", ["PLAIN", "nonsense"])
@pytest.mark.parametrize("version", first_and_last(SaslHandshakeRequest))
def test_no_mechanism_is_offered(client: Client, version: int, mechanism: str) -> None:
    answer = client.ask(SaslHandshakeRequest(mechanism=mechanism), version)
    assert (Error(answer.error_code), answer.mechanisms) == (Error.ILLEGAL_SASL_STATE, [])
    assert not client.is_closed
