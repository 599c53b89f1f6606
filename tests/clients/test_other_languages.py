"""Clients of Go, JavaScript and Rust do everything that a scenario asks, log in, and go on while
three brokers are restarted in turn.

Their columns of the table of docs/clients.md are from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import client as client_named
from odradek.compat import scenarios
from odradek.compat.clients import PROGRAMS
from odradek.compat.clients.programs import Program, ProgramError
from odradek.compat.clients.time_limits import wait_until, within
from odradek.emulator.security.mechanisms import KNOWN, OAUTHBEARER, WITH_PASSWORDS

from tests.clients.support import rows
from tests.clients.support.restarted import restarted_in_turn

USERS = {"alice": "alice's secret"}
PROTOCOLS = ("SASL_PLAINTEXT", "SASL_SSL", "SSL")
# Not what may be read again meanwhile, nor what a client leaves to its user to repeat (kafkajs: a
# transaction whose coordinator has moved).
WHILE_MOVING = ("produces_and_consumes", "a_group_resumes_where_it_committed")
LIMIT_S = 60

Entering = Callable[[str], None]

pytestmark = [pytest.mark.client, pytest.mark.long]


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> Program:
    found = client_named(request.param)
    assert isinstance(found, Program)
    return found


@pytest.fixture
def enter(program: Program, seen_by: Callable[[str, str, str], None]) -> Entering:
    """Enters a test in the results, in a row."""
    return lambda row: seen_by(program.name, program.version, row)


@pytest.mark.parametrize("scenario", scenarios.SCENARIOS)
def test_a_scenario(program: Program, broker: str, scenario: str, enter: Entering) -> None:
    enter(scenario)
    scenarios.run(scenario, program, broker)


@pytest.fixture(scope="module")
def moving() -> Iterator[Emulator]:
    yield from restarted_in_turn()


@pytest.mark.parametrize("scenario", WHILE_MOVING)
def test_a_scenario_while_brokers_restart(
    program: Program, moving: Emulator, scenario: str, enter: Entering
) -> None:
    enter(rows.GOES_ON)
    scenarios.run(scenario, program, moving.bootstrap_servers)


@pytest.fixture(scope="module")
def brokers() -> Iterator[dict[str, Emulator]]:
    made = {}
    for protocol in PROTOCOLS:
        has_sasl = protocol.startswith("SASL")
        config = {"sasl.enabled.mechanisms": ",".join(KNOWN)} if has_sasl else {}
        users = USERS if has_sasl else None
        made[protocol] = Emulator(config, security=protocol, users=users, topics={"t": 1}).start()
    yield made
    for broker in made.values():
        broker.stop()


def topics(program: Program, kafka: Emulator) -> set[str]:
    ask = program.list_topics
    return within(LIMIT_S, program.name, lambda: ask(kafka.bootstrap_servers))


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
@pytest.mark.parametrize("mechanism", WITH_PASSWORDS)
def test_a_user_logs_in(
    program: Program,
    brokers: dict[str, Emulator],
    protocol: str,
    mechanism: str,
    enter: Entering,
) -> None:
    enter(rows.LOGS_IN)
    kafka = brokers[protocol]
    failed = len(kafka.log_in_failures)
    settings = kafka.client_config("confluent", user="alice", mechanism=mechanism)
    assert "t" in topics(program.logging_in(settings), kafka)
    assert len(kafka.log_in_failures) == failed


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_a_token_logs_in(
    program: Program, brokers: dict[str, Emulator], protocol: str, enter: Entering
) -> None:
    enter(rows.SHOWS_TOKEN)
    kafka = brokers[protocol]
    settings = kafka.client_config("confluent", user="bob", mechanism=OAUTHBEARER)
    logging_in = program.logging_in(settings, kafka.unsecured_token("bob"))
    assert "t" in topics(logging_in, kafka)


def test_a_certificate_logs_in(
    program: Program, brokers: dict[str, Emulator], enter: Entering
) -> None:
    enter(rows.SHOWS_CERTIFICATE)
    kafka = brokers["SSL"]
    alice = kafka.certificates.client("alice")
    settings = kafka.client_config("confluent", certificate=alice)
    assert "t" in topics(program.logging_in(settings), kafka)


@pytest.mark.parametrize("mechanism", WITH_PASSWORDS)
def test_a_wrong_password_is_said(
    program: Program, brokers: dict[str, Emulator], mechanism: str, enter: Entering
) -> None:
    enter(rows.SAYS_WHY)
    kafka = brokers["SASL_PLAINTEXT"]
    settings: dict[str, Any] = kafka.client_config("confluent", user="alice", mechanism=mechanism)
    wrong = program.logging_in({**settings, "sasl.password": "wrong"})
    with pytest.raises(ProgramError, match=r"(?i)authentication|invalid credentials"):
        topics(wrong, kafka)
    failed = kafka.log_in_failures[-1]
    assert (failed.user, failed.mechanism, failed.reason) == ("alice", mechanism, "wrong password")


@pytest.mark.parametrize("bad", ["expired", "wrong_host", "foreign"])
def test_it_does_not_trust_every_certificate(program: Program, bad: str, enter: Entering) -> None:
    enter(rows.TRUSTS_FEW)
    with Emulator(security="SSL", topics={"t": 1}) as kafka:
        made = kafka.certificates
        kafka.show_certificate(
            made.foreign().server() if bad == "foreign" else getattr(made, bad)()
        )
        with pytest.raises(ProgramError):
            topics(program.logging_in(kafka.client_config("confluent")), kafka)
        wait_until(lambda: bool(kafka.log_in_failures), "a log-in that failed")
        assert kafka.log_in_failures[-1].mechanism == "TLS"
