"""DescribeUserScramCredentials (50): mechanisms and iterations of users, no secrets.

Null, or no user at all, means everybody. One who is named twice is refused, once (semantics I10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from ..base.call import Call
from ..base.java_order import hash_map_order
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


Result = DescribeUserScramCredentialsResponse.Result


@handler(DescribeUserScramCredentialsRequest)
def describe(
    cluster: Cluster, call: Call, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    known = cluster.metadata.image.scram
    asked = [user.name for user in request.users] if request.users else sorted(known)
    named = hash_map_order(asked) if cluster.release.has_kraft else list(dict.fromkeys(asked))
    return DescribeUserScramCredentialsResponse(
        error_message="",
        results=[_result(cluster, user, asked.count(user)) for user in named],
    )


def _result(cluster: Cluster, user: str, times: int) -> Result:
    credentials = cluster.metadata.image.scram.get(user)
    if not user and not cluster.release.has_kraft:
        message = "Username must not be empty"
        error = Error.RESOURCE_NOT_FOUND
    elif times > 1:
        message = (
            f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
        )
        error = Error.DUPLICATE_RESOURCE
    elif credentials is None:
        message = f"Attempt to describe a user credential that does not exist: {user}"
        error = Error.RESOURCE_NOT_FOUND
    else:
        return Result(
            user=user,
            error_message="",
            credential_infos=[
                Result.CredentialInfo(mechanism=mechanism, iterations=record.iterations)
                for mechanism, record in credentials.items()
            ],
        )
    return Result(user=user, error_code=error, error_message=message, credential_infos=[])
