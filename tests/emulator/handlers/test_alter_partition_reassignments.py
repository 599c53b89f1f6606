"""AlterPartitionReassignments (semantics O): a move is over when it begins."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest

from tests.requests.leadership import elect, move
from tests.support.cluster import client_of
from tests.support.several_brokers import open_three, placed
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(AlterPartitionReassignmentsRequest))
def test_a_move_is_over_when_it_begins_and_lasts(
    three: Cluster, disk_of_three: MemoryDisk, version: int
) -> None:
    assert move(client_of(three), [3, 1], version) == (0, None)
    assert placed(three) == ([3, 1], [1, 3], 1, 1)  # a replica was removed: one epoch more

    assert elect(client_of(three), [("t", [0])]) == [0, ("t", [0])]
    assert placed(three) == ([3, 1], [1, 3], 3, 2)

    three.close()
    again = open_three(disk_of_three)
    assert placed(again) == ([3, 1], [1, 3], 3, 4)
    again.close()


@pytest.mark.parametrize(
    ("replicas", "error"),
    [
        (None, (85, None)),
        ([], (39, "The manual partition assignment includes an empty replica list.")),
        ([1, 1], (39, "The manual partition assignment includes the broker 1 more than once.")),
        (
            [1, 9],
            (
                39,
                "The manual partition assignment includes broker 9, "
                "but no such broker is registered.",
            ),
        ),
        ([1, 2], (0, None)),
    ],
)
def test_moves_that_are_none(
    three: Cluster, replicas: list[int] | None, error: tuple[int, str | None]
) -> None:
    before = placed(three)
    assert move(client_of(three), replicas) == error
    assert placed(three) == before


def test_the_number_of_replicas_may_be_kept(three: Cluster) -> None:
    code, _ = move(client_of(three), [1, 2, 3], allow_replication_factor_change=False)
    assert code == 38
    assert move(client_of(three), [1, 2, 3]) == (0, None)
    assert move(client_of(three), [1], timeout_ms=0) == (7, None)
