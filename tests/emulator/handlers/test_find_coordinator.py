"""FindCoordinator (semantics F10): this broker, for groups and for transactional ids."""

from __future__ import annotations

import pytest
from odradek.emulator.base.call import INVALID_REQUEST_TEXT
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.support.cluster import Client, client_of, open_cluster
from tests.support.versions import first_and_last

GROUP, TRANSACTION, SHARE = 0, 1, 2
TOPICS = {GROUP: "__consumer_offsets", TRANSACTION: "__transaction_state"}


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        *((version, GROUP) for version in (*first_and_last(FindCoordinatorRequest), 3, 4)),
        *((version, TRANSACTION) for version in (1, 3, 4, 6)),  # v0 knows groups only
    ],
)
def test_it_is_this_broker_and_its_topic_is_made(
    cluster: Cluster, client: Client, version: int, kind: int
) -> None:
    request = FindCoordinatorRequest(key="a", key_type=kind, coordinator_keys=["a", "b", "a", ""])
    answer = client.ask(request, version)
    found = answer.coordinators if version >= 4 else [answer]
    assert [(c.node_id, c.host, c.port, c.error_code) for c in found] == [
        (1, "localhost", 9092, 0)
    ] * (4 if version >= 4 else 1)
    if version >= 4:
        assert [c.key for c in found] == ["a", "b", "a", ""]
    assert {topic.name for topic in cluster.topics} == {TOPICS[kind]}


@pytest.mark.parametrize(
    ("version", "kind", "is_silent"),
    [
        (1, SHARE, False),
        (3, SHARE, False),
        (4, SHARE, True),
        (5, SHARE, True),
        (6, SHARE, True),
        (6, 3, False),
        (6, -1, False),
        (3, 9, False),
    ],
)
def test_a_key_that_has_no_coordinator(
    client: Client, version: int, kind: int, is_silent: bool
) -> None:
    request = FindCoordinatorRequest(key="a", key_type=kind, coordinator_keys=["a"])
    answer = client.ask(request, version)
    (found,) = answer.coordinators if version >= 4 else [answer]
    assert (found.error_code, found.node_id, found.host, found.port) == (42, -1, "", -1)
    assert found.error_message == ("" if is_silent else INVALID_REQUEST_TEXT)


def test_while_its_topic_cannot_be_made_there_is_none() -> None:
    disk = MemoryDisk()
    cluster = open_cluster(disk.directory())
    disk.fill()
    request = FindCoordinatorRequest(coordinator_keys=["g"])
    (found,) = client_of(cluster).ask(request, 6).coordinators
    assert (found.error_code, found.node_id) == (Error.COORDINATOR_NOT_AVAILABLE, -1)
    disk.heal()
    (found,) = client_of(cluster).ask(request, 6).coordinators
    assert (found.error_code, found.node_id) == (0, 1)
    cluster.close()
