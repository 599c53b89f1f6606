"""CreateDelegationToken (38): a plaintext listener gives no tokens, for nobody logs in on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ..base.call import Call
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster


USER, ANONYMOUS = "User", "ANONYMOUS"
NEVER = -1


@handles(CreateDelegationTokenRequest)
def create_token(
    cluster: Cluster, call: Call, request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse:
    kind, name = request.owner_principal_type, request.owner_principal_name
    error = Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    if name and kind is None:  # over which a real broker stumbles
        error = Error.UNKNOWN_SERVER_ERROR
    if not name or kind is None:
        kind, name = USER, ANONYMOUS
    return CreateDelegationTokenResponse(
        error_code=error,
        principal_type=kind,
        principal_name=name,
        token_requester_principal_type=USER,
        token_requester_principal_name=ANONYMOUS,
        issue_timestamp_ms=NEVER,
        expiry_timestamp_ms=NEVER,
        max_timestamp_ms=NEVER,
        token_id="",
        hmac=b"",
    )
