"""CreateDelegationToken (38): a plaintext listener gives no tokens, for nobody logs in on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ..dispatch import Call, handles

if TYPE_CHECKING:
    from ..cluster import Cluster


USER, ANONYMOUS = "User", "ANONYMOUS"
NEVER = -1


@handles(CreateDelegationTokenRequest)
def create_token(
    cluster: Cluster, call: Call, request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse:
    kind, name = USER, ANONYMOUS
    if request.owner_principal_name:
        kind, name = request.owner_principal_type or "", request.owner_principal_name
    return CreateDelegationTokenResponse(
        error_code=Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
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
