"""Connections: kept alive, and as many as the configs say."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.hostile.attacks.sockets import metadata_of
from tests.hostile.support.broker import Broker
from tests.hostile.support.clients import Hostile, frame
from tests.hostile.support.setups import VICTIM

KEEPALIVE_TIMER = "02"
ASKED = metadata_of(VICTIM)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc/net/tcp")
def test_the_system_looks_whether_clients_are_there() -> None:
    with Broker() as broker, Hostile(broker.address) as hostile:
        hostile.ask(ASKED, 9)
        ours, theirs = hostile.port, int(broker.address.rpartition(":")[2])
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        (timer,) = (
            row[5].partition(":")[0]
            for row in rows
            if row[1].endswith(f":{theirs:04X}") and row[2].endswith(f":{ours:04X}")
        )
        assert timer == KEEPALIVE_TIMER


def test_an_address_has_as_many_connections_as_it_may() -> None:
    with (
        Broker("--set", "max.connections.per.ip=2") as broker,
        Hostile(broker.address) as first,
        Hostile(broker.address) as second,
    ):
        assert first.ask(ASKED, 9)
        assert second.ask(ASKED, 9)
        with Hostile(broker.address) as third, pytest.raises(EOFError):
            third.ask(ASKED, 9)
        assert first.ask(ASKED, 9)


def test_a_broker_has_as_many_connections_as_it_may() -> None:
    with Broker("--set", "max.connections=1") as broker, ExitStack() as stack:
        with Hostile(broker.address) as first:
            assert first.ask(ASKED, 9)
            second = stack.enter_context(Hostile(broker.address))
            second.send(frame(ASKED, 9))
            assert second.is_silent(0.3)
        assert second.read(1) > 0
