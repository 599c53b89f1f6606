"""`odradek top`: rates and lags between two looks, and what is printed."""

from __future__ import annotations

import json
from collections.abc import Callable

from odradek import Emulator
from odradek.compat.cli.console.top import GroupSample, Sample, Top

from tests.support.ended import Ended


def seen(at: float, end: int, committed: int, assigned: object = "a", start: int = 0) -> Sample:
    group = GroupSample("Stable", 1, assigned, {("t", 0): committed, ("gone", 0): 3})
    places = {("t", 0): end, ("quiet", 0): 7}
    return Sample(places, {("t", 0): start}, {"t": 1, "quiet": 0}, {"g": group}, at)


def test_rates_are_of_the_time_since_the_last_look() -> None:
    top = Top()
    first = top.look(seen(10.0, 100, 40))
    assert first.topics == [["t", 2, 100, 0, 1], ["quiet", 1, 7, 0, 0]]
    assert first.groups == [["g", "Stable", 1, 60, 0, 0]]
    then = top.look(seen(12.0, 300, 140, "b", 250))
    assert then.topics == [["t", 2, 50, 100, 1], ["quiet", 1, 7, 0, 0]]
    assert then.groups == [["g", "Stable", 1, 160, 50, 1]]
    again = top.look(seen(13.0, 5, 3, "b"))  # created anew
    assert again.topics[1] == ["t", 2, 5, 0, 1]
    assert again.groups == [["g", "Stable", 1, 2, 0, 1]]


def test_a_group_that_has_committed_nothing() -> None:
    top = Top()
    nothing = seen(10.0, 100, -1, start=40)
    assert top.look(nothing).groups == [["g", "Stable", 1, 60, 0, 0]]
    assert top.look(seen(12.0, 100, 90, start=40)).groups == [["g", "Stable", 1, 10, 0, 0]]
    nothing.groups["g"].committed = {}
    assert top.look(nothing).groups == [["g", "Stable", 1, None, 0, 0]]


def test_what_is_printed(command: Callable[..., Ended]) -> None:
    with Emulator(topics={"orders": 2}) as kafka:
        kafka.topic("orders").produce_all(["a", "b", "c"])
        kafka.group("billing").commit({("orders", 0): 1})
        address = kafka.bootstrap_servers
        ended = command("top", address, "--times", "1")
        assert ended.status == 0
        lines = [line.split() for line in ended.output.splitlines()]
        assert lines[0][0] == address
        assert lines[2:4] == [
            ["topic", "partitions", "records", "in/s", "no", "leader"],
            ["orders", "2", "3", "0", "0"],
        ]
        assert lines[5:] == [
            ["group", "state", "members", "lag", "out/s", "rebalances"],
            ["billing", "Empty", "0", "1", "0", "0"],
        ]
        output = command("top", address, "--times", "2", "--every", "0.01", "--json").output
        looks = [json.loads(line) for line in output.splitlines()]
        assert len(looks) == 2
        assert looks[1]["topics"][0]["records"] == 3
        assert looks[1]["groups"][0]["lag"] == 1
