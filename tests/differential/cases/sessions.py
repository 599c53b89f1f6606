"""Sections C12 and C13: fetch sessions."""

from __future__ import annotations

from typing import Any

from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.fetch import FetchRequest

from ..ask.records import fetch_all, put, wanted
from ..ask.topics import create, id_of
from ..engine.steps import Ask, Close, Steps, seen
from . import case

SESSION = seen("session")
ANY = [("~t", [0])]


def ask(
    epoch: int,
    *partitions: tuple[str, int, int],
    session: Any = SESSION,
    forget: tuple[tuple[str, int], ...] = (),
    on: str = "main",
    version: int | None = None,
    wait_ms: int = 0,
) -> Ask:
    """A fetch in a session: (topic, partition, offset) each."""
    request = fetch_all(
        *((name, [wanted(offset, index)]) for name, index, offset in partitions),
        session_id=session,
        session_epoch=epoch,
        wait_ms=wait_ms,
        min_bytes=1,
        forgotten_topics_data=[
            FetchRequest.ForgottenTopic(topic=name, topic_id=id_of(name), partitions=[index])
            for name, index in forget
        ],
    )
    return Ask(request, version, on=on)


def opened(*partitions: tuple[str, int, int]) -> Steps:
    """A topic of three partitions, and a session of some of them."""
    return [create(partitions=3), put(b"a"), ask(0, *partitions, session=0)]


BOTH = (("~t", 0, 0), ("~t", 1, 0))


@case("C12", each=FetchRequest)
def opening_using_and_closing() -> Steps:
    return [
        *opened(*BOTH),
        ask(1),
        ask(2, ("~t", 0, 1)),
        ask(3),
        put(b"b", partition=1),
        ask(4),
        ask(5, ("~t", 1, 1)),
        ask(6),
        ask(-1, ("~t", 0, 0)),
        ask(7),
    ]


@case("C12", each=FetchRequest)
def ids_and_epochs_that_do_not_fit() -> Steps:
    return [
        *opened(*BOTH),
        ask(5),
        ask(1, session=77),
        ask(1, session=0),
        ask(1),
        ask(1),
        ask(0, *BOTH, session=77),
        ask(-1, *BOTH, session=77),
        ask(-2),
        ask(2),
    ]


@case("C12", each=FetchRequest)
def a_session_opens_anew() -> Steps:
    return [*opened(*BOTH), ask(1), ask(0, ("~t", 2, 0)), ask(1), put(b"x", partition=2), ask(2)]


@case("C12", each=FetchRequest)
def a_session_of_nothing() -> Steps:
    return [create(), ask(0, session=0), ask(1, ("~t", 0, 0)), put(b"x"), ask(2)]


@case("C12", each=FetchRequest)
def sessions_outlive_connections() -> Steps:
    return [*opened(*BOTH), Close(), ask(1), ask(2, on="other"), put(b"x"), ask(3, on="third")]


@case("C12")
def names_and_ids_do_not_mix() -> Steps:
    def at(step: Ask, version: int) -> Ask:
        return Ask(step.request, version)

    return [
        create(partitions=3),
        at(ask(0, *BOTH, session=0), 12),
        at(ask(1), 13),
        at(ask(1), 12),
        at(ask(2), 12),
    ]


@case("C13", each=FetchRequest)
def only_what_changed() -> Steps:
    return [
        *opened(*BOTH, ("~t", 2, 0)),
        ask(1, ("~t", 0, 1)),
        put(b"b", partition=1),
        put(b"c", partition=2),
        ask(2),
        ask(3, ("~t", 1, 1)),
        put(b"d", partition=1),
        ask(4, ("~t", 2, 1)),
        put(b"e"),
        ask(5),
        ask(6),
    ]


@case("C13", each=FetchRequest)
def forgetting() -> Steps:
    return [
        *opened(*BOTH),
        ask(1, forget=(("~t", 0),)),
        ask(2, forget=(("~t", 2), ("~none", 0))),
        ask(3, ("~t", 0, 0), forget=(("~t", 0),)),
        ask(4, forget=(("~t", 1),)),
        ask(5),
    ]


@case("C13", each=FetchRequest)
def errors_in_a_session() -> Steps:
    return [
        *opened(("~t", 0, 9), ("~none", 0, 0), ("~t", 1, 0)),
        ask(1),
        ask(2, ("~t", 0, 0)),
        ask(3, ("~t", 0, 1)),
        ask(4),
        create("~none"),
        ask(5),
        put(b"x", name="~none"),
        ask(6),
    ]


@case("C9, C13", each=FetchRequest)
def a_topic_of_a_session_is_deleted() -> Steps:
    return [
        *opened(*BOTH),
        Ask(DeleteTopicsRequest(topic_names=["~t"], timeout_ms=5000), 5),
        ask(1),
        create("~t", partitions=3),
        ask(2),
    ]
