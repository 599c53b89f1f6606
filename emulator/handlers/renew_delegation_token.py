"""RenewDelegationToken (39): a token lives longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from ..base.call import Call
from ..security.delegation_tokens import no_expiry
from .create_delegation_token import tokens_of
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(RenewDelegationTokenRequest)
def renew_token(
    cluster: Cluster, call: Call, request: RenewDelegationTokenRequest
) -> RenewDelegationTokenResponse:
    secret, period_ms = bytes(request.hmac), request.renew_period_ms
    try:
        tokens = tokens_of(cluster)
        tokens.check_allowed(call)
        until = tokens.renew(call.principal, secret, period_ms, call.now)
    except Refused as refused:
        return RenewDelegationTokenResponse(
            error_code=refused.error, expiry_timestamp_ms=no_expiry(refused.error)
        )
    return RenewDelegationTokenResponse(error_code=Error.NONE, expiry_timestamp_ms=until)
