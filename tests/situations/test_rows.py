"""The rows, run: with clients whose mistakes are known, and a few with each stock client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.unavailable import Unavailable
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.situations import stage
from tests.situations.apps import CLIENTS, apps
from tests.situations.apps.app import GROUP, PLAIN, TOPIC, Apps
from tests.situations.careless import Careless, forgets, repeats
from tests.situations.rows import ROWS, Row, consumes, produces
from tests.situations.run import play
from tests.situations.stage import Stage
from tests.support.connection import ask

IDEMPOTENT, NOT_IDEMPOTENT = "a producer, idempotent", "a producer, not idempotent"


def lost(kafka: Emulator) -> object:
    return kafka.situations.lost_acknowledgement(TOPIC)


def cut(kafka: Emulator) -> object:
    """The request itself is lost."""
    return kafka.on("Produce", topic=TOPIC).once().disconnect()


@pytest.mark.parametrize(
    ("situation", "client", "text"),
    [
        (lost, Careless(repeats), "**duplicates**: stored twice"),
        (lost, Careless(forgets), "recovers"),
        (cut, Careless(repeats), "recovers"),
        (cut, Careless(forgets), "**loses** 1 of 2 acknowledged"),
    ],
)
def test_producers_that_are_careless(
    situation: Callable[[Emulator], object], client: Apps, text: str
) -> None:
    outcome, timeline = play(Row("a situation", "a producer", produces(PLAIN, situation)), client)
    assert outcome.text == text
    assert "met a rule with its Produce" in timeline


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (2, "recovers"),
        (1, "reads 8 again; goes on"),
        (3, "**skips** 3 of 10 unread"),
    ],
)
def test_consumers_that_are_careless(step: int, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "LIMIT_S", 3.0)  # what is skipped is not waited for

    def nothing(on: Stage) -> None:
        find = FindCoordinatorRequest(coordinator_keys=[GROUP])
        ask(on.bootstrap, find, 4)

    row = Row("nothing", "a consumer", consumes(nothing, after_batches=0))
    outcome, _ = play(row, Careless(step=step))
    assert outcome.text == text


def test_a_situation_that_is_not_met() -> None:
    def other(kafka: Emulator) -> object:
        return kafka.situations.lost_acknowledgement("other")

    outcome, _ = play(Row("a situation", "a producer", produces(PLAIN, other)), Careless())
    assert outcome.text == "does not meet it"


def row(verb: str, application: str) -> Row:
    (found,) = [
        each
        for each in ROWS
        if each.verb.startswith(f"{verb}(") and each.application.startswith(application)
    ]
    return found


def client_named(name: str) -> Any:
    try:
        return apps(name)
    except (ImportError, Unavailable) as reason:
        return pytest.skip(str(reason))


@pytest.mark.client
@pytest.mark.parametrize("name", CLIENTS)
def test_stock_clients(name: str) -> None:
    client = client_named(name)
    outcome, _ = play(row("lost_acknowledgement", NOT_IDEMPOTENT), client)
    assert outcome.text == "**duplicates**: stored twice"
    outcome, timeline = play(row("lost_acknowledgement", IDEMPOTENT), client)
    assert outcome.text == "recovers"
    assert "already appended: not stored twice" in timeline
    outcome, _ = play(row("zombie_consumer", "a consumer"), client)
    assert outcome.text.startswith("raises `")
    assert outcome.text.endswith("; reads 2 again; goes on")


def test_each_row_has_a_name_of_its_own() -> None:
    assert len({each.key for each in ROWS}) == len(ROWS)
