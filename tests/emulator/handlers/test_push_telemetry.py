"""PushTelemetry (semantics J): metrics are taken as a broker with a plug-in would, and dropped."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.wire import NO_ID

from tests.requests.telemetry import push, subscribe
from tests.support.cluster import Client


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
    subscribe(client)
    assert push(client, **pushed) == code
    assert push(client) == 89
    assert subscribe(client).error_code == (0 if may_ask_again else 89)


def test_a_last_push_comes_at_any_time_and_ends_it(client: Client) -> None:
    assert push(client) == 0
    assert push(client, terminating=True) == 0
    assert push(client, terminating=True) == 42
    assert push(client) == 42
    assert push(client, NO_ID) == 42
