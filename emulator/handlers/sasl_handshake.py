"""SaslHandshake (17): there is no SASL on this listener, which is said at once (semantics A10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ..base.call import Call
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(SaslHandshakeRequest)
def sasl_handshake(
    cluster: Cluster, call: Call, request: SaslHandshakeRequest
) -> SaslHandshakeResponse:
    hides = cluster.release.hides_mechanisms
    mechanisms = [] if hides else list(cluster.config.get("sasl.enabled.mechanisms"))
    return SaslHandshakeResponse(error_code=Error.ILLEGAL_SASL_STATE, mechanisms=mechanisms)
