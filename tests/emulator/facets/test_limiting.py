"""throttle and unthrottle: quotas from Python."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from odradek.emulator import Emulator


@pytest.fixture(scope="module")
def running() -> Iterator[Emulator]:
    with Emulator() as kafka:
        yield kafka


@pytest.fixture
def kafka(running: Emulator) -> Emulator:
    running.unthrottle()
    return running


def _quotas(kafka: Emulator) -> dict[Any, dict[str, float]]:
    return kafka.run(lambda cluster: {k: dict(v) for k, v in cluster.metadata.image.quotas.items()})


def test_quotas_are_set_and_taken_away(kafka: Emulator) -> None:
    kafka.throttle(client_id="billing", produce=100, fetch=200)
    kafka.throttle(user="*", client_id="billing", requests=1.5)
    kafka.throttle(user="alice", mutations=2)
    assert _quotas(kafka) == {
        (("client-id", "billing"),): {"producer_byte_rate": 100.0, "consumer_byte_rate": 200.0},
        (("client-id", "billing"), ("user", None)): {"request_percentage": 1.5},
        (("user", "alice"),): {"controller_mutation_rate": 2.0},
    }
    kafka.unthrottle(client_id="billing")
    assert len(_quotas(kafka)) == 2
    kafka.unthrottle()
    assert _quotas(kafka) == {}


def test_a_user_may_be_written_as_a_principal(kafka: Emulator) -> None:
    kafka.throttle(user="User:alice", produce=100)
    kafka.throttle(user="User:*", produce=200)
    assert set(_quotas(kafka)) == {(("user", "alice"),), (("user", None),)}
    kafka.unthrottle(user="alice")
    assert set(_quotas(kafka)) == {(("user", None),)}


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"produce": 1}, ValueError, "say whom: user=, client_id="),
        ({"user": "alice"}, ValueError, "say how fast: produce="),
        ({"user": "alice", "produce": 0}, ValueError, "must be greater than 0"),
        ({"user": "alice", "produce": "fast"}, TypeError, "a rate is a number, not 'fast'"),
        ({"client_id": 5, "produce": 1}, TypeError, "client_id is a str, not 5"),
        ({"client_id": "", "produce": 1}, ValueError, "Empty client-id not supported"),
        ({"user": "alice", "fetch": math.nan}, ValueError, "a rate is a number, not nan"),
        ({"user": "alice", "requests": math.inf}, ValueError, "a rate is a number, not inf"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    kafka: Emulator, given: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        kafka.throttle(**given)
    assert _quotas(kafka) == {}
