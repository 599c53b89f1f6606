"""DescribeCluster: brokers, and kinds of endpoints that this is not (semantics I12)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.wire.api.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

from tests.support.clock import NOW
from tests.support.cluster import client_of
from tests.support.versions import first_and_last

ALL = 8096
NOT_ASKED = -(2**31)


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Cluster]:
    """Brokers 1, 2 and 3; 2 is in a rack, 3 is not alive."""
    brokers = [Node(1, "a", 1), Node(2, "b", 2, rack="r"), Node(3, "c", 3, is_alive=False)]
    cluster = Cluster(
        BrokerConfig(), data_dir=tmp_path / "three", brokers=brokers, clock=ManualClock(NOW)
    )
    yield cluster
    cluster.close()


def describe(cluster: Cluster, version: int = 2, **asked: Any) -> DescribeClusterResponse:
    asked.setdefault("include_cluster_authorized_operations", False)
    answer: DescribeClusterResponse = client_of(cluster).ask(
        DescribeClusterRequest(**asked), version
    )
    return answer


def test_the_brokers_that_are_alive_are_reported(three: Cluster) -> None:
    answer = describe(three)
    assert [(b.broker_id, b.host, b.port, b.rack, b.is_fenced) for b in answer.brokers] == [
        (1, "a", 1, None, False),
        (2, "b", 2, "r", False),
    ]
    assert answer.cluster_id == three.cluster_id
    assert answer.controller_id in (1, 2)
    assert (answer.error_code, answer.error_message, answer.endpoint_type) == (0, None, 1)


def test_fenced_brokers_are_reported_when_asked_for(three: Cluster) -> None:
    answer = describe(three, include_fenced_brokers=True)
    assert [(b.broker_id, b.is_fenced) for b in answer.brokers] == [
        (1, False),
        (2, False),
        (3, True),
    ]


@pytest.mark.parametrize(("asked", "operations"), [(False, NOT_ASKED), (True, ALL)])
@pytest.mark.parametrize("version", [0, 1, 2])
def test_operations_are_reported_when_asked_for(
    three: Cluster, version: int, asked: bool, operations: int
) -> None:
    answer = describe(three, version, include_cluster_authorized_operations=asked)
    assert answer.cluster_authorized_operations == operations


@pytest.mark.parametrize(
    ("endpoint_type", "error", "message"),
    [
        (
            2,
            114,
            "The request was sent to an endpoint of type BROKER, "
            "but we wanted an endpoint of type CONTROLLER",
        ),
        (3, 115, "Unsupported endpoint type 3"),
        (0, 115, "Unsupported endpoint type 0"),
    ],
)
def test_other_kinds_of_endpoints_are_refused(
    three: Cluster, endpoint_type: int, error: int, message: str
) -> None:
    answer = describe(three, endpoint_type=endpoint_type)
    assert (answer.error_code, answer.error_message) == (error, message)
    assert (answer.cluster_id, answer.controller_id, answer.brokers) == ("", -1, [])


@pytest.mark.parametrize("version", first_and_last(DescribeClusterRequest))
def test_the_cluster_is_described_in_every_version(three: Cluster, version: int) -> None:
    answer = describe(three, version)
    assert (answer.error_code, answer.cluster_id) == (0, three.cluster_id)
    assert [broker.broker_id for broker in answer.brokers] == [1, 2]
