"""UnregisterBroker: a broker that is taken out leads nothing, and is gone (semantics O)."""

from __future__ import annotations

from odradek.emulator.cluster import Cluster
from odradek.wire.api.unregister_broker import UnregisterBrokerRequest

from tests.requests.leadership import elect
from tests.support.cluster import client_of
from tests.support.several_brokers import placed


def test_a_broker_that_is_taken_out_leads_nothing(three: Cluster) -> None:
    client = client_of(three, node_id=2)
    answer = client.ask(UnregisterBrokerRequest(broker_id=1), 0)
    assert (answer.error_code, answer.error_message) == (0, "")
    assert placed(three) == ([1, 2], [2], 2, 1)
    assert elect(client, [("t", [0])]) == [0, ("t", [80])]

    answer = client.ask(UnregisterBrokerRequest(broker_id=1), 0)
    sentence = "Broker ID 1 is not currently registered"
    assert (answer.error_code, answer.error_message) == (102, sentence)
