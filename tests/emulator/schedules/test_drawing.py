"""From a seed to a schedule."""

from __future__ import annotations

from collections import Counter

import pytest
from odradek.emulator import Emulator
from odradek.emulator.blocking_connection import Connection
from odradek.emulator.schedules import KINDS, Horizon, draw, watch
from odradek.emulator.schedules.drawing import possible
from odradek.emulator.schedules.legal import DELAYED
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.join_group import JoinGroupRequest

HORIZON = Horizon({"Produce": 4, "Fetch": 30, "EndTxn": 3, "JoinGroup": 2}, ("g",))
SEEDS = range(300)
JOINS = JoinGroupRequest(
    group_id="g", session_timeout_ms=10_000, member_id="", protocol_type="consumer", protocols=[]
)
BEATS = HeartbeatRequest(group_id="h", generation_id=1, member_id="m")


def test_a_seed_draws_the_same_again() -> None:
    schedules = [draw(seed, HORIZON) for seed in SEEDS]
    assert schedules == [draw(seed, HORIZON) for seed in SEEDS]
    assert len(set(schedules)) > 0.9 * len(SEEDS)


def test_a_run_with_some_more_fetches_or_a_heartbeat_draws_nearly_the_same() -> None:
    other = Horizon({**HORIZON.requests, "Fetch": 26, "Heartbeat": 1}, ("g",))
    same = sum(draw(seed, HORIZON) == draw(seed, other) for seed in SEEDS)
    assert same > 0.5 * len(SEEDS)
    for seed in SEEDS:
        mine, others = draw(seed, HORIZON).misfortunes, draw(seed, other).misfortunes
        assert [each for each in others if each.api != "Heartbeat"] == [
            each for each in mine if each in others or each.api == "Heartbeat"
        ]


def test_numbers_are_within_the_horizon() -> None:
    for seed in SEEDS:
        schedule = draw(seed, HORIZON, most=3)
        assert len(schedule.misfortunes) <= 3
        for each in schedule.misfortunes:
            assert 1 <= each.number <= HORIZON.last(each.api)


def test_every_kind_is_drawn_and_those_alone_that_are_asked_for() -> None:
    drawn = Counter(e.kind for seed in SEEDS for e in draw(seed, HORIZON).misfortunes)
    assert set(drawn) == set(KINDS)
    assert min(drawn.values()) > 0.3 * max(drawn.values())
    for kind in KINDS:
        found = {e.kind for seed in SEEDS for e in draw(seed, HORIZON, kinds=[kind]).misfortunes}
        assert found == {kind}


def test_what_is_drawn_is_possible() -> None:
    there = {
        (each.api, each.what, each.when, each.error)
        for each in possible(HORIZON.requests, KINDS, HORIZON.groups)
    }
    drawn = {
        (each.api, each.what, each.when, each.error)
        for seed in range(3000)
        for each in draw(seed, HORIZON).misfortunes
    }
    assert drawn <= there | {(api, "cut", "after", "") for api in DELAYED}
    assert len(drawn) > 0.8 * len(there)


def test_where_nothing_can_happen_nothing_is_drawn() -> None:
    assert draw(1, Horizon({"ApiVersions": 3, "CreateTopics": 1})).misfortunes == ()
    without_groups = Horizon({"Produce": 3})
    assert not any(draw(s, without_groups, kinds=["rebalance"]).misfortunes for s in SEEDS)


def test_what_is_possible_names_its_apis() -> None:
    with pytest.raises(ValueError, match="not 'Prodoce'"):
        possible({"Prodoce": 1}, KINDS, [])
    assert possible({"Produce": 0}, KINDS, []) == []


@pytest.mark.parametrize(
    ("count", "last"),
    [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (7, 8), (9, 12), (13, 16), (17, 24), (25, 32)],
)
def test_numbers_are_rounded_up(count: int, last: int) -> None:
    assert Horizon({"Fetch": count}).last("Fetch") == last


def test_a_horizon_is_watched_over_a_restart() -> None:
    with Emulator() as kafka, watch(kafka) as horizon:
        for _ in range(2):
            host, _, port = kafka.bootstrap_servers.rpartition(":")
            connection = Connection(host, int(port), 30)
            connection.ask(FindCoordinatorRequest(key="g"), 3)
            connection.ask(JOINS, 5)
            connection.ask(BEATS, 4)
            connection.close()
            kafka.restart(clean=False)
        assert kafka.group("g").offsets() == {}  # what the test does itself does not count
    apis = ("ApiVersions", "FindCoordinator", "JoinGroup", "Heartbeat")
    assert horizon.requests == dict.fromkeys(apis, 2)
    assert horizon.groups == ["g"]
