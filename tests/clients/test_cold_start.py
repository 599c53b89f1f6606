"""Every stock client does what it must with a broker that is not ready at once. Which errors they
raise meanwhile depends on the machine: `python -m tests.cold_start` counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import KafkaError, KafkaException
from odradek import Emulator
from odradek.compat import Client, scenarios
from odradek.compat.clients.time_limits import TIMEOUT_S, wait_until

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
def test_a_stock_client_gets_over_it(
    client: Client, cold_broker: str, scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "end_offsets", tried_again(client))
    scenarios.run(scenario, client, cold_broker)


def tried_again(client: Client) -> Callable[[str, str], dict[int, int]]:
    """confluent-kafka asks for the ends once, and its users have to again: docs/timing.md."""
    once = client.end_offsets

    def end_offsets(bootstrap: str, topic: str) -> dict[int, int]:
        found: list[dict[int, int]] = []

        def has_answer() -> bool:
            try:
                found.append(once(bootstrap, topic))
            except KafkaException as error:
                if error.args[0].code() != KafkaError.NOT_LEADER_FOR_PARTITION:
                    raise
            return bool(found)

        wait_until(has_answer, f"the ends of {topic}", TIMEOUT_S)
        return found[0]

    return end_offsets
