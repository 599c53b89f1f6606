"""Clients over their quotas (semantics M17)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from odradek.emulator.base.call import Principal
from odradek.emulator.cluster import Cluster
from odradek.emulator.security.throttling.rates import Bucket, Rate, Windows
from odradek.emulator.security.throttling.throttle import Limit, limit_of
from odradek.wire import Error
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.fetch import asked, fetch_request
from tests.requests.produce import batch, produce_request
from tests.requests.quotas import alter, entry
from tests.requests.topics import new_topic
from tests.support.cluster import Client, client_of, open_cluster

WINDOWS = Windows(11, 1000)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = open_cluster()
    cluster.create_topic("t", 1, {})
    yield cluster
    cluster.close()


def _client(cluster: Cluster, user: str = "alice", client_id: str = "test") -> Client:
    client = client_of(cluster)
    client.client_id = client_id
    client.connection.principal = Principal("User", user)
    return client


def _set(cluster: Cluster, user: str | None = "alice", **quotas: float) -> None:
    (answer,) = alter(client_of(cluster), entry([("user", user)], *quotas.items()))
    assert answer[0] == 0


def _produce(client: Client, size: int = 1000, acks: int = -1) -> Any:
    client.send(produce_request(batch(b"x" * size), acks=acks), 9)
    return client.answers()


def test_without_quotas_there_is_no_step(cluster: Cluster) -> None:
    assert cluster.chain == []
    _set(cluster, producer_byte_rate=1e9)
    assert cluster.chain == [cluster.throttle]
    alter(client_of(cluster), entry([("user", "alice")], ("producer_byte_rate", None)))
    assert cluster.chain == []


def test_a_producer_over_its_quota_is_answered_and_muted(cluster: Cluster) -> None:
    _set(cluster, producer_byte_rate=1000.0)
    client = _client(cluster)
    (first,) = _produce(client, size=9000)
    assert first.throttle_time_ms == 0  # 10 windows have 10,000
    (second,) = _produce(client, size=9000)
    assert second.responses[0].partition_responses[0].error_code == 0
    assert 8_000 < second.throttle_time_ms < 9_000
    assert client.connection.muted == 1
    assert _produce(client) == []
    other = _client(cluster)
    assert other.ask(MetadataRequest(topics=[]), 9).throttle_time_ms == 0


def test_a_time_that_is_too_long_for_its_field_is_cast_as_at_a_real_broker(
    cluster: Cluster,
) -> None:
    _set(cluster, producer_byte_rate=1.0)
    first, second, third = (_client(cluster) for _ in range(3))
    (answer,) = _produce(first, size=1_000_000)
    assert 1_000_000_000 < answer.throttle_time_ms < 1_001_000_000
    _produce(second, size=1_000_000)
    (answer,) = _produce(third, size=1_000_000)  # 3,000,000,000 ms are negative in 32 bits
    assert answer.responses[0].partition_responses[0].error_code == 0
    assert answer.throttle_time_ms == 0
    assert third.connection.muted == 0


def test_a_quota_that_is_no_number_lets_one_batch_through(cluster: Cluster) -> None:
    _set(cluster, consumer_byte_rate=math.nan)
    _produce(client := _client(cluster))
    answer = client.ask(fetch_request(asked(offset=0), max_wait_ms=0), 12)
    assert answer.throttle_time_ms == 0
    assert answer.responses[0].partitions[0].records


def test_acks_0_is_muted_too(cluster: Cluster) -> None:
    _set(cluster, producer_byte_rate=100.0)
    client = _client(cluster)
    assert _produce(client, size=5000, acks=0) == []
    assert client.connection.muted == 1


def test_a_rate_recovers_as_time_passes(cluster: Cluster) -> None:
    _set(cluster, producer_byte_rate=1000.0)
    _produce(_client(cluster), size=20_000)
    cluster.advance(60_000)
    (answer,) = _produce(_client(cluster), size=5000)
    assert answer.throttle_time_ms == 0


def test_a_throttled_fetch_is_empty_and_does_not_count(cluster: Cluster) -> None:
    for _ in range(2):
        _produce(_client(cluster, "bob"), size=4000)
    _set(cluster, consumer_byte_rate=1000.0)
    wanted = fetch_request(asked(offset=0), max_wait_ms=0)
    first = _client(cluster).ask(wanted, 12)
    assert first.throttle_time_ms == 0
    size = len(first.responses[0].partitions[0].records)
    assert 8000 < size < 10_000
    second = _client(cluster).ask(wanted, 12)
    assert second.throttle_time_ms > 0
    assert second.responses == []
    cluster.advance(15_000)
    third = _client(cluster).ask(wanted, 12)
    assert (third.throttle_time_ms, len(third.responses)) == (0, 1)


def test_a_fetch_gets_no_more_than_all_windows_but_one_allow(cluster: Cluster) -> None:
    for _ in range(4):
        _produce(_client(cluster, "bob"), size=4000)
    _set(cluster, consumer_byte_rate=500.0)
    wanted = fetch_request(asked(offset=0), max_wait_ms=0)
    _client(cluster).ask(wanted, 12)  # what was cut off at 5000 is a little more with its header
    cluster.advance(500)
    answer = _client(cluster).ask(wanted, 12)
    assert answer.throttle_time_ms == 0
    assert len(answer.responses[0].partitions[0].records) == 5000


def test_changes_of_topics_are_refused_while_tokens_are_missing(cluster: Cluster) -> None:
    _set(cluster, controller_mutation_rate=1.0)
    client = _client(cluster)
    assert _created(client, "a", 30) == (0, Error.NONE)  # 11 tokens, and more may be taken at once
    throttle_ms, error = _created(_client(cluster), "b", 1)
    assert (throttle_ms, error) == (19_000, Error.THROTTLING_QUOTA_EXCEEDED)
    old = _client(cluster).ask(_create("c", 1), 5)
    assert (old.throttle_time_ms, old.topics[0].error_code) == (20_000, Error.NONE)
    deleted = _client(cluster).ask(DeleteTopicsRequest(topic_names=["a"], timeout_ms=9000), 5)
    assert deleted.responses[0].error_code == Error.THROTTLING_QUOTA_EXCEEDED
    grown = CreatePartitionsRequest(
        topics=[CreatePartitionsRequest.Topic(name="t", count=2, assignments=None)],
        timeout_ms=9000,
        validate_only=False,
    )
    answer = _client(cluster).ask(grown, 3)
    assert answer.results[0].error_code == Error.THROTTLING_QUOTA_EXCEEDED
    cluster.advance(21_000)
    assert _created(_client(cluster), "b", 1) == (0, Error.NONE)


def _create(name: str, partitions: int) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=[new_topic(name, partitions)], timeout_ms=9000)


def _created(client: Client, name: str, partitions: int) -> tuple[int, Error]:
    answer = client.ask(_create(name, partitions), 7)
    (topic,) = answer.topics
    if topic.error_code:
        assert topic.error_message is None
    return answer.throttle_time_ms, Error(topic.error_code)


def test_many_requests_are_throttled_by_their_percentage(cluster: Cluster) -> None:
    _set(cluster, request_percentage=0.01)
    times = [_client(cluster).ask(MetadataRequest(topics=[]), 9) for _ in range(30)]
    assert times[0].throttle_time_ms == 0
    assert times[-1].throttle_time_ms == 1000  # never longer than a window


@pytest.mark.parametrize(("size", "number"), [(0, 199), (100_000, 39)])
def test_so_many_are_about_what_a_real_broker_lets_through(
    cluster: Cluster, size: int, number: int
) -> None:
    """One percent; a real one let 139 requests through, and 38 that produce 100 kB."""
    _set(cluster, request_percentage=1.0)
    client = _client(cluster)
    found = 0
    while not _asked(client, size) and found < 1000:
        found += 1
    assert found == number


def _asked(client: Client, size: int) -> int:
    if not size:
        return int(client.ask(MetadataRequest(topics=[]), 9).throttle_time_ms)
    (answer,) = _produce(client, size)
    return int(answer.throttle_time_ms)


def test_the_most_specific_quota_counts(cluster: Cluster) -> None:
    quotas: dict[Any, dict[str, float]] = {}
    order: list[Any] = [
        (("client-id", None),),
        (("client-id", "c"),),
        (("user", None),),
        (("client-id", None), ("user", None)),
        (("client-id", "c"), ("user", None)),
        (("user", "u"),),
        (("client-id", None), ("user", "u")),
        (("client-id", "c"), ("user", "u")),
    ]
    assert limit_of(quotas, "producer_byte_rate", "u", "c") is None
    found = []
    for number, entity in enumerate(order, 1):
        quotas[entity] = {"producer_byte_rate": float(number)}
        found.append(limit_of(quotas, "producer_byte_rate", "u", "c"))
    both, user, client = ("u", "c"), ("u", ""), ("", "c")
    shared = [client, client, user, both, both, user, both, both]
    assert found == [Limit(float(n), each) for n, each in enumerate(shared, 1)]
    assert limit_of(quotas, "consumer_byte_rate", "u", "c") is None


def test_a_rate_is_measured_over_ten_windows_at_least() -> None:
    rate = Rate(WINDOWS)
    rate.record(20_000, 5_000)
    assert rate.throttle_ms(1000, 5_000) == 10_000
    assert rate.throttle_ms(2000, 5_000) == 0
    rate.record(-20_000, 5_000)
    assert rate.throttle_ms(1000, 5_000) == 0


def test_a_bucket_is_full_at_first_and_fills_again() -> None:
    bucket = Bucket(WINDOWS)
    bucket.record(31, 1.0, 1_000_000)
    assert bucket.throttle_ms(1.0, 1_000_000) == 20_000
    assert bucket.throttle_ms(1.0, 1_019_000) == 1_000
    assert bucket.throttle_ms(1.0, 1_020_000) == 0


def test_a_quota_of_0_is_divided_by_as_in_java() -> None:
    rate = Rate(WINDOWS)
    rate.record(10, 0)
    assert rate.throttle_ms(0.0, 0) == -1
    bucket = Bucket(WINDOWS)
    bucket.record(1, 0.0, 0)
    assert bucket.throttle_ms(0.0, 0) == -1
