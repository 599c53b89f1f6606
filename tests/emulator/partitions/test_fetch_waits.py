"""What a waiting fetch waits for: rolls, and which bytes count (semantics C2); what rolls."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.admission import Marker, write_marker
from odradek.wire import Error, Refused

from tests.requests.fetch import asked, fetch_request, only, values
from tests.requests.produce import batch, produce
from tests.support.cluster import Client, client_of

BIG = bytes(600_000)
"""Two of these do not fit into a segment."""
SIZE = len(batch(b"x"))


@pytest.fixture(autouse=True)
def topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 2, {"segment.bytes": "1048576"})


@pytest.mark.parametrize("isolation", [0, 1])
@pytest.mark.parametrize("offset", [0, 1])
def test_a_roll_leaves_a_waiting_fetch_on_an_older_segment_and_wakes_it(
    cluster: Cluster, client: Client, offset: int, isolation: int
) -> None:
    produce(client, batch(BIG))
    part = asked(offset=offset, max_bytes=1 << 24)
    client.send(
        fetch_request(part, max_wait_ms=500, min_bytes=1 << 24, isolation_level=isolation), 12
    )
    produce(client_of(cluster), batch(b"fits"))
    assert client.answers() == []
    produce(client_of(cluster), batch(BIG))
    (answer,) = client.answers()
    assert values(only(answer)) == [BIG, b"fits"][offset:]


def test_one_at_the_log_end_is_woken_by_what_rolls_there(cluster: Cluster, client: Client) -> None:
    produce(client, batch(BIG))
    client.send(fetch_request(asked(offset=1), max_wait_ms=500, min_bytes=1 << 20), 12)
    produce(client_of(cluster), batch(BIG))
    (answer,) = client.answers()
    assert values(only(answer)) == [BIG]


def test_an_offset_on_an_older_segment_is_answered_at_once(client: Client) -> None:
    for _ in range(2):
        produce(client, batch(BIG))
    answer = client.ask(fetch_request(asked(), max_wait_ms=500, min_bytes=1 << 24), 12)
    assert values(only(answer)) == [BIG]


def test_no_more_counts_than_the_limit_of_a_partition(cluster: Cluster, client: Client) -> None:
    parts = asked(0, max_bytes=50), asked(1, max_bytes=50)
    client.send(fetch_request(*parts, max_wait_ms=500, min_bytes=101), 12)
    for partition in (0, 1):
        produce(client_of(cluster), batch(b"x", b"y", b"z"), partition=partition)
    assert client.answers() == []
    cluster.advance(500)
    (answer,) = client.answers()
    assert [values(p) for p in answer.responses[0].partitions] == [[b"x", b"y", b"z"], []]


def test_a_batch_that_is_cut_counts_though_it_is_not_given(
    cluster: Cluster, client: Client
) -> None:
    parts = asked(0, max_bytes=50), asked(1, max_bytes=50)
    client.send(fetch_request(*parts, max_wait_ms=500, min_bytes=100), 12)
    produce(client_of(cluster), batch(b"x"))
    assert client.answers() == []
    produce(client_of(cluster), batch(b"x"), partition=1)
    (answer,) = client.answers()
    found = answer.responses[0].partitions
    assert [len(p.records) for p in found] == [SIZE, 0]
    # The same when it does not come to a wait.
    again = fetch_request(*parts, max_wait_ms=500, min_bytes=100)
    assert [len(p.records) for p in client.ask(again, 12).responses[0].partitions] == [SIZE, 0]


# A batch that needs a new segment begins one before its producer is judged.

WHO: Any = {"producer_id": 4711, "producer_epoch": 3}
FIRST = batch(BIG, base_sequence=0, **WHO)


def bases(cluster: Cluster) -> list[int]:
    return [segment.base_offset for segment in cluster.partition("t", 0).log.segments]


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        (FIRST, 0),  # a duplicate
        (batch(BIG, base_sequence=5, **WHO), Error.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (
            batch(BIG, base_sequence=1, producer_id=4711, producer_epoch=2),
            Error.INVALID_PRODUCER_EPOCH,
        ),
    ],
)
def test_whose_producer_is_refused_has_rolled(
    cluster: Cluster, client: Client, refused: bytearray, error: int
) -> None:
    produce(client, bytearray(FIRST))
    waiting = client_of(cluster)
    waiting.send(fetch_request(asked(offset=1), max_wait_ms=500, min_bytes=1 << 20), 12)
    assert produce(client, bytearray(refused)).error_code == error
    assert bases(cluster) == [0, 1]
    assert waiting.answers() == []
    produce(client, batch(b"fits"))
    assert bases(cluster) == [0, 1]
    (answer,) = waiting.answers()
    assert values(only(answer)) == [b"fits"]


def test_what_is_refused_before_does_not_roll(cluster: Cluster, client: Client) -> None:
    produce(client, bytearray(FIRST))
    control = batch(BIG, base_sequence=1, control=True, **WHO)
    assert produce(client, control).error_code == Error.INVALID_RECORD
    small = batch(b"small", base_sequence=5, **WHO)
    assert produce(client, small).error_code == Error.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert bases(cluster) == [0]


@pytest.mark.parametrize(
    ("epoch", "version", "error", "ends"),
    [
        (2, 0, Error.INVALID_PRODUCER_EPOCH, [0, 1]),
        (3, -1, Error.UNKNOWN_SERVER_ERROR, [0, 1]),
        (-1, 0, Error.UNKNOWN_SERVER_ERROR, [0]),
    ],
)
def test_a_refused_marker_has_rolled_too(
    cluster: Cluster, client: Client, epoch: int, version: int, error: Error, ends: list[int]
) -> None:
    full = batch(bytes(1_048_431), base_sequence=0, **WHO)
    assert len(full) == (1 << 20) - 72, "a marker takes 78 bytes"
    produce(client, full)
    marker = Marker(4711, epoch, True, 0, version)
    with pytest.raises(Refused, match=error.name):
        write_marker(cluster.partition("t", 0), marker, cluster.clock.now(), cluster.groups)
    assert bases(cluster) == ends
