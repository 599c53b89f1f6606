"""AlterUserScramCredentials (51): set and remove credentials of users (semantics I10).

Who was changed comes first, then who was not, each once. The rules: security/scram.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
from ..base.call import Call
from ..security.scram import Deletion, Upsertion, planned
from .one_change import write_together
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(AlterUserScramCredentialsRequest)
def alter(
    cluster: Cluster, call: Call, request: AlterUserScramCredentialsRequest
) -> AlterUserScramCredentialsResponse:
    plan = planned
    if not cluster.release.has_kraft:
        from .users_old import planned_old as plan
    changes = plan(
        cluster.metadata.image,
        [Deletion(each.name, each.mechanism) for each in request.deletions],
        [
            Upsertion(
                each.name,
                each.mechanism,
                each.iterations,
                bytes(each.salt),
                bytes(each.salted_password),
            )
            for each in request.upsertions
        ],
    )
    good = None if cluster.release.has_kraft else ""
    answers = [
        (
            AlterUserScramCredentialsResponse.Result(
                user=user,
                error_code=Error.NONE if refused is None else refused.error,
                error_message=good if refused is None else refused.message,
            ),
            records,
        )
        for user, refused, records in changes
    ]
    write_together(cluster, answers)
    return AlterUserScramCredentialsResponse(results=[answer for answer, _ in answers])
