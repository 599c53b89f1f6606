"""`timing="kafka"` of a broker with sockets: its time is real, whatever the clock does."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.emulator.readiness import figures
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.committed_offsets import commit
from tests.requests.produce import batch, produce
from tests.support.connection import Connection

GIVE_UP_S = 30
STAGE_MS = 400.0


@pytest.fixture(autouse=True)
def _slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else the machine does, no stage is over before it was seen."""
    for stage in ("COMMITTED", "COORDINATOR_KNOWN", "COORDINATOR_ELECTED", "COORDINATOR_LOADED"):
        monkeypatch.setattr(figures, stage, (STAGE_MS,) * len(figures.SHARES))


def until_none(ask: Callable[[], int]) -> list[Error]:
    """The errors until none comes, each kind once, in their order."""
    seen: list[Error] = []
    end = time.monotonic() + GIVE_UP_S
    while error := Error(ask()):
        if error not in seen:
            seen.append(error)
        assert time.monotonic() < end, f"{error.name} for ever"
        time.sleep(0.001)
    return seen


def find(connection: Connection) -> int:
    look = FindCoordinatorRequest(coordinator_keys=["g"], key_type=0)
    return int(connection.ask(look, 4).coordinators[0].error_code)


def write(connection: Connection) -> int:
    return produce(connection, batch(b"a", time=int(time.time() * 1000))).error_code


@pytest.mark.slow
@pytest.mark.parametrize("clock", ["system", "manual", "test"])
def test_it_is_seen_and_goes_away_under_any_clock(clock: str) -> None:
    broker = Emulator(timing="kafka", clock=clock)
    with broker as kafka, Connection(kafka.bootstrap_servers) as one:
        one.ask(MetadataRequest(topics=[MetadataRequest.Topic(name="t")]), 9)
        assert until_none(lambda: write(one))[0] is Error.UNKNOWN_TOPIC_OR_PARTITION
        assert until_none(lambda: find(one)) == [Error.COORDINATOR_NOT_AVAILABLE]
        assert until_none(lambda: commit(one, 1)) == [
            Error.NOT_COORDINATOR,
            Error.COORDINATOR_LOAD_IN_PROGRESS,
        ]


def test_verbs_of_a_test_do_not_meet_it() -> None:
    with Emulator(timing="kafka") as kafka:
        orders = kafka.create_topic("orders", partitions=12)
        orders.produce("espresso")
        assert orders.values() == [b"espresso"]
        kafka.group("billing").commit({("orders", 0): 1})
        assert kafka.group("billing").offsets() == {("orders", 0): 1}


def test_a_reset_begins_anew() -> None:
    with Emulator(timing="kafka") as kafka:
        for _ in range(2):
            with Connection(kafka.bootstrap_servers) as one:
                assert find(one) == Error.COORDINATOR_NOT_AVAILABLE
            kafka.reset()


def test_a_restored_broker_has_the_time_of_its_own_cluster() -> None:
    with Emulator(timing="kafka", topics={"t": 1}) as kafka:
        state = kafka.snapshot()
        with Connection(kafka.bootstrap_servers) as one:
            find(one)
        kafka.restore(state)
        assert kafka.run(lambda cluster: cluster.chain == [cluster.timing])
        with Connection(kafka.bootstrap_servers) as one:
            assert until_none(lambda: find(one)) == [Error.COORDINATOR_NOT_AVAILABLE]


def test_a_restarted_broker_loads_its_groups(tmp_path: Path) -> None:
    for first in (True, False):
        broker = Emulator(timing="kafka", data_dir=tmp_path)
        with broker as kafka, Connection(kafka.bootstrap_servers) as one:
            assert (find(one) == Error.NONE) is not first
            if not first:
                assert commit(one, 1) == Error.NOT_COORDINATOR


def test_a_client_that_hangs_up_while_its_answer_is_held_harms_nobody() -> None:
    with Emulator(timing="kafka") as kafka:
        name = [MetadataRequest.Topic(name="t")]
        with Connection(kafka.bootstrap_servers) as one:
            one.send(MetadataRequest(topics=name), 9)
        with Connection(kafka.bootstrap_servers) as other:
            assert until_none(
                lambda: other.ask(MetadataRequest(topics=name), 9).topics[0].error_code
            )
            assert until_none(lambda: write(other)) in ([], [Error.NOT_LEADER_OR_FOLLOWER])


def test_without_it_nothing_is_refused() -> None:
    with Emulator(topics={"t": 12}) as kafka, Connection(kafka.bootstrap_servers) as one:
        assert (find(one), commit(one, 1), write(one)) == (0, 0, 0)
