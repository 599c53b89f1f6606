"""CreateDelegationToken (38): a token by which its owner logs in.

Who has not logged in, or has with a token, gets none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ..base.call import Call, Principal
from ..security.delegation_tokens import DelegationTokens
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


NEVER = -1


@handler(CreateDelegationTokenRequest)
def create_token(
    cluster: Cluster, call: Call, request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse:
    kind, name = request.owner_principal_type, request.owner_principal_name
    requester = owner = call.principal
    if name and kind is not None:
        owner = Principal(kind, name)
    try:
        if name and kind is None:  # over which a real broker stumbles
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        tokens = tokens_of(cluster)
        tokens.check_allowed(call)
        tokens.check_owner(call, owner)
        renewers = [
            Principal(each.principal_type, each.principal_name) for each in request.renewers
        ]
        lifetime = request.max_lifetime_ms
        record, secret = tokens.create(requester, owner, renewers, lifetime, call.now)
    except Refused as refused:
        return _answer(refused.error, requester, owner)
    return _answer(
        Error.NONE,
        *(requester, owner, record.issue_timestamp, record.expiration_timestamp),
        *(record.max_timestamp, record.token_id, secret),
    )


def tokens_of(cluster: Cluster) -> DelegationTokens:
    return DelegationTokens(cluster, cluster.metadata, cluster.security, cluster.authorizer)


def _answer(
    error: Error,
    requester: Principal,
    owner: Principal,
    issued: int = NEVER,
    expires: int = NEVER,
    until: int = NEVER,
    token_id: str = "",
    secret: bytes = b"",
) -> CreateDelegationTokenResponse:
    return CreateDelegationTokenResponse(
        error_code=error,
        principal_type=owner.kind,
        principal_name=owner.name,
        token_requester_principal_type=requester.kind,
        token_requester_principal_name=requester.name,
        issue_timestamp_ms=issued,
        expiry_timestamp_ms=expires,
        max_timestamp_ms=until,
        token_id=token_id,
        hmac=secret,
    )
