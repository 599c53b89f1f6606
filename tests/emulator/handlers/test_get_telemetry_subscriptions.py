"""GetTelemetrySubscriptions (semantics J): answered, not advertised; nothing is wanted."""

from __future__ import annotations

from odradek.emulator.cluster import Cluster
from odradek.emulator.config.telemetry import INTERVAL_MS, subscription_id
from odradek.emulator.handlers.api_versions import served_versions
from odradek.wire import NO_ID

from tests.requests.telemetry import ONE, subscribe
from tests.support.cluster import Client, client_of


def test_nothing_is_wanted(client: Client) -> None:
    answer = subscribe(client)
    assert (answer.error_code, answer.client_instance_id, answer.requested_metrics) == (0, ONE, [])
    assert answer.accepted_compression_types == [4, 3, 1, 2]
    assert (answer.push_interval_ms, answer.telemetry_max_bytes) == (300_000, 1 << 20)
    assert answer.subscription_id == subscription_id(ONE)


def test_the_id_of_a_subscription_is_kafkas() -> None:
    assert subscription_id(NO_ID) == -725132322
    assert subscription_id(b"\1" * 8 + bytes(8)) == -725132322


def test_a_client_without_an_id_gets_one(client: Client) -> None:
    one, two = subscribe(client, NO_ID), subscribe(client, NO_ID)
    assert NO_ID not in (one.client_instance_id, two.client_instance_id)
    assert one.client_instance_id != two.client_instance_id


def test_it_is_not_advertised(cluster: Cluster) -> None:
    assert not {71, 72} & served_versions(cluster.release).keys()


def test_a_client_asks_once_in_an_interval(cluster: Cluster, client: Client) -> None:
    assert subscribe(client).error_code == 0
    assert subscribe(client).error_code == 89
    cluster.advance(INTERVAL_MS)
    assert subscribe(client).error_code == 0
    assert subscribe(client_of(cluster)).error_code == 0
