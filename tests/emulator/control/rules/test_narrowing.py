"""Which requests a rule is about."""

from __future__ import annotations

import re
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.fixtures.views import TopicView
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.produce import ProduceRequest

from tests.requests.produce import batch, produce_all
from tests.support.cluster import client_of
from tests.support.ruled import Ruled

BEAT = HeartbeatRequest(group_id="billing", generation_id=1, member_id="m-1")
STATIC = HeartbeatRequest(group_id="g", generation_id=1, member_id="m", group_instance_id="s-1")
PRODUCE = produce_all(("t", 0, batch(b"a")), ("u", 3, batch(b"a")), transactional_id="tx")
FIND = FindCoordinatorRequest(key_type=0, coordinator_keys=["billing"])
FIND_ID = FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"])
LEAVE = LeaveGroupRequest(
    group_id="g",
    members=[LeaveGroupRequest.Member(member_id=each) for each in ("m-1", "m-2")],
)
CONFIGS = DescribeConfigsRequest(
    resources=[
        DescribeConfigsRequest.Resource(
            resource_type=kind, resource_name=name, configuration_keys=None
        )
        for kind, name in ((2, "t"), (4, "1"), (32, "billing"))
    ]
)

# What is sent, in which version, how it is narrowed, and whether that is meant.
CASES: list[tuple[Any, int, dict[str, Any], bool]] = [
    (PRODUCE, 9, {"topic": "t"}, True),
    (PRODUCE, 9, {"topic": "t", "partition": 0}, True),
    (PRODUCE, 9, {"topic": "t", "partition": 3}, False),
    (PRODUCE, 9, {"partition": 3}, True),
    (PRODUCE, 9, {"topic": re.compile("^u")}, True),
    (PRODUCE, 9, {"topic": str.isupper}, False),
    (PRODUCE, 9, {"transactional_id": "tx"}, True),
    (PRODUCE, 9, {"transactional_id": None}, False),
    (PRODUCE, 9, {"version": 9}, True),
    (PRODUCE, 9, {"version": range(3, 9)}, False),
    (PRODUCE, 9, {"version": range(3, 10)}, True),
    (PRODUCE, 9, {"broker": 1}, True),
    (PRODUCE, 9, {"broker": 2}, False),
    (PRODUCE, 9, {"client_id": "test"}, True),
    (PRODUCE, 9, {"client_id": re.compile("app")}, False),
    (PRODUCE, 9, {"client_software": "librdkafka"}, True),
    (PRODUCE, 9, {"client_software": "librdkafka 2.3.0"}, True),
    (PRODUCE, 9, {"client_software": "librdkafka 2.4.0"}, False),
    (PRODUCE, 9, {"where": lambda request: request.acks == -1}, True),
    (PRODUCE, 9, {"where": lambda request: request.acks == 1}, False),
    (BEAT, 4, {"group": "billing", "member": "m-1"}, True),
    (BEAT, 4, {"group": "billing", "member": "m-2"}, False),
    (BEAT, 4, {"group": "other"}, False),
    (STATIC, 4, {"member": "s-1"}, True),
    (STATIC, 4, {"member": "m"}, True),
    (LEAVE, 5, {"member": "m-2"}, True),
    (LEAVE, 5, {"member": "m-3"}, False),
    (FIND, 6, {"group": "billing"}, True),
    (FIND, 6, {"transactional_id": "billing"}, False),
    (FIND_ID, 6, {"transactional_id": "tx"}, True),
    (CONFIGS, 4, {"topic": "t"}, True),
    (CONFIGS, 4, {"topic": "1"}, False),
    (CONFIGS, 4, {"group": "billing"}, True),
]


@pytest.mark.parametrize(("request_", "version", "narrowed", "is_meant"), CASES)
def test_a_request_is_meant(
    cluster: Cluster, request_: Any, version: int, narrowed: dict[str, Any], is_meant: bool
) -> None:
    client = client_of(cluster)
    introduced = ApiVersionsRequest(
        client_software_name="librdkafka", client_software_version="2.3.0"
    )
    client.ask(introduced, 3)
    rule = Ruled(cluster).on(type(request_), **narrowed).disconnect()
    client.send(request_, version)
    assert (rule.hits == 1) == client.is_closed == is_meant
    assert rule.requests == [request_] * is_meant


class UnservedRequest(HeartbeatRequest):
    """Of an API that no broker has."""

    api_key = 9999


@pytest.mark.parametrize(
    ("api", "name"),
    [
        (ProduceRequest, "ProduceRequest"),
        ("Produce", "'Produce'"),
        ("produce", "'produce'"),
        ("ProduceRequest", "'ProduceRequest'"),
        ("JoinGroup", "'JoinGroup'"),
        ("join_group", "'join_group'"),
        ("JOIN_GROUP", "'JOIN_GROUP'"),
        (JoinGroupRequest, "JoinGroupRequest"),
    ],
)
def test_an_api_is_its_class_or_its_name(cluster: Cluster, api: Any, name: str) -> None:
    assert repr(Ruled(cluster).on(api)) == f"kafka.on({name})"


@pytest.mark.parametrize(
    ("api", "given", "error", "text"),
    [
        ("Produc", {}, ValueError, "there is no API 'Produc'; do you mean Produce"),
        ("Zzz", {}, ValueError, "there is no API 'Zzz'. There are .*Fetch"),
        (UnservedRequest, {}, ValueError, "this broker does not serve Unserved"),
        (7, {}, TypeError, "an API is the class of its request"),
        (int, {}, TypeError, "an API is the class of its request"),
        (
            "Heartbeat",
            {"topic": "t"},
            ValueError,
            "a request of Heartbeat has no topic: it can be narrowed by group, member, client_id",
        ),
        ("Produce", {"group": "g"}, ValueError, "has no group: .* by topic, partition, trans"),
        ("Produce", {"where": 7}, TypeError, "where is a function of a request, not 7"),
        ("Produce", {"topics": "t"}, TypeError, "on has no keyword 'topics'; did you mean topic="),
    ],
)
def test_a_mistake_is_named(
    cluster: Cluster, api: Any, given: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        Ruled(cluster).on(api, **given)


def test_a_view_of_a_topic_is_its_name(cluster: Cluster) -> None:
    view = TopicView(None, "orders")  # type: ignore[arg-type]
    assert repr(Ruled(cluster).on(FetchRequest, topic=view)) == (
        "kafka.on(FetchRequest, topic='orders')"
    )
