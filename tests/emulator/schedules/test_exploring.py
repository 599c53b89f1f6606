"""explore: a function of the broker under many schedules."""

from __future__ import annotations

from typing import Any

import pytest
from odradek import explore as exported
from odradek.emulator import Emulator
from odradek.emulator.blocking_connection import Connection
from odradek.emulator.schedules import explore
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

ASKED = FindCoordinatorRequest(key="g")


def ask(kafka: Emulator) -> None:
    """Three requests of a client that gives up at once."""
    host, _, port = kafka.bootstrap_servers.rpartition(":")
    connection = Connection(host, int(port), 30)
    try:
        for _ in range(3):
            connection.ask(ASKED, 3)
    finally:
        connection.close()


def test_it_is_exported() -> None:
    assert exported is explore


def test_what_passes() -> None:
    brokers = set()

    def scenario(kafka: Emulator) -> None:
        brokers.add(kafka.bootstrap_servers)
        ask(kafka)

    explore(scenario, seeds=4, kinds=["delay", "coordinator"])
    assert len(brokers) >= 4


def test_what_fails_is_told_with_the_fewest_misfortunes() -> None:
    with pytest.raises((EOFError, OSError)) as raised:
        explore(ask, seeds=20, kinds=["network", "delay"])
    how, rule, again = raised.value.__notes__
    assert how.startswith("seed ")
    assert "1 of " in how
    assert rule.startswith("  kafka.on('FindCoordinator')")
    text = again.partition("schedule=")[2][1:-2]
    with pytest.raises((EOFError, OSError)) as raised:
        explore(ask, schedule=text)
    assert raised.value.__notes__ == [rule, again]
    explore(ask, schedule="FindCoordinator#4 before disconnect")  # which there is not


def test_a_coroutine_is_run() -> None:
    runs = []

    async def scenario(kafka: Emulator) -> None:
        runs.append(kafka)
        ask(kafka)

    explore(scenario, seeds=[7], kinds=["delay"])
    assert len(runs) == 2


def test_what_fails_without_misfortunes_fails() -> None:
    def scenario(kafka: Emulator) -> None:
        raise LookupError("always")

    with pytest.raises(LookupError, match="always") as raised:
        explore(scenario)
    assert not hasattr(raised.value, "__notes__")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"kinds": ["crashes"]}, ValueError, "do you mean 'crash'"),
        ({"seeds": 0}, ValueError, "seeds is how many there are"),
        ({"most": 0}, ValueError, "most is a number"),
        ({"schedule": "x"}, ValueError, "a misfortune is"),
        ({"topic": 3, "seeds": 1}, TypeError, "topic"),
        ({"seeds": 1}, ValueError, "no client has asked for anything"),
    ],
)
def test_other_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        explore(lambda kafka: None, **arguments)
