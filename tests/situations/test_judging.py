"""Stories and logs, and what they come to."""

from __future__ import annotations

import pytest

from tests.situations.apps.app import ClientRaised
from tests.situations.judging import Outcome, of_consumer, of_producer, of_transactions
from tests.situations.stage import Sent, Story
from tests.situations.table import cell, insert

OOPS = ClientRaised("Oops", "send()")


def sent(value: bytes, seconds: float = 0.1, **more: object) -> Sent:
    return Sent(value, seconds, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("records", "log", "outcome"),
    [
        ([sent(b"a", 0.2), sent(b"b", 0.4)], [b"a", b"b"], Outcome("recovers", 0.4)),
        ([sent(b"a"), sent(b"b")], [b"a", b"b", b"b"], Outcome("**duplicates**: stored twice")),
        ([sent(b"a")], [b"a"] * 4, Outcome("**duplicates**: stored 4 times")),
        ([sent(b"a"), sent(b"b")], [b"b"], Outcome("**loses** 1 of 2 acknowledged")),
        (
            [sent(b"a", raised=OOPS), sent(b"b")],
            [b"b"],
            Outcome("raises `Oops` to `send()`; then goes on"),
        ),
        (
            [sent(b"a", raised=OOPS), sent(b"b")],
            [b"a", b"b"],
            Outcome("raises `Oops` to `send()`, though it is stored; then goes on"),
        ),
        (
            [sent(b"a", raised=OOPS), sent(b"b", raised=OOPS)],
            [],
            Outcome("raises `Oops` to `send()`; the same for the next record"),
        ),
        (
            [sent(b"a", raised=OOPS), sent(b"b", raised=ClientRaised("Fatal", "send()"))],
            [],
            Outcome("raises `Oops` to `send()`; `Fatal` for the next record"),
        ),
        ([sent(b"a", is_settled=False)], [], Outcome("still tries after 30 s")),
        (
            [sent(b"a", is_settled=False), sent(b"b")],
            [b"b", b"b"],
            Outcome("still tries after 30 s; **duplicates**: stored twice"),
        ),
    ],
)
def test_a_producer(records: list[Sent], log: list[bytes], outcome: Outcome) -> None:
    assert of_producer(Story(sent=records), log) == outcome


@pytest.mark.parametrize(
    ("story", "log", "is_committed", "outcome"),
    [
        (Story(seconds=2), [b"before", b"during", b"still during", b"after"], True, "recovers"),
        (Story(), [b"before", b"after"], True, "**loses** what was committed"),
        (
            Story(raised=[OOPS]),
            [b"before", b"after"],
            False,
            "raises `Oops` to `send()`; after an abort the next transaction works",
        ),
        (
            Story(raised=[OOPS, ClientRaised("Fatal", "abort()")]),
            [b"before"],
            False,
            "raises `Oops` to `send()`; this producer is of no more use (`Fatal`)",
        ),
        (
            Story(raised=[OOPS]),
            [b"before", b"during", b"still during", b"after"],
            False,
            "raises `Oops` to `send()`; after an abort the next transaction works; "
            "what it was told has failed is committed",
        ),
        (
            Story(sent=[sent(b"still during", is_settled=False)], raised=[]),
            [b"before"],
            False,
            "still tries after 30 s",
        ),
    ],
)
def test_transactions(story: Story, log: list[bytes], is_committed: bool, outcome: str) -> None:
    assert of_transactions(story, log, second_committed=is_committed).text == outcome


@pytest.mark.parametrize(
    ("story", "skipped", "outcome"),
    [
        (Story(read=[b"a", b"b"], seconds=1), 0, Outcome("recovers", 1)),
        (Story(read=[b"a", b"a", b"b"], seconds=1), 0, Outcome("reads 1 again; goes on", 1)),
        (Story(read=[b"b"]), 1, Outcome("**skips** 1 of 2 unread")),
        (Story(read=[b"b"]), 0, Outcome("has read only 1 of 2 after 30 s")),
        (Story(), 0, Outcome("has read none of 2 after 30 s")),
        (
            Story(read=[b"a", b"b"], raised=[OOPS, OOPS], seconds=1),
            0,
            Outcome("raises `Oops` to `send()`; goes on", 1),
        ),
        (
            Story(read=[b"a"], raised=[OOPS, ClientRaised("Other", "poll()")]),
            0,
            Outcome("raises `Oops` to `send()`, then `Other`; has read only 1 of 2 after 30 s"),
        ),
    ],
)
def test_a_consumer(story: Story, skipped: int, outcome: Outcome) -> None:
    assert of_consumer(story, [b"a", b"b"], skipped) == outcome


@pytest.mark.parametrize(
    ("outcomes", "text"),
    [
        ([], ""),
        ([Outcome("recovers", 0.14)] * 3, "recovers (0.1 s)"),
        ([Outcome("recovers", 0.14), Outcome("recovers", 12.3)], "recovers (0.1 to 12 s)"),
        ([Outcome("recovers", 0.01)] * 3, "recovers (under 0.1 s)"),
        ([Outcome("loses")] * 3, "loses"),
        (
            [Outcome("recovers", 1), Outcome("loses"), Outcome("recovers", 2)],
            "2 of 3: recovers (1.0 to 2.0 s)<br>1 of 3: loses",
        ),
    ],
)
def test_a_cell(outcomes: list[Outcome], text: str) -> None:
    assert cell(outcomes) == text


def test_a_page_without_a_place() -> None:
    with pytest.raises(ValueError, match="no place for the table"):
        insert("nothing", "a table")
