"""Every stock client does everything a scenario asks, with every broker."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.compat import Client, scenarios

# What the emulator refuses so far. Strict: a scenario that begins to pass must leave this table.
NOT_EMULATED: dict[str, str] = {}


@pytest.mark.client
@pytest.mark.parametrize("scenario", scenarios.SCENARIOS)
def test_a_stock_client(
    client: Client, broker: str, scenario: str, seen_by: Any, request: pytest.FixtureRequest
) -> None:
    seen_by(client.name, client.version, scenario)
    if scenario in NOT_EMULATED and request.node.callspec.params["broker"] == "odradek":
        reason = NOT_EMULATED[scenario]
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    scenarios.run(scenario, client, broker)
