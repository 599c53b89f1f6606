"""Misfortunes as data, as a text and as rules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator import Emulator
from odradek.emulator.schedules import KINDS, Horizon, Misfortune, Schedule, draw
from odradek.emulator.schedules.drawing import possible
from odradek.emulator.schedules.legal import APIS, DELAYED

GROUP = "billing; of \u00fc"
EACH = possible(dict.fromkeys(DELAYED, 1), KINDS, [GROUP])


@pytest.fixture(scope="module")
def kafka() -> Iterator[Emulator]:
    with Emulator() as kafka:
        yield kafka


def test_every_text_is_read_again() -> None:
    schedule = Schedule(tuple(EACH))
    assert Schedule.parse(str(schedule)) == schedule
    assert Schedule.parse(str(schedule).replace("; ", "\n")) == schedule
    assert Schedule.parse("  ") == Schedule()


def test_every_rule_is_as_its_code(kafka: Emulator) -> None:
    """So what is told can be typed, and does the same."""
    for number, times in ((1, 1), (3, 2)):
        for each in EACH:
            many = times if each.what == "fail" else 1
            misfortune = Misfortune(
                *(each.api, number, each.what, each.when),
                seconds=each.seconds,
                error=each.error,
                times=many,
                group=each.group,
            )
            begun = Schedule((misfortune,)).begin(kafka)
            assert [str(rule) for rule in begun.rules] == [misfortune.code]
            assert begun.happened == ()
            kafka.forget_faults()


def test_the_code_is_python_that_sets_the_rule(kafka: Emulator) -> None:
    from odradek import Error

    for each in EACH:
        rule = eval(each.code, {"kafka": kafka, "Error": Error})
        if not each.function:
            assert str(rule) == each.code
        kafka.forget_faults()


def test_every_kind_can_be_at_every_api_that_it_is_for() -> None:
    assert {each.kind for each in EACH} == set(KINDS)
    for kind in ("network", "rebalance", "crash", "timeout"):
        assert {each.api for each in EACH if each.kind == kind} == set(APIS)


def test_smaller_ones_are_less() -> None:
    def end(misfortune: Misfortune) -> Misfortune:
        while found := misfortune.smaller():
            misfortune = found[-1]
        return misfortune

    assert end(Misfortune("Produce", 2, "delay", seconds=0.4)).seconds == pytest.approx(0.0125, 0.1)
    assert end(Misfortune("EndTxn", 2, "kill", "after")).what == "disconnect"
    assert end(Misfortune("EndTxn", 2, "kick", group="g")).what == "rebalance"
    failing = Misfortune("EndTxn", 2, "fail", error="NOT_COORDINATOR", times=3)
    assert [each.times for each in failing.smaller()] == [1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Produce", "a misfortune is a request, a moment and what happens"),
        ("Produce#x after disconnect", "a misfortune is"),
        ("Produce#1 after explode", "a misfortune is"),
        ("Produce#0 after disconnect", "number is that of a request"),
        ("Prodoce#1 after disconnect", "api is one of Produce,"),
        ("Produce#1 during disconnect", "when is 'before' or 'after'"),
        ("Produce#1 after disconnect 3", "disconnect is followed by nothing more"),
        ("Produce#1 after delay", "delay is followed by seconds"),
        ("Produce#1 after delay -1", "seconds are from 0 to 10"),
        ("Produce#1 after delay soon", "could not convert"),
        ("Produce#1 before fail OOPS 1", "error is the name of an error"),
        ("Produce#1 before fail NOT_LEADER_OR_FOLLOWER 0", "times from 1"),
    ],
)
def test_what_is_no_misfortune(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Schedule.parse(text)


def test_others_that_are_none() -> None:
    with pytest.raises(ValueError, match="what is one of delay, disconnect"):
        Misfortune("Produce", 1, "explode")
    with pytest.raises(ValueError, match="kick needs the id of a group"):
        Misfortune("Produce", 1, "kick")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"kinds": ["networks"]}, ValueError, "'networks'; do you mean 'network'?"),
        ({"kinds": ["q"]}, ValueError, "no kind of misfortune 'q'. There are delay, network"),
        ({"kinds": "network"}, TypeError, r"for instance \('network',\)"),
        ({"kinds": []}, ValueError, "none is given"),
        ({"most": 0}, ValueError, "from 1 on, not 0"),
    ],
)
def test_what_cannot_be_drawn(
    arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        draw(1, Horizon(), **arguments)  # type: ignore[arg-type]
