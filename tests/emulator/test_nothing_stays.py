"""What clients leave behind is gone when its time is over: the broker holds no more after many
rounds of the same than after a few."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error

from tests.requests.committed_offsets import commit
from tests.requests.produce import batch, produce
from tests.requests.transactions import new_producer_id
from tests.support.cluster import client_of, open_cluster
from tests.support.held import held
from tests.support.transactional_producer import TxnClient

MINUTE = 60_000
FEW, MANY = 10, 30
CONFIGS = {
    "log.roll.ms": "60000",
    "log.retention.ms": "120000",
    "log.retention.check.interval.ms": "60000",
    "log.cleaner.min.cleanable.ratio": "0.01",
    "producer.id.expiration.ms": "120000",
    "producer.id.expiration.check.interval.ms": "60000",
    "transactional.id.expiration.ms": "120000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "60000",
    "offsets.retention.minutes": "2",
    "offsets.retention.check.interval.ms": "60000",
    "metadata.log.segment.ms": "60000",
    "metadata.log.max.snapshot.interval.ms": "60000",
    "metadata.max.retention.ms": "120000",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}


def one_round(cluster: Cluster, number: int) -> None:
    """A topic, a group, a producer and a transactional id that are new, and are not used again."""
    topic = f"short-{number}"
    cluster.create_topic(topic, 2, {})
    client = client_of(cluster)
    for name in (topic, "stays"):
        data = batch(
            b"x",
            time=cluster.clock.now(),
            producer_id=new_producer_id(client),
            producer_epoch=0,
            base_sequence=0,
        )
        assert produce(client, data, topic=name).error_code == Error.NONE
    assert commit(client, 1, topic="stays", group=f"once-{number}") is Error.NONE
    transactional = TxnClient(cluster, f"once-{number}").begin()
    assert transactional.write(b"x", topic="stays") is Error.NONE
    assert transactional.end(commit=bool(number % 2)) is Error.NONE
    for each in (client, transactional.client):
        each.connection.close()
    cluster.topics.delete(cluster.topic(topic))
    cluster.advance(10 * MINUTE)


@pytest.mark.slow
def test_many_rounds_leave_no_more_than_a_few(tmp_path: Path) -> None:
    cluster = open_cluster(
        tmp_path, max_events=20, **{key.replace(".", "_"): CONFIGS[key] for key in CONFIGS}
    )
    cluster.create_topic("stays", 1, {})
    cluster.topics.ensure_internal("__consumer_offsets")
    for number in range(FEW):
        one_round(cluster, number)
    few = held(cluster)
    assert few["Catalogue._by_name"] == 3
    for number in range(FEW, MANY):
        one_round(cluster, number)
    assert held(cluster) == few
    cluster.close()
