"""Every case of a login, asked of the emulator and of a real Kafka; what each principal is."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from tests.differential.logins.brokers import Address, emulated, real
from tests.differential.logins.cases import CASES, Open
from tests.differential.logins.talk import Talk
from tests.differential.logins.users import add_users

_AT_ONCE = 8
_TLS = ("TLS", "MUTUAL")


class Pair(NamedTuple):
    """Where both brokers listen."""

    emulated: dict[str, Address]
    real: dict[str, Address]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with real() as theirs, emulated() as ours:
        for addresses in (theirs, ours):
            add_users(addresses["PLAINTEXT"])
        yield Pair(ours, theirs)


def opener(addresses: dict[str, Address]) -> Open:
    def opened(name: str) -> Talk:
        return Talk(addresses[name], _trusting() if name in _TLS else None)

    return opened


def _trusting() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@pytest.mark.real
def test_every_login_is_answered_as_by_a_real_kafka(pair: Pair) -> None:
    def asked(name: str) -> tuple[str, list[str], list[str]]:
        case = CASES[name]
        return name, case(opener(pair.emulated)), case(opener(pair.real))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(asked, CASES))
    different = {name: (ours, theirs) for name, ours, theirs in found if ours != theirs}
    assert different == {}
