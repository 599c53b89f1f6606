"""Without the feature `group.version` there are no consumer groups, as on a real broker."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest

from tests.support.cluster import Client, client_of

UPGRADE, UNSAFE_DOWNGRADE = 1, 3


def set_level(client: Client, level: int, how: int) -> None:
    update = UpdateFeaturesRequest.FeatureUpdate(
        feature="group.version", max_version_level=level, upgrade_type=how
    )
    request = UpdateFeaturesRequest(timeout_ms=1000, feature_updates=[update])
    assert client.ask(request, 1).error_code == 0


def heartbeat(client: Client, version: int) -> int:
    request = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="a",
        member_epoch=0,
        rebalance_timeout_ms=1000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )
    return int(client.ask(request, version).error_code)


@pytest.mark.parametrize("version", [0, 1])
def test_the_protocol_comes_and_goes_with_its_feature(cluster: Cluster, version: int) -> None:
    client = client_of(cluster)
    cluster.groups.ensure_topic()
    looked = ConsumerGroupDescribeRequest(group_ids=["g"], include_authorized_operations=False)
    set_level(client, 0, UNSAFE_DOWNGRADE)
    assert heartbeat(client, version) == Error.UNSUPPORTED_VERSION
    (described,) = client.ask(looked, version).groups
    assert described.error_code == Error.UNSUPPORTED_VERSION
    assert cluster.groups.at(1).list_groups() == []
    set_level(client, 1, UPGRADE)
    assert heartbeat(client, version) == Error.NONE
