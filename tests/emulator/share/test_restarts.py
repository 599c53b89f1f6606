"""What a group has of a partition after its broker was killed or stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek import Emulator
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.share_groups import (
    ACCEPT,
    RELEASE,
    acquired,
    share_acknowledge,
    share_beat,
    share_fetch,
)
from tests.support.connection import Connection


@pytest.mark.parametrize("clean", [False, True])
def test_the_end_of_a_broker_releases_nothing(tmp_path: Path, clean: bool) -> None:
    with Emulator(data_dir=tmp_path / "data") as kafka:
        topic = kafka.create_topic("t")
        part = (_topic_id(kafka), 0)
        with Connection(kafka.bootstrap_servers) as member:
            member.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 6)
            share_beat(member)
            share_fetch(member, {part: ()})
            for _ in range(5):
                topic.produce(b"v")
            assert [each[:2] for each in acquired(share_fetch(member, epoch=1))] == [(0, 4)]
            acks = [(0, 0, [ACCEPT]), (2, 2, [RELEASE])]
            share_acknowledge(member, {part: acks}, 2)
            if clean:
                kafka.restart()
            else:
                kafka.kill()
                kafka.restart(clean=False)
        with Connection(kafka.bootstrap_servers) as other:
            found = acquired(share_fetch(other, {part: ()}, member_id="b"))
        assert found == [(1, 1, 1), (2, 2, 2), (3, 4, 1)]


def _topic_id(kafka: Emulator) -> bytes:
    named = MetadataRequest(topics=[MetadataRequest.Topic(name="t")])
    with Connection(kafka.bootstrap_servers) as asking:
        topic_id: bytes = asking.ask(named, 12).topics[0].topic_id
    return topic_id
