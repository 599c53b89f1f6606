"""DescribeDelegationToken (41): the tokens that a user may see, with their HMACs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Refused
from ...wire.api.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from ...wire.stored.cluster import DelegationTokenRecord
from ..base.call import Call, Principal
from .create_delegation_token import tokens_of
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Token = DescribeDelegationTokenResponse.Token


@handler(DescribeDelegationTokenRequest)
def describe_tokens(
    cluster: Cluster, call: Call, request: DescribeDelegationTokenRequest
) -> DescribeDelegationTokenResponse:
    wanted = None
    if request.owners is not None:
        wanted = [Principal(each.principal_type, each.principal_name) for each in request.owners]
    try:
        tokens = tokens_of(cluster)
        tokens.check_allowed(call)
        found = tokens.visible(call, wanted)
    except Refused as refused:
        return DescribeDelegationTokenResponse(error_code=refused.error, tokens=[])
    return DescribeDelegationTokenResponse(tokens=[_token(*each) for each in found])


def _token(record: DelegationTokenRecord, secret: bytes) -> Token:
    owner_kind, _, owner = record.owner.partition(":")
    requester_kind, _, requester = record.requester.partition(":")
    renewers = (each.partition(":") for each in record.renewers)
    return Token(
        principal_type=owner_kind,
        principal_name=owner,
        token_requester_principal_type=requester_kind,
        token_requester_principal_name=requester,
        issue_timestamp=record.issue_timestamp,
        expiry_timestamp=record.expiration_timestamp,
        max_timestamp=record.max_timestamp,
        token_id=record.token_id,
        hmac=secret,
        renewers=[
            Token.Renewer(principal_type=kind, principal_name=name) for kind, _, name in renewers
        ],
    )
