"""What the client tests share: the brokers, the adapters, and the record of what was seen.

- `broker` is the address of a running broker: Odradek, and with ODRADEK_REAL=1 also a real Apache
  Kafka (marker `real`), where the same tests run a second time.
- `client` is the adapter of each stock client in turn, `any_client` the first that is installed.
- ODRADEK_RESULTS=FILE receives one JSON object per client, scenario and broker, from which the
  support table is made.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from odradek.compat import CLIENTS, Client, RealKafka, Unavailable
from odradek.compat import client as client_named

from tests.clients.support.wanted import WANT_REAL

RESULTS = os.environ.get("ODRADEK_RESULTS", "")
# Members of groups of the new protocol hear of a change by their heartbeat; 5 s is the default.
SOON = {
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "500",
}

_results: list[dict[str, Any]] = []


@pytest.fixture(scope="session")
def broker(request: pytest.FixtureRequest) -> Iterator[str]:
    """Yield the address of the broker under test."""
    with ExitStack() as stack:
        if request.param == "real":
            yield stack.enter_context(RealKafka(config=SOON)).bootstrap_servers
        else:
            from odradek import Emulator

            config: dict[str, str | int] = {"group.initial.rebalance.delay.ms": 0, **SOON}
            yield stack.enter_context(Emulator(config)).bootstrap_servers


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> Client:
    """Return the adapter of each stock client in turn."""
    return client_named(request.param)


@pytest.fixture(scope="session")
def any_client() -> Client:
    """Return the adapter of the first stock client that is installed."""
    missing = []
    for name in CLIENTS:
        try:
            return client_named(name)
        except Unavailable as reason:
            missing.append(str(reason))
    raise Unavailable(" ".join(missing))


@pytest.fixture(scope="session")
def kind(request: pytest.FixtureRequest) -> str:
    """Which broker a fixture is to start: "odradek" or "real"."""
    found: str = request.param
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name in {"broker", "kind"} & {*metafunc.fixturenames}:
        brokers = [pytest.param("odradek")]
        if WANT_REAL:
            brokers.append(pytest.param("real", marks=pytest.mark.real))
        metafunc.parametrize(name, brokers, indirect=True, scope="session")


@pytest.fixture
def seen_by(request: pytest.FixtureRequest, record_property: Any) -> Any:
    """Return a function that enters this test in the results, as (client, version, scenario)."""

    def record(client: str, version: str, scenario: str) -> None:
        callspec = getattr(request.node, "callspec", None)
        params = callspec.params if callspec else {}
        keys = ("broker", "kind", "bootstrap")
        broker = next((params[each] for each in keys if each in params), "odradek")
        entry = {"client": client, "version": version, "scenario": scenario, "broker": broker}
        record_property("result", entry)

    return record


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the outcome of the test itself, or of a setup that went wrong."""
    if report.when == "call" or (report.when == "setup" and not report.passed):
        for name, entry in report.user_properties:
            if name == "result" and isinstance(entry, dict):
                outcome = "not emulated" if hasattr(report, "wasxfail") else report.outcome
                _results.append({**entry, "outcome": outcome, "seconds": round(report.duration, 2)})


def pytest_sessionfinish(session: pytest.Session) -> None:
    # Under xdist the reports of the workers arrive here, in the controller.
    if RESULTS and not hasattr(session.config, "workerinput"):
        path = Path(RESULTS)
        path.parent.mkdir(parents=True, exist_ok=True)
        document = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "results": _results}
        path.write_text(json.dumps(document, indent=1) + "\n")
