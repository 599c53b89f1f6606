"""Clients of Go, JavaScript and Rust do everything that a scenario asks, log in, and go on while
three brokers are restarted in turn.

Their columns of the table of docs/clients.md are from here. With ODRADEK_REAL=1 all of
it is done on a real Kafka, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from odradek.compat import client as client_named
from odradek.compat import scenarios
from odradek.compat.clients import PROGRAMS
from odradek.compat.clients.programs import Program, ProgramError
from odradek.compat.clients.time_limits import wait_until, within
from odradek.emulator.security.login.oauthbearer import unsecured_token
from odradek.emulator.security.mechanisms import OAUTHBEARER, WITH_PASSWORDS

from tests.clients.support import rows
from tests.clients.support.logging_in import TOPIC, USER, LogIns, logging_in
from tests.clients.support.restarted import restarted_in_turn

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
def moving(kind: str) -> Iterator[str]:
    yield from restarted_in_turn(kind)


@pytest.mark.parametrize("scenario", WHILE_MOVING)
def test_a_scenario_while_brokers_restart(
    program: Program, moving: str, scenario: str, enter: Entering
) -> None:
    enter(rows.GOES_ON)
    scenarios.run(scenario, program, moving)


@pytest.fixture(scope="module")
def secured(kind: str) -> Iterator[LogIns]:
    with logging_in(kind) as found:
        yield found


def topics(program: Program, secured: LogIns, listener: str) -> set[str]:
    address, ask = secured.addresses[listener], program.list_topics
    return within(LIMIT_S, program.name, lambda: ask(address))


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
@pytest.mark.parametrize("mechanism", WITH_PASSWORDS)
def test_a_user_logs_in(
    program: Program, secured: LogIns, listener: str, mechanism: str, enter: Entering
) -> None:
    enter(rows.LOGS_IN)
    began = time.time()
    client = program.logging_in(secured.settings(listener, mechanism))
    assert TOPIC in topics(client, secured, listener)
    assert secured.failures(listener, began) == []


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_a_token_logs_in(program: Program, secured: LogIns, listener: str, enter: Entering) -> None:
    enter(rows.SHOWS_TOKEN)
    settings = secured.settings(listener, OAUTHBEARER, user="bob")
    now_ms = round(time.time() * 1000)
    token = unsecured_token("bob", now_ms, now_ms + 3_600_000)
    assert TOPIC in topics(program.logging_in(settings, token), secured, listener)


def test_a_certificate_logs_in(program: Program, secured: LogIns, enter: Entering) -> None:
    enter(rows.SHOWS_CERTIFICATE)
    alice = secured.certificates.client(USER)
    client = program.logging_in(secured.settings("SSL", certificate=alice))
    assert TOPIC in topics(client, secured, "SSL")


@pytest.mark.parametrize("mechanism", WITH_PASSWORDS)
def test_a_wrong_password_is_said(
    program: Program, secured: LogIns, mechanism: str, enter: Entering
) -> None:
    enter(rows.SAYS_WHY)
    began, settings = time.time(), secured.settings("REFUSING", mechanism, password="wrong")
    with pytest.raises(ProgramError, match=r"(?i)authentication|invalid credentials"):
        topics(program.logging_in(settings), secured, "REFUSING")
    if secured.all_failures is not None:
        failed = secured.failures("REFUSING", began)
        reported = {(each.user, each.mechanism, each.reason) for each in failed}
        assert (USER, mechanism, "wrong password") in reported


@pytest.mark.parametrize("listener", ["EXPIRED", "FOREIGN", "WRONG_HOST"])
def test_it_does_not_trust_every_certificate(
    program: Program, secured: LogIns, listener: str, enter: Entering
) -> None:
    enter(rows.TRUSTS_FEW)
    began = time.time()
    with pytest.raises(ProgramError):
        topics(program.logging_in(secured.settings(listener)), secured, listener)
    if secured.all_failures is not None:
        wait_until(lambda: bool(secured.failures(listener, began)), "a log-in that failed")
        assert {each.mechanism for each in secured.failures(listener, began)} == {"TLS"}
