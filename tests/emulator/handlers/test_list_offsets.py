"""ListOffsets (semantics D1, D2): times, and the special ones that each version knows."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.list_offsets import ListOffsetsRequest

from tests.requests.offsets import (
    EARLIEST,
    LATEST,
    delete_before,
    list_offsets_request,
    look_up,
)
from tests.requests.produce import batch, produce
from tests.support.clock import NOW
from tests.support.cluster import Client
from tests.support.transactional_producer import TxnClient
from tests.support.versions import first_and_last

LATEST_TIME, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -3, -4, -5, -6
NOT_KNOWN = (Error.UNSUPPORTED_VERSION, -1, -1)
NOTHING = (Error.NONE, -1, -1)
UNCOMMITTED, COMMITTED = 0, 1


@pytest.fixture(autouse=True)
def _topic(cluster: Cluster, client: Client) -> None:
    """Offsets 0 to 3 of t-0 have the times 0, 10, 20 and 5."""
    cluster.create_topic("t", 2, {})
    for time in (0, 10, 20, 5):
        assert produce(client, batch(b"v", time=NOW + time)).error_code == 0


def found(client: Client, time: int, version: int) -> tuple[Error, int, int]:
    """Error, time (after the first record's) and offset."""
    answer = look_up(client, time if time < 0 else NOW + time, version=version)
    when = answer.timestamp - NOW if answer.timestamp >= 0 else answer.timestamp
    return Error(answer.error_code), when, answer.offset


# As a real broker of 4.3.1 answered them. Each special time is known from some version on.
@pytest.mark.parametrize(
    ("time", "since", "answer"),
    [
        (LATEST, 1, (Error.NONE, -1, 4)),
        (EARLIEST, 1, (Error.NONE, -1, 0)),
        (LATEST_TIME, 7, (Error.NONE, 20, 2)),
        (EARLIEST_LOCAL, 8, (Error.NONE, -1, 0)),
        (LATEST_TIERED, 9, NOTHING),
        (EARLIEST_PENDING_UPLOAD, 11, NOTHING),
        (-7, 99, NOTHING),
        (0, 1, (Error.NONE, 0, 0)),
        (6, 1, (Error.NONE, 10, 1)),
        (11, 1, (Error.NONE, 20, 2)),
        (21, 1, NOTHING),
    ],
)
@pytest.mark.parametrize("version", [*first_and_last(ListOffsetsRequest), 5, 7, 8, 9, 10])
def test_times_and_offsets(
    client: Client, version: int, time: int, since: int, answer: tuple[Error, int, int]
) -> None:
    assert found(client, time, version) == (answer if version >= since else NOT_KNOWN)


@pytest.mark.parametrize(("version", "epoch"), [(3, -1), (4, 0)])
def test_the_leader_epoch_is_reported_from_version_4_on(
    client: Client, version: int, epoch: int
) -> None:
    assert look_up(client, LATEST, version=version).leader_epoch == epoch
    assert look_up(client, NOW, version=version).leader_epoch == epoch
    assert look_up(client, NOW + 99, version=version).leader_epoch == -1


def test_what_was_deleted_is_not_found(client: Client) -> None:
    assert delete_before(client, 3) == 3
    assert look_up(client, EARLIEST).offset == 3
    assert look_up(client, NOW).offset == 3


def test_committed_readers_see_no_further_than_the_last_stable_offset(
    cluster: Cluster, client: Client
) -> None:
    TxnClient(cluster).begin().write(b"open")
    ends = [look_up(client, LATEST, isolation=how).offset for how in (UNCOMMITTED, COMMITTED)]
    assert ends == [5, 4]


@pytest.mark.parametrize(
    ("topic", "partition"), [("none", 0), ("t", 2), ("t", -1), ("", 0), ("a b", 0)]
)
def test_there_must_be_such_a_partition(client: Client, topic: str, partition: int) -> None:
    answer = look_up(client, LATEST, topic=topic, partition=partition)
    assert Error(answer.error_code) is Error.UNKNOWN_TOPIC_OR_PARTITION
    assert (answer.offset, answer.timestamp) == (-1, -1)


@pytest.mark.parametrize(
    ("epoch", "error"),
    [
        (0, Error.NONE),
        (-1, Error.NONE),
        (1, Error.UNKNOWN_LEADER_EPOCH),
        (-2, Error.FENCED_LEADER_EPOCH),
    ],
)
def test_the_leader_epoch_must_be_the_brokers(client: Client, epoch: int, error: Error) -> None:
    answer = look_up(client, LATEST, current_leader_epoch=epoch)
    assert Error(answer.error_code) is error


def test_the_request_is_judged_before_the_partition(client: Client) -> None:
    assert look_up(client, -9, topic="none").error_code == Error.UNSUPPORTED_VERSION
    twice = client.ask(list_offsets_request(LATEST, EARLIEST), 6)
    (topic,) = twice.topics
    assert [part.error_code for part in topic.partitions] == [Error.INVALID_REQUEST]
    odd = client.ask(list_offsets_request(LATEST, EARLIEST, isolation=2), 6)
    codes = [part.error_code for each in odd.topics for part in each.partitions]
    assert codes == [Error.UNKNOWN_SERVER_ERROR] * 2
