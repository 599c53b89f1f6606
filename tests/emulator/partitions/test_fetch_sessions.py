"""Fetch sessions without a broker: how many partitions they hold together, and in what memory."""

from __future__ import annotations

import tracemalloc
from random import Random

import pytest
from odradek.emulator.base.turns import carried_out
from odradek.emulator.partitions import fetch_sessions
from odradek.emulator.partitions.fetch_sessions import Session, SessionCache
from odradek.wire import Error, Refused
from odradek.wire.api.fetch import FetchRequest

from tests.requests.fetch import asked, fetch_all, fetch_request

ROOM = 100
EVICTION_MS = 120_000


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> SessionCache:
    monkeypatch.setattr(fetch_sessions, "SIZE_MAX", ROOM)
    return SessionCache(10, Random(1))


def served(cache: SessionCache, request: FetchRequest, now: int = 0) -> Session | None:
    session = cache.begin(request, 12, now)
    if session is None:
        return None
    return session if carried_out(cache.update(session, request, now)) else None


def opened(cache: SessionCache, count: int, *, name: str = "t", now: int = 0) -> Session:
    """A new session that reads so many partitions of a topic."""
    request = fetch_request(*map(asked, range(count)), topic=name, session_epoch=0)
    session = served(cache, request, now)
    assert session is not None
    assert len(session.partitions.all()) == count
    return session


def next_of(session: Session, *partitions: int, forgotten: range = range(0)) -> FetchRequest:
    forgets = [FetchRequest.ForgottenTopic(topic="t", partitions=list(forgotten))]
    return fetch_request(
        *map(asked, partitions),
        session_id=session.id,
        session_epoch=session.epoch,
        forgotten_topics_data=forgets if forgotten else [],
    )


def test_without_room_for_its_partitions_there_is_no_session(cache: SessionCache) -> None:
    assert opened(cache, ROOM).id == 0
    assert opened(cache, 59).id > 0
    assert opened(cache, 40).id == 0
    assert opened(cache, 39).id > 0
    assert len(cache) == 2


def test_room_is_made_by_evicting_what_is_old(cache: SessionCache) -> None:
    old = opened(cache, 59)
    young = opened(cache, 30, now=1)
    assert opened(cache, 60, now=EVICTION_MS).id > 0
    assert len(cache) == 2
    with pytest.raises(Refused):
        served(cache, next_of(old))
    assert served(cache, next_of(young)) is young


def test_a_session_that_grows_beyond_the_room_is_closed(cache: SessionCache) -> None:
    opened(cache, 59)
    session = opened(cache, 30)
    assert served(cache, next_of(session, 30)) is session
    again = next_of(session, *range(100))
    with pytest.raises(Refused) as refused:
        served(cache, again)
    assert refused.value.error is Error.FETCH_SESSION_ID_NOT_FOUND
    assert len(cache) == 1
    assert opened(cache, 39).id > 0


def test_a_full_session_may_change_and_replace_what_it_reads(cache: SessionCache) -> None:
    session = opened(cache, 99)
    assert served(cache, next_of(session, *range(99))) is session
    assert served(cache, next_of(session, 200, forgotten=range(9))) is session
    assert len(session.partitions.all()) == 91
    assert session.partitions.size == 92


def test_topics_that_are_forgotten_leave_nothing(cache: SessionCache) -> None:
    session = opened(cache, 1, name="kept")
    for number in range(3 * ROOM):
        add = fetch_all((f"t-{number}", [asked()]), session_id=session.id)
        add.session_epoch = session.epoch
        assert served(cache, add) is session
        forget = fetch_request(session_id=session.id, session_epoch=session.epoch)
        forget.forgotten_topics_data = [
            FetchRequest.ForgottenTopic(topic=f"t-{number}", partitions=[0, 1])
        ]
        assert served(cache, forget) is session
    assert session.partitions.size == 2


def test_long_names_count_more(cache: SessionCache) -> None:
    assert opened(cache, 1, name="x" * 100 * ROOM).id == 0
    assert opened(cache, 1, name="x" * 10 * ROOM).partitions.size == 12


def test_a_partition_takes_little_memory() -> None:
    count = 8_000
    encoded = fetch_request(*map(asked, range(count)), topic="none", session_epoch=0).encode(12)
    cache = SessionCache(10, Random(1))
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        session = served(cache, FetchRequest.decode(encoded, 12))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert session is not None
    assert len(session.partitions.all()) == count
    assert (after - before) / count < 200


@pytest.mark.parametrize("partition", [-(2**31), -1, 2**31 - 1])
def test_partitions_of_any_number_stay_apart(cache: SessionCache, partition: int) -> None:
    request = fetch_all(("a", [asked(partition)]), ("b", [asked(partition)]), ("a", [asked(0)]))
    request.session_epoch = 0
    session = served(cache, request)
    assert session is not None
    found = [(each.topic.name, each.partition) for each in session.partitions.all()]
    assert found == [("a", partition), ("b", partition), ("a", 0)]
