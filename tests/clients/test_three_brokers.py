"""Stock clients at three brokers: all scenarios, also while leaders and coordinators move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import Client, scenarios

from tests.clients.support.restarted import CONFIG, restarted_in_turn
from tests.clients.support.rows import GOES_ON


@pytest.fixture(scope="module")
def calm() -> Iterator[Emulator]:
    with Emulator(CONFIG, brokers=3) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def moving() -> Iterator[str]:
    yield from restarted_in_turn()


@pytest.mark.client
@pytest.mark.parametrize("name", scenarios.SCENARIOS)
def test_a_scenario_at_three_brokers(calm: Emulator, client: Client, name: str) -> None:
    scenarios.run(name, client, calm.bootstrap_servers)


@pytest.mark.client
@pytest.mark.parametrize("name", scenarios.SCENARIOS)
def test_a_scenario_while_brokers_restart(
    moving: str, client: Client, name: str, seen_by: Any
) -> None:
    seen_by(client.name, client.version, GOES_ON)
    scenarios.run(name, client, moving)
