"""RemoveRaftVoter (81): take a node's vote away. There is only one, which must stay.

Not emulated: a quorum of several nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from ..base.call import Call
from .add_raft_voter import check_version, check_voter, voter_text, voters_text
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(RemoveRaftVoterRequest)
def remove_voter(
    cluster: Cluster, call: Call, request: RemoveRaftVoterRequest
) -> RemoveRaftVoterResponse:
    try:
        check_voter(cluster, request, "Remove")
        check_version(cluster, "removing")
        message = (
            f"Cannot remove voter {voter_text(request.voter_id, request.voter_directory_id)} "
            f"from the set of voters {voters_text(cluster)}"
        )
        raise Refused(Error.VOTER_NOT_FOUND, message)
    except Refused as refused:
        return RemoveRaftVoterResponse(error_code=refused.error, error_message=refused.message)
