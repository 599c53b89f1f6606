"""What older releases do otherwise, each as a real broker of them has answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.config.group import GROUP_RESOURCE
from odradek.wire import Error
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.consumer_groups import beat
from tests.requests.fetch import asked, fetch_request, only
from tests.requests.offsets import look_up
from tests.requests.produce import batch, produce, produce_request
from tests.support.cluster import Client, client_of, open_cluster
from tests.support.releases import RELEASES


@contextmanager
def broker(release: str, **configs: str) -> Iterator[Client]:
    cluster = open_cluster(release=RELEASES[release], **configs)
    cluster.create_topic("t", 1, {})
    yield client_of(cluster, "app")
    cluster.close()


@pytest.mark.parametrize(("release", "code"), [("3.3", 42), ("2.7", -1)])
def test_an_unknown_type_of_coordinator(release: str, code: int) -> None:
    with broker(release) as app:
        assert app.ask(FindCoordinatorRequest(key="g", key_type=7), 1).error_code == code


@pytest.mark.parametrize(
    ("release", "code"),
    [("3.3", Error.UNKNOWN_TOPIC_OR_PARTITION), ("2.7", Error.LEADER_NOT_AVAILABLE)],
)
def test_a_topic_that_metadata_creates(release: str, code: int) -> None:
    with broker(release) as app:
        request = MetadataRequest(topics=[MetadataRequest.Topic(name="new")])
        assert [app.ask(request, 1).topics[0].error_code for _ in range(2)] == [code, 0]


@pytest.mark.parametrize(("release", "closes"), [("2.8", False), ("2.7", True)])
def test_produce_without_an_entry(release: str, closes: bool) -> None:
    with broker(release) as app:
        app.send(produce_request(b""), 8)
        assert app.is_closed == closes


def test_what_is_no_batch() -> None:
    with broker("2.4") as app:
        assert produce(app, bytes(batch(b"a")) * 2, version=5).error_code == Error.INVALID_RECORD


@pytest.mark.parametrize(("release", "closes"), [("2.4", False), ("2.0", True)])
def test_two_batches_for_one_partition(release: str, closes: bool) -> None:
    with broker(release) as app:
        app.send(produce_request(bytes(batch(b"a")) * 2), 5)
        assert app.is_closed == closes


@pytest.mark.parametrize(("release", "stable"), [("2.4", 1), ("1.1", -1)])
def test_the_stable_offset_of_who_reads_uncommitted(release: str, stable: int) -> None:
    with broker(release) as app:
        produce(app, batch(b"a"), version=5)
        read = [only(app.ask(fetch_request(asked(), isolation_level=each), 5)) for each in (0, 1)]
        assert [each.last_stable_offset for each in read] == [stable, 1]


@pytest.mark.parametrize(("release", "size"), [("3.3", 0), ("2.7", 70)])
def test_a_cut_batch_for_an_old_client(release: str, size: int) -> None:
    with broker(release) as app:
        produce(app, batch(b"a" * 100), version=5)
        read = only(app.ask(fetch_request(asked(max_bytes=70)), 1))
        assert len(read.records or b"") == size


@pytest.mark.parametrize(("release", "code"), [("3.9", 35), ("3.6", 0)])
def test_a_time_before_all(release: str, code: int) -> None:
    with broker(release) as app:
        produce(app, batch(b"a"), version=5)
        found = look_up(app, -5, version=1)
        assert (found.error_code, found.offset) == (code, -1 if code else 0)


@pytest.mark.parametrize(("release", "code"), [("3.9", 0), ("3.6", Error.NOT_ENOUGH_REPLICAS)])
def test_more_replicas_in_sync_than_there_are(release: str, code: int) -> None:
    with broker(release, min_insync_replicas="2") as app:
        assert produce(app, batch(b"a"), version=5).error_code == code


@pytest.mark.parametrize(("release", "names"), [("3.9", []), ("3.6", ["t"])])
def test_topics_that_were_not_asked_for_in_log_directories(release: str, names: list[str]) -> None:
    with broker(release) as app:
        answer = app.ask(DescribeLogDirsRequest(topics=[]), 2)
        assert [each.name for each in answer.results[0].topics] == names


def test_transactions_are_not_verified_before_they_could_be() -> None:
    found = {}
    for name in ("3.6", "3.3", "0.11.0"):
        config = BrokerConfig(release=RELEASES[name])
        found[name] = config.get("transaction.partition.verification.enable")
    assert found == {"3.6": True, "3.3": False, "0.11.0": False}


@pytest.mark.parametrize(("release", "epoch"), [("4.3", 2), ("4.2", 1)])
def test_the_epoch_of_a_first_member(release: str, epoch: int) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        assert beat(app).member_epoch == epoch


@pytest.mark.parametrize(
    ("release", "is_there", "value"), [("4.3", True, "9000"), ("4.2", False, "5000")]
)
def test_configs_of_a_group(release: str, is_there: bool, value: str) -> None:
    with broker(release, group_consumer_heartbeat_interval_ms="9000") as app:
        resource = DescribeConfigsRequest.Resource(
            resource_type=GROUP_RESOURCE, resource_name="g", configuration_keys=None
        )
        answer = app.ask(DescribeConfigsRequest(resources=[resource]), 1)
        found = {each.name: each.value for each in answer.results[0].configs}
        assert ("consumer.assignment.interval.ms" in found) == is_there
        assert found["consumer.heartbeat.interval.ms"] == value
