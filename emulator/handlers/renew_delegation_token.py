"""RenewDelegationToken (39): a plaintext listener renews no tokens, for nobody logs in on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from ..base.call import Call
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster


@handles(RenewDelegationTokenRequest)
def renew_token(
    cluster: Cluster, call: Call, request: RenewDelegationTokenRequest
) -> RenewDelegationTokenResponse:
    return RenewDelegationTokenResponse(
        error_code=Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, expiry_timestamp_ms=-1
    )
