"""Leader epochs: which one an offset belongs to, and where one ends."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from odradek.storage.checkpoints import CheckpointError
from odradek.storage.epochs import EpochEntry, LeaderEpochs

from tests.support.drawn import examples


def epochs(*entries: tuple[int, int]) -> LeaderEpochs:
    made = LeaderEpochs()
    for epoch, start_offset in entries:
        made.assign(epoch, start_offset)
    return made


# Epochs 2 and 5 lie in the log, which ends at 30; 3, 4 were never written under.
@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (5, (5, 30)),
        (4, (2, 20)),
        (3, (2, 20)),
        (2, (2, 20)),
        (1, (1, 10)),
        (0, (0, 10)),
        (6, (-1, -1)),
        (-1, (-1, -1)),
    ],
)
def test_an_epoch_ends_where_the_next_one_starts(asked: int, answer: tuple[int, int]) -> None:
    assert epochs((2, 10), (5, 20)).end_offset_for(asked, 30) == answer


def test_without_epochs_nothing_is_known() -> None:
    assert epochs().end_offset_for(0, 0) == (-1, -1)
    assert epochs().latest == -1
    assert epochs().epoch_at(0) == -1


def test_an_empty_log_with_a_leader_answers_its_end() -> None:
    assert epochs((0, 0)).end_offset_for(0, 0) == (0, 0)


def test_an_emptied_log_answers_its_end() -> None:
    emptied = epochs((0, 0))
    emptied.truncate_from_start(1700)

    assert emptied.end_offset_for(0, 1700) == (0, 1700)


@pytest.mark.parametrize(
    ("before", "epoch", "start", "after"),
    [
        ([], 0, 0, [(0, 0)]),
        ([(0, 0)], 1, 5, [(0, 0), (1, 5)]),
        ([(0, 0)], 1, 0, [(1, 0)]),
        ([(0, 0), (1, 5)], 2, 5, [(0, 0), (2, 5)]),
        ([(0, 0), (1, 5)], 2, 3, [(0, 0), (2, 3)]),
        ([(0, 0), (1, 5)], 1, 3, [(0, 0), (1, 3)]),
        ([(0, 0), (1, 5), (3, 9)], 2, 12, [(0, 0), (1, 5), (2, 12)]),
        ([(0, 0), (1, 5)], 0, 8, [(0, 8)]),
    ],
)
def test_a_new_epoch_replaces_what_stands_at_or_behind_it(
    before: list[tuple[int, int]], epoch: int, start: int, after: list[tuple[int, int]]
) -> None:
    history = epochs(*before)

    assert history.assign(epoch, start)
    assert history.entries == after


def test_more_of_the_latest_epoch_changes_nothing() -> None:
    history = epochs((0, 0), (1, 5))

    assert not history.assign(1, 5)
    assert not history.assign(1, 900)
    assert history.entries == [(0, 0), (1, 5)]


def test_negative_epochs_and_offsets_are_not_taken() -> None:
    with pytest.raises(ValueError, match="epoch -1 cannot start at offset 0"):
        epochs().assign(-1, 0)
    with pytest.raises(ValueError, match="epoch 0 cannot start at offset -1"):
        epochs().assign(0, -1)


@pytest.mark.parametrize(
    ("offset", "epoch"), [(0, -1), (9, -1), (10, 2), (19, 2), (20, 5), (1000, 5)]
)
def test_an_offset_belongs_to_the_epoch_that_started_last(offset: int, epoch: int) -> None:
    assert epochs((2, 10), (5, 20)).epoch_at(offset) == epoch


@pytest.mark.parametrize(
    ("offset", "after"),
    [
        (25, [(2, 10), (5, 20)]),
        (21, [(2, 10), (5, 20)]),
        (20, [(2, 10)]),
        (11, [(2, 10)]),
        (10, []),
        (0, []),
    ],
)
def test_truncation_drops_epochs_that_start_behind_the_end(
    offset: int, after: list[tuple[int, int]]
) -> None:
    history = epochs((2, 10), (5, 20))

    assert history.truncate_from_end(offset) == (after != [(2, 10), (5, 20)])
    assert history.entries == after


@pytest.mark.parametrize(
    ("offset", "after"),
    [
        (0, [(2, 10), (5, 20)]),
        (10, [(2, 10), (5, 20)]),
        (11, [(2, 11), (5, 20)]),
        (20, [(5, 20)]),
        (25, [(5, 25)]),
    ],
)
def test_raising_the_log_start_moves_the_epoch_it_falls_into(
    offset: int, after: list[tuple[int, int]]
) -> None:
    history = epochs((2, 10), (5, 20))

    assert history.truncate_from_start(offset) == (after != [(2, 10), (5, 20)])
    assert history.entries == after


def test_deleting_records_moves_the_line_of_the_file() -> None:
    history = LeaderEpochs.from_checkpoint(b"0\n1\n0 0\n")
    history.truncate_from_start(1700)

    assert history.to_checkpoint() == b"0\n1\n0 1700\n"


# As Kafka 4.3.1 takes them.
@pytest.mark.parametrize(
    ("text", "entries"),
    [
        (b"", []),
        (b"0\n0\n", []),
        (b"0\n2\n0 0\n1 5\n", [(0, 0), (1, 5)]),
        (b"0\n2\n1 5\n0 0\n", [(0, 0)]),
        (b"0\n2\n0 5\n1 0\n", [(1, 0)]),
        (b"0\n2\n0 0\n0 7\n", [(0, 0)]),
        (b"0\n3\n0 0\n2 10\n1 20\n", [(0, 0), (1, 20)]),
    ],
)
def test_lines_of_a_checkpoint_are_taken_in_turn(
    text: bytes, entries: list[tuple[int, int]]
) -> None:
    assert LeaderEpochs.from_checkpoint(text).entries == entries


def test_a_malformed_checkpoint_is_named() -> None:
    with pytest.raises(CheckpointError, match="orders-0/leader-epoch-checkpoint, line 3"):
        LeaderEpochs.from_checkpoint(b"0\n1\n0\n", "orders-0/leader-epoch-checkpoint")


def test_a_follower_knows_of_an_epoch_from_its_first_batch_on() -> None:
    epochs = LeaderEpochs()
    epochs.assign(0, 0)
    assert epochs.end_offset_for(0, 0) == (0, 0)
    assert epochs.end_offset_for(0, 0, is_leader=False) == (-1, -1)
    assert epochs.end_offset_for(0, 2, is_leader=False) == (0, 2)
    epochs.assign(3, 2)
    assert epochs.end_offset_for(3, 2) == (3, 2)
    assert epochs.end_offset_for(3, 2, is_leader=False) == (-1, -1)
    assert epochs.end_offset_for(0, 2, is_leader=False) == (0, 2)
    assert epochs.end_offset_for(3, 4, is_leader=False) == (3, 4)
    # Deleted up to the end: the epoch of the first offset is known.
    epochs.truncate_from_start(4)
    assert epochs.end_offset_for(3, 4, is_leader=False) == (3, 4)


class EpochsOfALog(RuleBasedStateMachine):
    """Against a log that simply remembers each record's epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.history = LeaderEpochs()
        self.start = 0
        self.records: list[int] = []
        self.leader = -1

    @property
    def end(self) -> int:
        return self.start + len(self.records)

    @rule(higher=st.integers(1, 3))
    def a_leader_takes_over(self, higher: int) -> None:
        self.leader += higher
        self.history.assign(self.leader, self.end)

    @precondition(lambda self: self.leader >= 0)
    @rule(count=st.integers(1, 4))
    def append(self, count: int) -> None:
        self.history.assign(self.leader, self.end)
        self.records += [self.leader] * count

    @rule(keep=st.integers(0, 12))
    def truncate(self, keep: int) -> None:
        del self.records[keep:]
        self.leader = self.records[-1] if self.records else -1
        self.history.truncate_from_end(self.end)

    @rule(count=st.integers(0, 6))
    def delete_records(self, count: int) -> None:
        self.start += len(self.records[:count])
        del self.records[:count]
        self.history.truncate_from_start(self.start)

    @rule()
    def restart(self) -> None:
        self.history = LeaderEpochs.from_checkpoint(self.history.to_checkpoint())

    @invariant()
    def the_answers_are_those_of_the_log(self) -> None:
        assert self.history.latest == self.leader
        for offset, epoch in enumerate(self.records, self.start):
            assert self.history.epoch_at(offset) == epoch
        known = {*self.records, self.leader} - {-1}
        for asked in range(-1, self.leader + 3):
            assert self.history.end_offset_for(asked, self.end) == self.answer(asked, known)

    def answer(self, asked: int, known: set[int]) -> tuple[int, int]:
        if asked < 0 or asked > self.leader:
            return -1, -1
        floor = max((epoch for epoch in known if epoch <= asked), default=asked)
        later = [at for at, epoch in enumerate(self.records, self.start) if epoch > asked]
        return floor, min(later, default=self.end)

    @invariant()
    def entries_rise(self) -> None:
        entries = self.history.entries
        for one, next_one in pairwise(entries):
            assert one.epoch < next_one.epoch
            assert one.start_offset < next_one.start_offset
        assert all(isinstance(entry, EpochEntry) for entry in entries)


TestEpochsOfALog = EpochsOfALog.TestCase
TestEpochsOfALog.settings = examples(60, stateful_step_count=25)
