"""ElectLeaders (semantics O): preferred replicas, and elections that are not needed."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.unregister_broker import UnregisterBrokerRequest

from tests.requests.leadership import PREFERRED, UNCLEAN, elect, move
from tests.support.cluster import client_of
from tests.support.several_brokers import placed
from tests.support.versions import first_and_last


@pytest.mark.parametrize("kind", [PREFERRED, UNCLEAN])
def test_a_partition_that_is_led_needs_no_election(three: Cluster, kind: int) -> None:
    client = client_of(three)
    assert elect(client, [("t", [0, 7]), ("none", [0])], kind) == [0, ("t", [84, 3]), ("none", [3])]
    assert elect(client, None, kind) == [0, ("t", [])]
    assert elect(client, None, 7) == [42]
    assert elect(client, [("t", [0])], 7, timeout_ms=0) == [7, ("t", [7])]


@pytest.mark.parametrize("version", first_and_last(ElectLeadersRequest))
def test_the_preferred_replica_leads_again(three: Cluster, version: int) -> None:
    client = client_of(three)
    move(client, [2, 1])
    assert placed(three) == ([2, 1], [1, 2], 1, 0)
    found = elect(client, [("t", [0])], version=version)
    assert found == [0, ("t", [0])]
    assert placed(three) == ([2, 1], [1, 2], 2, 1)


def test_who_is_not_there_cannot_be_elected(three: Cluster) -> None:
    client = client_of(three, node_id=2)
    assert client.ask(UnregisterBrokerRequest(broker_id=1), 0).error_code == 0
    assert elect(client, [("t", [0])]) == [0, ("t", [80])]
