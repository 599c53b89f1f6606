"""AddRaftVoter (semantics I17, J): the quorum has one voter, and takes no other."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import NO_ID, Error
from odradek.wire.api.add_raft_voter import AddRaftVoterRequest

from tests.requests.quorum import add, keep_voters_in_the_log
from tests.support.cluster import Client
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(AddRaftVoterRequest))
def test_voters_in_configs_cannot_change(client: Client, version: int) -> None:
    sentence = "Cluster doesn't support adding voter because the kraft.version feature is 0"
    assert add(client, version=version) == (Error.UNSUPPORTED_VERSION, sentence)


def test_voters_that_cannot_be(cluster: Cluster, client: Client) -> None:
    assert add(client, -1) == (42, "Add voter request didn't include a valid voter")
    assert add(client, 2, NO_ID)[0] == 42
    assert add(client, listeners=[])[1] == (
        "Add voter request didn't include the endpoint (Endpoints(endpoints={})) for the default "
        "listener ListenerName(CONTROLLER)"
    )
    code, message = add(client, cluster_id="another")
    sentence = f'The given id "another" doesn\'t match the cluster id "{cluster.cluster_id}"'
    assert (code, message) == (104, sentence)


def test_voters_in_the_log_stay_as_they_are(client: Client) -> None:
    keep_voters_in_the_log(client)
    assert add(client)[0] == Error.REQUEST_TIMED_OUT
    assert add(client, 1)[0] == Error.DUPLICATE_VOTER
