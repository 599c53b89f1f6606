"""SaslAuthenticate (36): there is no SASL on this listener (semantics A10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ..base.call import Call
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(SaslAuthenticateRequest)
def sasl_authenticate(
    cluster: Cluster, call: Call, request: SaslAuthenticateRequest
) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(
        error_code=Error.ILLEGAL_SASL_STATE,
        error_message="SaslAuthenticate request received after successful authentication",
    )
