"""AddRaftVoter (80): let another node vote. There is no other: at best it cannot be reached.

The checks before that are Kafka's, in its order.

Not emulated: a quorum of several nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import NO_ID, Error, Refused
from ...wire.api.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from ...wire.primitives import id_text
from ..base.call import Call
from ..metadata.feature_updates import CONTROLLER_LISTENER
from .registry import handler

if TYPE_CHECKING:
    from ...wire.api.remove_raft_voter import RemoveRaftVoterRequest
    from ..cluster import Cluster


@handler(AddRaftVoterRequest)
def add_voter(cluster: Cluster, call: Call, request: AddRaftVoterRequest) -> AddRaftVoterResponse:
    try:
        check_voter(cluster, request, "Add")
        _check_listeners(request.listeners)
        check_version(cluster, "adding")
        if request.voter_id == cluster.controller_id:
            message = (
                f"The voter id for {voter_text(request.voter_id, request.voter_directory_id)} "
                f"is already part of the set of voters {voters_text(cluster)}."
            )
            raise Refused(Error.DUPLICATE_VOTER, message)
        message = (
            "Aborted add voter operation for since API_VERSIONS returned an error "
            "BROKER_NOT_AVAILABLE"
        )
        raise Refused(Error.REQUEST_TIMED_OUT, message)
    except Refused as refused:
        return AddRaftVoterResponse(error_code=refused.error, error_message=refused.message)


def check_voter(
    cluster: Cluster, request: AddRaftVoterRequest | RemoveRaftVoterRequest, verb: str
) -> None:
    """Raises Refused for another cluster's id, and for a voter that cannot be."""
    if request.cluster_id is not None and request.cluster_id != cluster.cluster_id:
        message = (
            f'The given id "{request.cluster_id}" doesn\'t match the cluster id '
            f'"{cluster.cluster_id}"'
        )
        raise Refused(Error.INCONSISTENT_CLUSTER_ID, message)
    if request.voter_id < 0 or request.voter_directory_id == NO_ID:
        message = f"{verb} voter request didn't include a valid voter"
        raise Refused(Error.INVALID_REQUEST, message)


def check_version(cluster: Cluster, doing: str) -> None:
    """Raises Refused(UNSUPPORTED_VERSION) while voters are kept in configs."""
    if cluster.features.quorum_version == 0:
        message = f"Cluster doesn't support {doing} voter because the kraft.version feature is 0"
        raise Refused(Error.UNSUPPORTED_VERSION, message)


def voter_text(node_id: int, directory_id: bytes) -> str:
    """A voter as Kafka prints it."""
    return f"ReplicaKey(id={node_id}, directoryId={id_text(directory_id)})"


def voters_text(cluster: Cluster) -> str:
    """The voters as Kafka prints them: this node alone."""
    directory_id = cluster.log_dir.properties.directory_id or NO_ID
    return f"[{voter_text(cluster.controller_id, directory_id)}]"


def _check_listeners(listeners: list[AddRaftVoterRequest.Listener]) -> None:
    given = {each.name.upper(): f"{each.host}/<unresolved>:{each.port}" for each in listeners}
    if CONTROLLER_LISTENER not in given:
        texts = ", ".join(f"ListenerName({name})={text}" for name, text in given.items())
        message = (
            f"Add voter request didn't include the endpoint (Endpoints(endpoints={{{texts}}})) for "
            f"the default listener ListenerName({CONTROLLER_LISTENER})"
        )
        raise Refused(Error.INVALID_REQUEST, message)
