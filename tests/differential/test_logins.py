"""Every case of a login, asked of the emulator and of a real Kafka."""

from __future__ import annotations

import pytest

from tests.differential.logins.brokers import emulated, real
from tests.differential.logins.cases import CASES
from tests.differential.logins.compare import differences
from tests.differential.logins.users import add_users


@pytest.mark.real
def test_every_login_is_answered_as_by_a_real_kafka() -> None:
    with real() as theirs, emulated() as ours:
        for addresses in (theirs, ours):
            add_users(addresses["PLAINTEXT"])
        assert differences(ours, theirs, CASES) == {}


def test_a_login_is_answered_the_same_twice() -> None:
    """What two emulators answer: no case hangs on a time or a random number."""
    names = [name for name in CASES if "session" not in name and "after the end" not in name]
    with emulated() as theirs, emulated() as ours:
        for addresses in (theirs, ours):
            add_users(addresses["PLAINTEXT"])
        assert differences(ours, theirs, names) == {}
