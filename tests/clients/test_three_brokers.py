"""Stock clients at three brokers: all scenarios, also while leaders and coordinators move."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from odradek import Emulator
from odradek.compat import Client, scenarios

CONFIG = {
    "default.replication.factor": "3",
    "group.initial.rebalance.delay.ms": "0",
    # Members of groups of the new protocol hear of a change by their heartbeat.
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "500",
}


@pytest.fixture(scope="module")
def calm() -> Iterator[Emulator]:
    with Emulator(CONFIG, brokers=3) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def moving() -> Iterator[Emulator]:
    """One broker after the other is restarted, until the end."""
    over = threading.Event()

    def restart_in_turn(kafka: Emulator) -> None:
        while True:
            for broker in kafka.brokers:
                if over.wait(5):
                    return
                broker.stop()
                if over.wait(0.3):
                    return
                broker.start()

    with Emulator(CONFIG, brokers=3) as kafka:
        thread = threading.Thread(target=restart_in_turn, args=(kafka,))
        thread.start()
        try:
            yield kafka
        finally:
            over.set()
            thread.join()


@pytest.mark.client
@pytest.mark.parametrize("name", scenarios.SCENARIOS)
def test_a_scenario_at_three_brokers(calm: Emulator, client: Client, name: str) -> None:
    scenarios.run(name, client, calm.bootstrap_servers)


@pytest.mark.client
@pytest.mark.parametrize("name", scenarios.SCENARIOS)
def test_a_scenario_while_brokers_restart(moving: Emulator, client: Client, name: str) -> None:
    scenarios.run(name, client, moving.bootstrap_servers)
