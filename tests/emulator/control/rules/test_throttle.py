"""A client that is throttled: the broker takes up nothing more on its connection meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from odradek import Emulator, Proxy

from tests.support.asking import Client

LONG_MS = 600_000


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator() as kafka:
        yield kafka


@pytest.fixture(params=["emulator", "proxy"])
def there(request: pytest.FixtureRequest, kafka: Emulator) -> Iterator[Emulator | Proxy]:
    with ExitStack() as stack:
        if request.param == "proxy":
            yield stack.enter_context(Proxy(kafka.bootstrap_servers))
        else:
            yield kafka


def test_the_next_request_waits_and_other_connections_do_not(there: Emulator | Proxy) -> None:
    there.on("ApiVersions", client_id="busy").once().throttle(LONG_MS)
    with Client(there, "busy") as client, Client(there, "busy") as other:
        client.ask()  # which is answered at once
        client.send()
        assert client.hears_nothing()
        other.ask()
        other.ask()


def test_it_is_served_when_the_time_is_over(there: Emulator | Proxy) -> None:
    there.on("ApiVersions").once().throttle(200)
    with Client(there) as client:
        client.ask()
        for _ in range(3):
            client.send()
        assert client.hears_nothing()
        client.sock.settimeout(30)
        assert client.answers(3)


def test_without_muting_a_client_need_not_wait(there: Emulator | Proxy) -> None:
    rule = there.on("ApiVersions").throttle(LONG_MS, mute=False)
    with Client(there) as client:
        for _ in range(3):
            client.ask()
    assert rule.hits == 3
    assert repr(rule).endswith(f".throttle({LONG_MS}, mute=False)")


def test_a_longer_time_counts(kafka: Emulator) -> None:
    kafka.on("ApiVersions").once().throttle(LONG_MS)
    kafka.on("ApiVersions").once().throttle(1)
    with Client(kafka) as client:
        client.ask()
        client.send()
        assert client.hears_nothing()


def test_clients_that_are_kept_over_a_restore_are_served(kafka: Emulator) -> None:
    state = kafka.snapshot()
    kafka.on("ApiVersions").once().throttle(LONG_MS)
    with Client(kafka) as client:
        client.ask()
        client.send()
        assert client.hears_nothing()
        kafka.restore(state, clients="keep")
        assert client.has_answer()
        client.ask()
