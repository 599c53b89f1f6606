"""Fetch: what is read, how long it waits, and what a session leaves out."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import NO_ID, Error
from odradek.wire.api.fetch import FetchRequest, FetchResponse

from tests.requests.fetch import (
    Asked,
    asked,
    fetch,
    fetch_all,
    fetch_request,
    only,
    values,
)
from tests.requests.produce import batch, produce
from tests.support.cluster import Client, client_of
from tests.support.versions import first_and_last

FORGOTTEN = [FetchRequest.ForgottenTopic(topic="t", partitions=[0])]


@pytest.fixture(autouse=True, params=["at once", "in slices"])
def slices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "in slices":  # of one partition each
        monkeypatch.setattr("odradek.emulator.handlers.fetch.A_SLICE", 1)


@pytest.fixture(autouse=True)
def topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 3, {})


def test_what_was_produced_is_read(client: Client) -> None:
    produce(client, batch(b"a", b"b"))
    produce(client, batch(b"c"))
    answer = only(client.ask(fetch_request(asked()), 12))
    assert values(answer) == [b"a", b"b", b"c"]
    assert (answer.high_watermark, answer.last_stable_offset, answer.log_start_offset) == (3, 3, 0)
    assert answer.aborted_transactions is None
    assert values(only(client.ask(fetch_request(asked(offset=1)), 12))) == [b"a", b"b", b"c"]
    assert values(only(client.ask(fetch_request(asked(offset=2)), 12))) == [b"c"]
    committed = only(client.ask(fetch_request(asked(), isolation_level=1), 12))
    assert (values(committed), committed.aborted_transactions) == ([b"a", b"b", b"c"], [])


@pytest.mark.parametrize("offset", [-1, 4])
def test_outside_the_log_is_out_of_range(client: Client, offset: int) -> None:
    produce(client, batch(b"a", b"b", b"c"))
    answer = only(client.ask(fetch_request(asked(offset=offset)), 12))
    assert answer.error_code == Error.OFFSET_OUT_OF_RANGE
    assert (answer.high_watermark, answer.last_stable_offset, answer.log_start_offset) == (-1,) * 3
    assert only(client.ask(fetch_request(asked(offset=3)), 12)).error_code == 0


@pytest.mark.parametrize("limit", [0, 1])
def test_the_first_batch_is_whole_whatever_the_limit(client: Client, limit: int) -> None:
    for partition in (0, 1):
        produce(client, batch(b"a"), partition=partition)
        produce(client, batch(b"b"), partition=partition)
    for given in (
        fetch_request(asked(0, max_bytes=limit), asked(1, max_bytes=limit)),
        fetch_request(asked(0), asked(1), max_bytes=limit),
    ):
        found = client.ask(given, 12).responses[0].partitions
        assert values(found[0]) == [b"a"]
        assert found[1].records == b""


def test_a_limit_cuts_where_it_cuts(client: Client) -> None:
    for _ in range(3):
        produce(client, batch(b"x"))
    size = len(batch(b"x"))
    answer = only(client.ask(fetch_request(asked(max_bytes=size + 10)), 12))
    assert len(answer.records or b"") == size + 10


def test_a_negative_limit_is_an_error_of_the_partition(client: Client) -> None:
    assert (
        only(client.ask(fetch_request(asked(max_bytes=-1)), 12)).error_code == 0
    )  # nothing to read
    produce(client, batch(b"x"))
    assert only(client.ask(fetch_request(asked(max_bytes=-1)), 12)).error_code == -1
    assert only(client.ask(fetch_request(asked(), isolation_level=2), 12)).error_code == -1


def test_a_negative_limit_of_all_is_one_of_the_first_partition_that_is_there(
    client: Client,
) -> None:
    produce(client, batch(b"x"))
    produce(client, batch(b"y"), partition=1)
    answer = client.ask(fetch_request(asked(7), asked(0), asked(1), max_bytes=-1), 12)
    found = {one.partition_index: one.error_code for one in answer.responses[0].partitions}
    assert found == {7: 3, 0: -1, 1: 0}


def test_it_waits_for_the_first_byte(cluster: Cluster, client: Client) -> None:
    client.send(fetch_request(asked(), max_wait_ms=500), 12)
    assert client.answers() == []
    produce(client_of(cluster), batch(b"a"))
    (answer,) = client.answers()
    assert values(only(answer)) == [b"a"]


def test_it_waits_no_longer_than_asked(cluster: Cluster, client: Client) -> None:
    client.send(fetch_request(asked(), max_wait_ms=500), 12)
    cluster.advance(499)
    assert client.answers() == []
    cluster.advance(1)
    (answer,) = client.answers()
    assert (only(answer).error_code, only(answer).records) == (0, b"")


def test_min_bytes_are_reached_by_two_partitions_together(cluster: Cluster, client: Client) -> None:
    producer, size = client_of(cluster), len(batch(b"x"))
    given = fetch_request(asked(0), asked(1), max_wait_ms=500, min_bytes=2 * size)
    client.send(given, 12)
    produce(producer, batch(b"x"), partition=0)
    assert client.answers() == []
    produce(producer, batch(b"x"), partition=1)
    (answer,) = client.answers()
    assert [values(p) for p in answer.responses[0].partitions] == [[b"x"], [b"x"]]


def test_an_unknown_partition_alone_does_not_cut_the_wait(cluster: Cluster, client: Client) -> None:
    client.send(fetch_request(asked(0), asked(9), max_wait_ms=500), 12)
    assert client.answers() == []
    cluster.advance(500)
    (answer,) = client.answers()
    codes = [p.error_code for p in answer.responses[0].partitions]
    assert codes == [0, Error.UNKNOWN_TOPIC_OR_PARTITION]
    # Without a valid one there is nothing to wait for.
    assert only(client.ask(fetch_request(asked(9), max_wait_ms=500), 12)).error_code == 3


def test_deleting_the_topic_wakes_with_an_error(cluster: Cluster, client: Client) -> None:
    client.send(fetch_request(asked(), max_wait_ms=500), 12)
    cluster.topics.delete(cluster.topic("t"))
    cluster.settle()
    (answer,) = client.answers()
    assert only(answer).error_code == Error.UNKNOWN_TOPIC_OR_PARTITION


def test_requests_behind_a_parked_fetch_wait_their_turn(cluster: Cluster, client: Client) -> None:
    client.send(fetch_request(asked(0), max_wait_ms=500), 12)
    client.send(fetch_request(asked(1), max_wait_ms=0), 12)
    assert client.answers() == []
    cluster.advance(500)
    assert [only(a).partition_index for a in client.answers()] == [0, 1]


def test_a_lost_connection_leaves_no_wait_behind(cluster: Cluster, client: Client) -> None:
    timers = len(cluster.timers)
    client.send(fetch_request(asked(), max_wait_ms=1 << 30), 12)
    assert len(cluster.partition("t", 0).waits) == 1
    assert len(cluster.timers) == timers + 1
    client.connection.lost()
    assert cluster.partition("t", 0).waits == []
    assert len(cluster.timers) == timers


def test_leader_epochs(client: Client) -> None:
    def code(epoch: int) -> int:
        return only(client.ask(fetch_request(asked(current_leader_epoch=epoch)), 12)).error_code

    assert [code(-2), code(-1), code(0), code(1)] == [0, 0, 0, Error.UNKNOWN_LEADER_EPOCH]


def test_a_log_that_took_another_course_learns_where(client: Client) -> None:
    produce(client, batch(b"a"))
    beyond = asked(offset=5, last_fetched_epoch=0)
    answer = only(client.ask(fetch_request(beyond), 12))
    assert (answer.error_code, answer.records) == (0, b"")
    assert (answer.diverging_epoch.epoch, answer.diverging_epoch.end_offset) == (0, 1)
    newer = asked(offset=0, last_fetched_epoch=7)
    assert only(client.ask(fetch_request(newer), 12)).error_code == Error.OFFSET_OUT_OF_RANGE


def test_topics_by_id(cluster: Cluster, client: Client) -> None:
    produce(client, batch(b"a"))
    known = cluster.topic("t").id
    answer = client.ask(fetch_request(asked(), topic="", topic_id=known), 13)
    assert answer.responses[0].topic_id == known
    assert values(only(answer)) == [b"a"]
    for unknown in (NO_ID, bytes(15) + b"x"):
        given = fetch_request(asked(), topic="", topic_id=unknown)
        assert only(client.ask(given, 13)).error_code == Error.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize(("replica", "code"), [(-3, 0), (-1, 0), (1, 6), (7, 6)])
def test_followers_are_not_served(client: Client, replica: int, code: int) -> None:
    assert only(client.ask(fetch_request(asked(), replica_id=replica), 12)).error_code == code


# Sessions


def opened(client: Client, *partitions: Asked) -> int:
    answer = client.ask(fetch_request(*partitions, session_epoch=0), 12)
    assert answer.session_id > 0
    return answer.session_id


def test_an_incremental_answer_holds_only_what_changed(client: Client) -> None:
    session = opened(client, asked(0), asked(1), asked(2))
    answer = client.ask(fetch_request(session_id=session, session_epoch=1), 12)
    assert (answer.responses, answer.session_id) == ([], session)
    produce(client, batch(b"a"), partition=1)
    answer = client.ask(fetch_request(session_id=session, session_epoch=2), 12)
    assert (only(answer).partition_index, values(only(answer))) == (1, [b"a"])
    # Not acknowledged by a new offset: sent again.
    answer = client.ask(fetch_request(session_id=session, session_epoch=3), 12)
    assert values(only(answer)) == [b"a"]
    moved = fetch_request(asked(1, offset=1), session_id=session, session_epoch=4)
    assert client.ask(moved, 12).responses == []


def test_a_session_is_forgotten_with_its_last_partition(client: Client) -> None:
    session = opened(client, asked(0), asked(1))
    forget = FetchRequest.ForgottenTopic(topic="t", partitions=[0, 1, 7])
    gone = fetch_request(session_id=session, session_epoch=1, forgotten_topics_data=[forget])
    assert client.ask(gone, 12).session_id == 0
    again = client.ask(fetch_request(session_id=session, session_epoch=2), 12)
    assert again.error_code == Error.FETCH_SESSION_ID_NOT_FOUND


def test_wrong_ids_and_epochs_of_sessions(client: Client) -> None:
    session = opened(client, asked(0))

    def code(session_id: int, epoch: int, version: int = 12) -> int:
        given = fetch_request(session_id=session_id, session_epoch=epoch)
        return client.ask(given, version).error_code

    assert code(session + 1, 1) == Error.FETCH_SESSION_ID_NOT_FOUND
    assert code(0, 3) == Error.FETCH_SESSION_ID_NOT_FOUND
    assert code(session, 7) == Error.INVALID_FETCH_SESSION_EPOCH
    assert code(session, 1, version=13) == Error.FETCH_SESSION_TOPIC_ID_ERROR
    assert code(session, 1) == 0
    assert code(session, -1) == 0
    assert code(session, 2) == Error.FETCH_SESSION_ID_NOT_FOUND


def test_an_errored_partition_is_in_every_answer_and_once_more_after(
    cluster: Cluster, client: Client
) -> None:
    given = fetch_request(asked(0), topic="later", session_epoch=0)
    session = client.ask(given, 12).session_id
    epoch = 1
    for _ in range(2):
        answer = client.ask(fetch_request(session_id=session, session_epoch=epoch), 12)
        assert only(answer).error_code == Error.UNKNOWN_TOPIC_OR_PARTITION
        epoch += 1
    cluster.create_topic("later", 1, {})
    answer = client.ask(fetch_request(session_id=session, session_epoch=epoch), 12)
    assert only(answer).error_code == 0
    answer = client.ask(fetch_request(session_id=session, session_epoch=epoch + 1), 12)
    assert answer.responses == []


def test_a_session_works_from_another_connection(cluster: Cluster, client: Client) -> None:
    session = opened(client, asked(0))
    other = client_of(cluster)
    assert other.ask(fetch_request(session_id=session, session_epoch=1), 12).session_id == session


def test_a_full_cache_gives_no_sessions_until_one_is_old(cluster: Cluster, client: Client) -> None:
    cluster.brokers[1].fetch_sessions._slots = 1
    first = opened(client, asked(0))
    assert client.ask(fetch_request(asked(0), session_epoch=0), 12).session_id == 0
    cluster.advance(120_000)
    assert opened(client, asked(0)) != first
    assert len(cluster.brokers[1].fetch_sessions) == 1


def test_an_id_in_a_session_that_is_deleted_and_made_again(
    cluster: Cluster, client: Client
) -> None:
    known = cluster.topic("t").id
    given = fetch_request(asked(), topic="", topic_id=known, session_epoch=0)
    session = client.ask(given, 13).session_id

    def failed(epoch: int) -> tuple[int, object]:
        """The error of its partition, and what it says of aborted transactions."""
        asked_again = fetch_request(session_id=session, session_epoch=epoch)
        found = only(client.ask(asked_again, 13))
        return found.error_code, found.aborted_transactions

    cluster.topics.delete(cluster.topic("t"))
    assert failed(1) == (Error.UNKNOWN_TOPIC_OR_PARTITION, [])
    cluster.create_topic("t", 1, {})
    assert failed(2) == (Error.INCONSISTENT_TOPIC_ID, None)
    sessionless = fetch_request(asked(), topic="", topic_id=known)
    assert only(client.ask(sessionless, 13)).error_code == Error.UNKNOWN_TOPIC_ID


# What is looked at first, and in which order partitions are answered.


def rows(answer: FetchResponse) -> list[tuple[str, int, int]]:
    """Topic, partition and error of each partition, in the order of the answer."""
    return [
        (topic.topic, part.partition_index, part.error_code)
        for topic in answer.responses
        for part in topic.partitions
    ]


def test_what_does_not_exist_is_answered_last(client: Client) -> None:
    request = fetch_all(("none", [asked()]), ("t", [asked(), asked(9)]))
    assert rows(client.ask(request, 12)) == [("t", 0, 0), ("none", 0, 3), ("t", 9, 3)]


def test_only_a_partition_that_is_not_looked_for_has_an_empty_list_of_aborts(
    client: Client,
) -> None:
    unknown = fetch(client, topic="none", version=13)
    assert (unknown.error_code, unknown.aborted_transactions) == (100, [])
    beyond = fetch(client, 9, isolation_level=1)
    assert (beyond.error_code, beyond.aborted_transactions) == (1, None)


def test_an_isolation_level_that_does_not_exist_refuses_the_whole_fetch(
    cluster: Cluster, client: Client
) -> None:
    answer = client.ask(fetch_request(asked(), isolation_level=2), 12)
    assert (answer.error_code, rows(answer)) == (-1, [("t", 0, -1)])
    by_id = fetch_request(asked(), topic_id=cluster.topic("t").id, isolation_level=2)
    answer = client.ask(by_id, 13)
    assert (answer.error_code, answer.responses) == (-1, [])


@pytest.mark.parametrize(("epoch", "error"), [(-1, 6), (0, 75), (5, 75)])
def test_a_stranger_replica_that_names_the_epoch_is_asked_to_wait(
    client: Client, epoch: int, error: int
) -> None:
    request = fetch_request(asked(current_leader_epoch=epoch), replica_id=7)
    assert only(client.ask(request, 12)).error_code == error


@pytest.mark.parametrize(
    ("offset", "limit", "error"), [(0, -1, -1), (1, -1, 0), (2, -1, 1), (2, 0, 1)]
)
def test_an_offset_is_looked_at_before_the_limits(
    client: Client, offset: int, limit: int, error: int
) -> None:
    produce(client, batch(b"x"))
    assert fetch(client, offset, max_bytes=limit).error_code == error


def test_a_new_session_forgets_nothing(client: Client) -> None:
    opening = fetch_request(asked(), session_epoch=0, forgotten_topics_data=FORGOTTEN)
    assert rows(client.ask(opening, 12)) == [("t", 0, 0)]


def test_a_session_that_is_emptied_is_served_as_none(client: Client) -> None:
    session = client.ask(fetch_request(asked(), session_epoch=0), 12).session_id
    request = fetch_request(
        asked(), session_id=session, session_epoch=1, forgotten_topics_data=FORGOTTEN
    )
    answer = client.ask(request, 12)
    assert (answer.session_id, rows(answer)) == (0, [("t", 0, 0)])


def test_the_first_answer_of_a_session_does_not_turn_its_order(client: Client) -> None:
    produce(client, batch(b"x"))
    session = client.ask(fetch_request(asked(), asked(1), session_epoch=0), 12).session_id
    failing = fetch_request(asked(1, 9), session_id=session, session_epoch=1)
    assert rows(client.ask(failing, 12)) == [("t", 0, 0), ("t", 1, 1)]


@pytest.mark.parametrize("version", first_and_last(FetchRequest))
def test_the_first_and_the_last_version_are_answered_alike(
    cluster: Cluster, client: Client, version: int
) -> None:
    produce(client, batch(b"a", b"b"))
    answer = fetch(client, topic_id=cluster.topic("t").id, version=version)
    assert (answer.error_code, answer.high_watermark, values(answer)) == (0, 2, [b"a", b"b"])
