"""DescribeDelegationToken (41): a plaintext listener tells of no tokens: nobody logs in on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from ..base.call import Call
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster


@handles(DescribeDelegationTokenRequest)
def describe_tokens(
    cluster: Cluster, call: Call, request: DescribeDelegationTokenRequest
) -> DescribeDelegationTokenResponse:
    return DescribeDelegationTokenResponse(
        error_code=Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, tokens=[]
    )
