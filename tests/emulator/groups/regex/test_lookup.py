"""Expressions are looked up among all topics in slices, one lookup after the other."""

from __future__ import annotations

import gc
from random import Random
from typing import Any

import pytest
from odradek.emulator.groups.consumer.regex import check_regex
from odradek.emulator.groups.regex import lookup
from odradek.emulator.groups.regex.lookup import PAUSE_MS, SLICE, Lookups
from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from odradek.wire.errors import Error, Refused

from tests.emulator.groups.support.world import World

HEAVY = ".*a.{40}c"
NAMED = 20


class Topics:
    version = 7

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def names(self) -> list[str]:
        return self._names


def names() -> list[str]:
    drawn = Random(1)
    return ["".join(drawn.choices("ab", k=200)) for _ in range(NAMED)] + ["t1", "t2"]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(lookup, "SLICE", SLICE // 10)
    world = World(consumer_assignment_interval_ms=0)
    for name in names()[-4:]:
        world.topics.make(name, 1)
    return world


def beat(world: World, group: str, epoch: int = 0, **more: Any) -> ConsumerGroupHeartbeatResponse:
    if epoch == 0:
        more = {"owned": {}, "rebalance_timeout_ms": 60_000, "names": []} | more
    return world.consumer_beat("a", epoch, group_id=group, **more)


def matched(world: World, group: str) -> dict[str, frozenset[str]]:
    regexes = world.coordinator.consumer.group(group).regexes
    return {text: found.topics for text, found in regexes.items()}


def test_a_short_lookup_is_done_at_once() -> None:
    lookups = Lookups()
    found = lookups.go_on(lookups.new(["t.*", "[", "t1"], Topics(names())), 1000)
    assert found is not None
    assert found.version == 7
    assert found.topics == {"t.*": {"t1", "t2"}, "[": set(), "t1": {"t1"}}


@pytest.mark.slow
def test_a_long_lookup_takes_many_slices_none_of_them_long() -> None:
    lookups, slices = Lookups(), 0
    lookup = lookups.new([HEAVY, "t.*"], Topics(names()))
    found = None
    while found is None:
        found = lookups.go_on(lookup, slices * PAUSE_MS)
        assert -lookups._work.left < SLICE
        slices += 1
    assert slices > 10
    assert found.topics == {HEAVY: set(), "t.*": {"t1", "t2"}}


def test_at_one_moment_no_more_than_a_slice_is_done() -> None:
    lookups = Lookups()
    many = [lookups.new(["t.*"], Topics(["t" * 249] * 100)) for _ in range(50)]
    left = [lookup for lookup in many if lookups.go_on(lookup, 1) is None]
    assert 40 < len(left) < 50
    assert lookups.go_on(left[0], 1) is None
    lookups.allow_slice()
    assert lookups.go_on(left[0], 1) is not None


def test_others_wait_until_a_lookup_is_done_or_given_up() -> None:
    lookups = Lookups()
    heavy, light = lookups.new([HEAVY], Topics(names())), lookups.new(["t"], Topics(names()))
    assert lookups.go_on(heavy, 1) is None
    assert lookups.go_on(light, 100) is None
    del heavy
    gc.collect()
    assert lookups.go_on(light, 200) is not None


def test_a_group_is_answered_meanwhile_and_resolved_in_the_end(world: World) -> None:
    assert beat(world, "g", regex=HEAVY + "|t1").member_epoch == 1
    world.advance(0)
    assert matched(world, "g") == {}
    beat(world, "h", regex="t.*")
    world.advance(PAUSE_MS)
    assert matched(world, "h") == {}
    world.advance(30_000)
    assert matched(world, "g") == {HEAVY + "|t1": {"t1"}}
    assert matched(world, "h") == {"t.*": {"t1", "t2"}}


def test_where_the_clock_stands_still_requests_let_a_lookup_go_on(world: World) -> None:
    epoch = beat(world, "g", regex=HEAVY + "|t1").member_epoch
    asked = 0
    world.advance(0)
    while not matched(world, "g"):
        epoch = beat(world, "g", epoch).member_epoch
        world.advance(0)
        asked += 1
    assert asked > 10
    assert matched(world, "g") == {HEAVY + "|t1": {"t1"}}


def test_what_nobody_subscribes_to_any_more_is_not_kept(world: World) -> None:
    epoch = beat(world, "g", regex=HEAVY).member_epoch
    world.advance(0)
    beat(world, "g", epoch, regex="t1")
    world.advance(30_000)
    assert HEAVY not in matched(world, "g")


def test_a_group_that_is_gone_holds_up_nobody(world: World) -> None:
    beat(world, "g", regex=HEAVY)
    world.advance(0)
    beat(world, "g", -1)
    world.coordinator.delete(["g"])
    beat(world, "h", regex="t.*")
    gc.collect()
    world.advance(PAUSE_MS)
    assert matched(world, "h") == {"t.*": {"t1", "t2"}}


def test_what_cannot_be_read_is_refused_at_once() -> None:
    for text, reason in [
        ("a{99999999999999999999}", "invalid repeat count"),
        ("[[:]", "invalid char"),
    ]:
        with pytest.raises(Refused, match=reason) as refused:
            check_regex(text)
        assert refused.value.error is Error.INVALID_REGULAR_EXPRESSION
    digits = "9" * 30_000
    with pytest.raises(Refused, match="invalid repeat count"):
        check_regex(f"a{{{digits}}}")
    check_regex(f"a{{{digits}")
