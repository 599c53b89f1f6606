"""ReadShareGroupStateSummary (semantics N24): epochs and offsets."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.read_share_group_state_summary import ReadShareGroupStateSummaryRequest

from tests.requests.share_states import initialize, state_topic, summary
from tests.support.cluster import Client
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(ReadShareGroupStateSummaryRequest))
def test_a_summary(cluster: Cluster, client: Client, version: int) -> None:
    topic_id = state_topic(cluster)
    nothing = summary(client, topic_id, version)
    assert (nothing.error_code, nothing.start_offset, nothing.state_epoch) == (0, -1, 0)
    initialize(client, topic_id, state_epoch=3, start_offset=7)
    found = summary(client, topic_id, version)
    assert (found.state_epoch, found.leader_epoch, found.start_offset) == (3, 0, 7)
    assert found.delivery_complete_count == (0 if version >= 1 else -1)
    unknown = summary(client, bytes(15) + b"x", version)
    assert unknown.error_code == Error.UNKNOWN_TOPIC_OR_PARTITION
