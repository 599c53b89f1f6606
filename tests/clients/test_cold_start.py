"""Every stock client does what it must with a broker that is not ready at once. Which errors they
raise meanwhile depends on the machine: `python -m tests.cold_start` counts them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.compat import Client, scenarios
from odradek.emulator import Emulator

SCENARIOS = (
    "produces_and_consumes",
    "produces_idempotently",
    "keeps_transactions_apart",
    "a_group_resumes_where_it_committed",
    "a_later_member_takes_its_share",
    "producing_creates_a_topic",
    "manages_topics",
)


@pytest.fixture(scope="module")
def cold_broker() -> Iterator[str]:
    config = {"group.initial.rebalance.delay.ms": 0}
    with Emulator(config, timing="kafka") as kafka:
        yield kafka.bootstrap_servers


@pytest.mark.client
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_stock_client_gets_over_it(client: Client, cold_broker: str, scenario: str) -> None:
    scenarios.run(scenario, client, cold_broker)
