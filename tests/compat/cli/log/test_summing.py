"""What repeats is summed up: how often, of how many, and which ones most."""

from __future__ import annotations

from odradek.compat.cli.log.aggregation import ENDED_S, ONE_BY_ONE, PERIOD_S, Summing
from odradek.compat.cli.log.event_log import Digest
from odradek.compat.cli.log.levels import INFO, LogLine
from odradek.emulator.base.event import Event
from odradek.wire import Error


class Log:
    """What is told of things said at given times."""

    def __init__(self) -> None:
        self.summing = Summing()
        self.now = 0.0

    def said(self, about: str, kind: str = "rebalanced", **more: str) -> list[str]:
        said = LogLine(0, INFO, kind, f"{about} {kind}", about, **more)  # type: ignore[arg-type]
        return [each.sentence for each in self.summing.take(said, self.now)]

    def due(self, after_s: float = 0.0) -> list[str]:
        self.now += after_s
        return [each.sentence for each in self.summing.due(self.now, 0)]


def test_the_first_ones_are_reported_one_by_one_and_the_others_when_they_have_ended() -> None:
    log = Log()
    lines = [log.said(f"g{number % 60}") for number in range(412)]
    assert [len(each) for each in lines] == [1] * ONE_BY_ONE + [0] * (412 - ONE_BY_ONE)
    assert log.due(ENDED_S - 1) == []
    assert log.due(1) == ["409 more rebalances, of 60 groups; most: g3 (7), g4 (7), g5 (7)"]
    assert log.due(1) == []


def test_what_goes_on_is_reported_once_a_minute() -> None:
    log = Log()
    lines: list[str] = []
    for _ in range(600):
        lines += log.said("billing")
        lines += log.due(1)
    lines += log.due(2 * PERIOD_S)
    assert lines[:ONE_BY_ONE] == ["billing rebalanced"] * ONE_BY_ONE
    first, *others = lines[ONE_BY_ONE:]
    assert first == "57 more rebalances in 56.0 s, all of billing"
    assert others == ["60 more rebalances in 59.0 s, all of billing"] * 9


def test_what_was_summed_up_is_reported_again_after_a_quiet_minute() -> None:
    log = Log()
    for _ in range(200):
        log.said("billing")
        log.due(1)
    log.due(PERIOD_S)
    log.due(PERIOD_S)
    assert log.said("billing") == ["billing rebalanced"]


def test_bursts_within_a_minute_are_one_sum() -> None:
    log = Log()
    lines: list[str] = []
    for _ in range(9):  # one each 6 s: each would end before the next
        lines += log.said("billing")
        lines += log.due(6)
    assert lines[ONE_BY_ONE:] == ["billing rebalanced"]
    assert log.due(PERIOD_S) == ["5 more rebalances in 24.0 s, all of billing"]


def test_one_kind_does_not_hide_another() -> None:
    log = Log()
    for _ in range(50):
        log.said("billing")
    assert log.said("billing", "group empty") == ["billing group empty"]
    assert log.said("a file", "broker", key="torn") == ["a file broker"]


def test_of_a_kind_without_a_name_the_last_one_is_quoted() -> None:
    log = Log()
    for number in range(ONE_BY_ONE + 3):
        log.said(f"user-{number % 2}", "log-in refused")
    assert log.due(ENDED_S) == ['3 more like "user-1 log-in refused"; most: user-1 (2), user-0 (1)']


def test_an_event_that_counts_up_is_reported_again() -> None:
    digest = Digest()
    fields = {"client": "app", "api": "Produce", "error": Error.NOT_LEADER_OR_FOLLOWER}
    event = Event("refused", 0, 0.0, 0.0, **fields)  # type: ignore[arg-type]
    (first,) = digest.take(event, 0.0)
    assert first.sentence == "app was refused Produce: NOT_LEADER_OR_FOLLOWER"
    event.count += 500
    (later,) = digest.due(PERIOD_S, 0)
    assert later.sentence == "500 more refusals, all of app: Produce, NOT_LEADER_OR_FOLLOWER"
    assert list(digest.end(PERIOD_S, 0)) == []


def test_thousands_of_kinds_and_places_take_bounded_memory() -> None:
    log = Log()
    for number in range(3000):
        log.said("a", f"kind-{number}")
    for number in range(30_000):
        log.said(f"g{number}")
    (line,) = log.due(ENDED_S)
    assert line.startswith("29,997 more rebalances, of 10,001 groups; most: g3 (1)")
