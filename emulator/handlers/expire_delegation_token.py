"""ExpireDelegationToken (40): a plaintext listener ends no tokens, for nobody logs in on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ..base.call import Call
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster


@handles(ExpireDelegationTokenRequest)
def expire_token(
    cluster: Cluster, call: Call, request: ExpireDelegationTokenRequest
) -> ExpireDelegationTokenResponse:
    return ExpireDelegationTokenResponse(
        error_code=Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, expiry_timestamp_ms=-1
    )
