"""The journal: seldom things one by one, frequent ones summed up, bounded."""

from __future__ import annotations

from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.journal import Journal
from odradek.wire import Error


def test_the_same_thing_again_is_counted_up() -> None:
    journal = Journal(ManualClock(5))
    for offset in range(3):
        journal.run("appended", "app", "orders", 0, offset, offset)
    journal.run("appended", "app", "orders", 1, 7, 9)
    first, second = journal.events()
    assert (first.count, first.first_offset, first.last_offset, first.time) == (3, 0, 2, 5)
    assert first.elapsed <= first.until
    assert (second.partition, second.count, second.last_offset) == (1, 1, 9)


def test_a_seldom_event_ends_what_is_summed_up() -> None:
    journal = Journal(ManualClock(0))
    journal.run("fetched", "app", "orders", 0)
    journal.add("joined", client="app", group="g", member="m")
    journal.run("fetched", "app", "orders", 0)
    assert [event.kind for event in journal.events()] == ["fetched", "joined", "fetched"]


def test_of_commits_and_refusals_the_first_is_reported_and_the_others_counted() -> None:
    journal = Journal(ManualClock(0))
    received: list[tuple[str, int]] = []
    journal.on_event = lambda event: received.append((event.kind, event.last_offset))
    for offset in (7, 9):
        journal.again("committed", offset, "app", "orders", 0, "g")
        journal.refused("app", "Heartbeat", Error.UNKNOWN_MEMBER_ID, group="g")
        journal.refused("app", "Heartbeat", Error.ILLEGAL_GENERATION, group="g")
    committed, refused, fenced = journal.events()
    assert received == [("committed", 7), ("refused", -1), ("fenced", -1)]
    assert (committed.count, committed.first_offset, committed.last_offset) == (2, 7, 9)
    assert [(each.kind, each.count) for each in (refused, fenced)] == [
        ("refused", 2),
        ("fenced", 2),
    ]
    assert refused.reason == "it is no member of the group, or no more"


def test_what_is_kept_is_bounded() -> None:
    journal = Journal(ManualClock(0), most=3)
    for number in range(10):
        journal.add("connected", client=str(number))
    assert [event.client for event in journal.events()] == ["7", "8", "9"]


def test_a_journal_that_keeps_none_tells_none() -> None:
    journal = Journal(ManualClock(0), most=0)
    received: list[object] = []
    journal.on_event = received.append
    journal.add("connected", client="app")
    journal.run("appended", "app", "orders", 0)
    assert (journal.events(), received) == ([], [])


def test_what_a_reader_got_does_not_change() -> None:
    journal = Journal(ManualClock(0))
    journal.run("appended", "app", "orders", 0, 0, 0)
    (before,) = journal.events()
    journal.run("appended", "app", "orders", 0, 1, 1)
    assert before.count == 1


def test_an_event_concerns_its_topic_and_its_group() -> None:
    journal = Journal(ManualClock(0))
    journal.add("committed", group="g", topic="orders")
    (event,) = journal.events()
    assert event.concerns(topic="orders")
    assert event.concerns(topic="other", group="g")
    assert not event.concerns(topic="other", group="")
