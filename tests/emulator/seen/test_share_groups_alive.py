"""A share group of a broker that ends and comes back."""

from __future__ import annotations

from odradek.emulator import Emulator
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.share_groups import (
    ACCEPT,
    acquired,
    share_acknowledge,
    share_beat,
    share_fetch,
)
from tests.support.connection import Connection


def begins_at_the_earliest_offset(kafka: Emulator) -> None:
    kind = IncrementalAlterConfigsRequest.Resource
    earliest = kind.Config(name="share.auto.offset.reset", config_operation=0, value="earliest")
    group = kind(resource_type=32, resource_name="g", configs=[earliest])
    with Connection(kafka.bootstrap_servers) as admin:
        request = IncrementalAlterConfigsRequest(resources=[group], validate_only=False)
        assert admin.ask(request, 1).responses[0].error_code == 0


def accepted_by_a_member(kafka: Emulator) -> list[tuple[int, int, int]]:
    """What a member acquires of t-0, all of which it accepts."""
    with Connection(kafka.bootstrap_servers) as member:
        member.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 6)
        named = MetadataRequest(topics=[MetadataRequest.Topic(name="t")])
        part = (member.ask(named, 12).topics[0].topic_id, 0)
        share_beat(member)
        found = acquired(share_fetch(member, {part: ()}))
        for first, last, _ in found:
            share_acknowledge(member, {part: [(first, last, [ACCEPT])]}, 1)
        return found


def test_poison_is_there_until_the_broker_is_reset() -> None:
    with Emulator(topics={"t": 1}, clock="manual") as kafka:
        kafka.topic("t").produce("a")
        begins_at_the_earliest_offset(kafka)
        kafka.share_group("g").poison("t", 0)
        assert accepted_by_a_member(kafka) == [(0, 0, 1)]
        for restarts in (1, 2):
            kafka.restart(clean=restarts == 1)
            assert accepted_by_a_member(kafka) == [(0, 0, 1 + restarts)]
        state = kafka.snapshot()
        kafka.restore(state)
        assert accepted_by_a_member(kafka) == [(0, 0, 4)]
        assert accepted_by_a_member(kafka) == []
