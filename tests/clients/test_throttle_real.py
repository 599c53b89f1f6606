"""A producer over its quota: a real Kafka answers it at once, and takes up nothing more on that
connection for the time that it tells (KIP-219), as a rule that throttles has it here."""

from __future__ import annotations

import select
import time
from collections.abc import Iterator

import pytest
from odradek.compat import RealKafka
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.produce import batch, produce_request
from tests.support.connection import Connection

pytestmark = [pytest.mark.real, pytest.mark.client]
RATE = 10_000  # bytes in a second
LONG_MS = 3000


@pytest.fixture
def kafka(real_kafka: RealKafka) -> Iterator[RealKafka]:
    """With a quota for every producer, and a topic."""

    def set_quota(*, remove: bool) -> None:
        entry = AlterClientQuotasRequest.Entry
        everybody = entry.Entity(entity_type="client-id", entity_name=None)
        rate = entry.Op(key="producer_byte_rate", value=float(RATE), remove=remove)
        quotas = [entry(entity=[everybody], ops=[rate])]
        client.ask(AlterClientQuotasRequest(entries=quotas, validate_only=False), 1)

    with Connection(real_kafka.bootstrap_servers) as client:
        set_quota(remove=False)
        topic = CreateTopicsRequest.Topic(
            name="t", num_partitions=1, replication_factor=1, assignments=[], configs=[]
        )
        client.ask(CreateTopicsRequest(topics=[topic]), 5)
        yield real_kafka
        set_quota(remove=True)


def test_only_its_connection_is_muted(kafka: RealKafka) -> None:
    address = kafka.bootstrap_servers
    with Connection(address) as client, Connection(address) as other:
        waits_ms = 0
        while waits_ms < LONG_MS:  # the first ones are within the quota
            answer = client.ask(produce_request(batch(b"x" * RATE * 10)), 9)
            waits_ms = answer.throttle_time_ms
        begin = time.monotonic()
        client.send(MetadataRequest(topics=[]), 9)
        assert other.ask(MetadataRequest(topics=[]), 9).brokers
        assert not select.select([client._socket], [], [], 0)[0], "others do not wait"
        client._read(4)
        assert time.monotonic() - begin >= waits_ms / 1000 - 0.1
