"""A few seconds of it; minutes: `python -m tests.cluster_chaos`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pytest
from odradek.compat import CLIENTS
from odradek.compat import client as client_named

from tests.clients.support.ground import Emulated, Ground, Real
from tests.clients.support.wanted import WANT_REAL
from tests.cluster_chaos.chaos import chaos
from tests.cluster_chaos.worker import KINDS

pytest.importorskip("confluent_kafka")

pytestmark = [pytest.mark.client, pytest.mark.slow]

SECONDS = float(os.environ.get("ODRADEK_CHAOS_S", "4"))
SEED = int(os.environ.get("ODRADEK_CHAOS_SEED", "1"))


@pytest.fixture(
    params=["odradek", *([pytest.param("real", marks=pytest.mark.real)] if WANT_REAL else [])],
)
def ground(request: pytest.FixtureRequest) -> Iterator[Ground]:
    with Real() if request.param == "real" else Emulated() as ground:
        yield ground


@pytest.mark.parametrize("name", CLIENTS)
def test_what_is_acknowledged_stays(ground: Ground, name: str) -> None:
    _whole(ground, name, ("plain", "idempotent"))


@pytest.mark.parametrize(
    "name",
    # kafka-python waits for what it has forgotten (senders.py).
    [pytest.param(name, marks=[pytest.mark.long] * (name == "kafka-python")) for name in CLIENTS],
)
def test_transactions_are_whole(ground: Ground, name: str) -> None:
    counts = _whole(ground, name, KINDS)
    assert counts["committed"] > 0


def _whole(ground: Ground, name: str, kinds: Sequence[str]) -> dict[str, int]:
    client_named(name)  # or it is unavailable
    done, (verdict,) = chaos(ground, [name], SECONDS, SEED, kinds)
    print("\n".join([*done, *verdict.lines()]))
    assert verdict.wrong == []
    assert verdict.counts["plain acknowledged"] > 0
    return verdict.counts
