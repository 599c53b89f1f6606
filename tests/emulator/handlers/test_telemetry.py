"""GetTelemetrySubscriptions and PushTelemetry: answered, not advertised (semantics J)."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.telemetry import INTERVAL_MS, subscription_id
from odradek.emulator.handlers.api_versions import served_versions
from odradek.wire import NO_ID
from odradek.wire.api.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from odradek.wire.api.push_telemetry import PushTelemetryRequest

from tests.support.cluster import Client, client_of

ONE = bytes(range(16))


def ask(client: Client, client_id: bytes = ONE) -> GetTelemetrySubscriptionsResponse:
    request = GetTelemetrySubscriptionsRequest(client_instance_id=client_id)
    answer: GetTelemetrySubscriptionsResponse = client.ask(request, 0)
    return answer


def push(client: Client, client_id: bytes = ONE, **more: Any) -> int:
    fields: dict[str, Any] = {
        "subscription_id": subscription_id(client_id),
        "terminating": False,
        "compression_type": 0,
        "metrics": b"",
        **more,
    }
    request = PushTelemetryRequest(client_instance_id=client_id, **fields)
    code: int = client.ask(request, 0).error_code
    return code


def test_nothing_is_wanted(client: Client) -> None:
    answer = ask(client)
    assert (answer.error_code, answer.client_instance_id, answer.requested_metrics) == (0, ONE, [])
    assert answer.accepted_compression_types == [4, 3, 1, 2]
    assert (answer.push_interval_ms, answer.telemetry_max_bytes) == (300_000, 1 << 20)
    assert answer.subscription_id == subscription_id(ONE)


def test_the_id_of_a_subscription_is_kafkas() -> None:
    assert subscription_id(NO_ID) == -725132322
    assert subscription_id(b"\1" * 8 + bytes(8)) == -725132322


def test_a_client_without_an_id_gets_one(client: Client) -> None:
    one, two = ask(client, NO_ID), ask(client, NO_ID)
    assert NO_ID not in (one.client_instance_id, two.client_instance_id)
    assert one.client_instance_id != two.client_instance_id


def test_neither_is_advertised(cluster: Cluster) -> None:
    assert not {71, 72} & served_versions(cluster.release).keys()


def test_a_client_asks_once_in_an_interval(cluster: Cluster, client: Client) -> None:
    assert ask(client).error_code == 0
    assert ask(client).error_code == 89
    cluster.advance(INTERVAL_MS)
    assert ask(client).error_code == 0
    assert ask(client_of(cluster)).error_code == 0


@pytest.mark.parametrize(
    ("pushed", "code", "may_ask_again"),
    [
        ({}, 0, False),
        ({"subscription_id": 5}, 117, True),
        ({"compression_type": 9}, 76, True),
        ({"metrics": b"x" * ((1 << 20) + 1)}, 118, False),
        ({"compression_type": 1, "metrics": b"junk"}, 87, False),
    ],
)
def test_pushes(client: Client, pushed: dict[str, Any], code: int, may_ask_again: bool) -> None:
    ask(client)
    assert push(client, **pushed) == code
    assert push(client) == 89
    assert ask(client).error_code == (0 if may_ask_again else 89)


def test_a_last_push_comes_at_any_time_and_ends_it(client: Client) -> None:
    assert push(client) == 0
    assert push(client, terminating=True) == 0
    assert push(client, terminating=True) == 42
    assert push(client) == 42
    assert push(client, NO_ID) == 42
