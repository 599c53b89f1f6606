"""ExpireDelegationToken (40): a token ends sooner, or at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ..base.call import Call
from ..security.delegation_tokens import no_expiry
from .create_delegation_token import tokens_of
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(ExpireDelegationTokenRequest)
def expire_token(
    cluster: Cluster, call: Call, request: ExpireDelegationTokenRequest
) -> ExpireDelegationTokenResponse:
    secret, period_ms = bytes(request.hmac), request.expiry_time_period_ms
    try:
        tokens = tokens_of(cluster)
        tokens.check_allowed(call)
        until = tokens.expire(call.principal, secret, period_ms, call.now)
    except Refused as refused:
        return ExpireDelegationTokenResponse(
            error_code=refused.error, expiry_timestamp_ms=no_expiry(refused.error)
        )
    return ExpireDelegationTokenResponse(error_code=Error.NONE, expiry_timestamp_ms=until)
