"""What a partition answers to producers: one table, snapshots byte for byte, and a model.

A step is a batch `epoch:first`, with `x3` behind it if it has three records and `t` if it is
transactional (`T`: under transaction version 2), or a marker `epoch!coordinator`, with `c` for
commit and `a` for abort (`C`, `A`: under version 2). Answers: `ok`, it is appended; `dup@7`, it was
appended at offset 7; else why it is refused. Offsets count from 0, one for each record.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from odradek.storage.producers import (
    UNPACKED_MAX,
    AbortedTransaction,
    Duplicate,
    ProducerStates,
    SnapshotError,
)
from odradek.wire.errors import Error, Refused
from odradek.wire.records import BatchHeader

from tests.support.drawn import examples

ANSWERS = {
    Error.OUT_OF_ORDER_SEQUENCE_NUMBER: "order",
    Error.INVALID_PRODUCER_EPOCH: "epoch",
    Error.INVALID_TXN_STATE: "state",
    Error.TRANSACTION_COORDINATOR_FENCED: "fenced",
}

# Steps that are all taken, one more, and its answer. Each row was put to Kafka 4.3.1's own code.
VALIDATION = """
    # sequences go on within an epoch
    0:0x3                        0:3            ok
    0:0x3                        0:4            order
    # behind 2147483647 comes 0, also inside a batch
    0:2147483646                 0:2147483647   ok
    0:2147483647                 0:0            ok
    0:2147483646x3               0:0            order
    0:2147483646x3               0:1            ok
    0:2147483646x3               0:2147483646x3 dup@0
    # the last five batches are recognised, parts of them are not
    0:0 0:1 0:2x2 0:4 0:5        0:0            dup@0
    0:0 0:1 0:2x2 0:4 0:5 0:6    0:1            dup@1
    0:0 0:1 0:2x2 0:4 0:5 0:6    0:0            order
    0:0x3                        0:0x2          order
    # an unknown producer may begin anywhere
    -                            0:1000         ok
    -                            7:5t           ok
    -                            7:5T           order
    -                            7:0T           ok
    -                            -2:0           epoch
    # a new epoch begins at 0 and forgets the one before; an older one is refused, retries too
    0:0                          1:1            order
    0:0                          1:0            ok
    0:0 1:0                      0:0            epoch
    # while the epoch is -1 sequences are not looked at, but duplicates are recognised
    -1:0 -1:5                    -1:0           dup@0
    -1:0 -1:5                    0:7            ok
    -1:0 0:7                     -1:6           epoch
    # an open transaction keeps plain batches out
    0:0t                         0:1            state
    0:0t                         0:2            order
    0:0t                         0:1t           ok
    0:0t 0!0c                    0:1            ok
    # sequences go on behind a marker of the same epoch
    0:0x2t 0!0c                  0:2t           ok
    0:0x2t 0!0c                  0:0x2t         dup@0
    # sequences start again behind a marker of a higher epoch
    0:0x2t 1!0A                  1:2t           order
    0:0x2t 1!0A                  1:0x2t         ok
    0:0x2t 1!0A                  0:2t           epoch
    # a marker needs the epoch, or with transaction version 2 a higher one if it ends something
    3:0t                         2!0c           epoch
    3:0t                         3!0C           epoch
    3:0t                         4!0C           ok
    3:0t 4!0C                    4!0C           ok
    3:0                          3!0A           ok
    # a marker of a lower coordinator epoch is fenced
    0:0t 0!5c 0:1t               0!4a           fenced
    0:0t 0!5c 0:1t               1!4A           fenced
    0:0t 0!5c 0:1t               0!5a           ok
    # markers of unknown producers are taken and set the epoch
    -                            3!0a           ok
    3!0a                         2:0            epoch
    3!0a                         3:1            order
    3!0a                         3:0            ok
    -1!0A                        4:1T           order
"""
ROWS = [line.split() for line in VALIDATION.splitlines() if line.strip() and "#" not in line]
PRODUCERS = st.sampled_from([1, 2])
STEP = re.compile(r"(-?\d+)([:!])(\d+)(?:x(\d+))?([tTcaCA]?)")


@dataclass
class Partition:
    """Appends as a log does: check, give an offset, update."""

    states: ProducerStates = field(default_factory=ProducerStates)
    end: int = 0
    aborted: list[AbortedTransaction] = field(default_factory=list)

    def step(self, text: str, producer: int = 1, time: int = 0) -> str:
        match = STEP.fullmatch(text)
        assert match is not None, text
        number, count, kind = int(match[3]), int(match[4] or 1), match[5]
        take = self.data if match[2] == ":" else self.marker
        before = self.states.snapshot()
        answer = take(producer, int(match[1]), number, count, kind, time)
        assert answer == "ok" or self.states.snapshot() == before
        return answer

    def data(self, producer: int, epoch: int, first: int, count: int, kind: str, time: int) -> str:
        batch = header(self.end, producer, epoch, first, count, 0x10 if kind else 0, time)
        if kind == "T" and not self.states.has_open_transaction(producer, epoch):
            self.states.note_verification(producer, epoch, first, transaction_v2=True)
        try:
            duplicate = self.states.check(batch)
        except Refused as refusal:
            return ANSWERS[refusal.error]
        if duplicate is not None:
            return f"dup@{duplicate.base_offset}"
        self.states.update(batch)
        self.end += count
        return "ok"

    def marker(self, producer: int, epoch: int, by: int, _: int, kind: str, time: int) -> str:
        version = 2 if kind.isupper() else 1
        try:
            self.states.check_marker(producer, epoch, by, transaction_version=version)
        except Refused as refusal:
            return ANSWERS[refusal.error]
        batch = header(self.end, producer, epoch, -1, 1, 0x30, time)
        entry = self.states.end_transaction(batch, commit=kind in "cC", coordinator_epoch=by)
        self.aborted += [entry] if entry else []
        self.end += 1
        return "ok"


def header(
    base: int, producer: int, epoch: int, first: int, count: int = 1, bits: int = 0, time: int = 0
) -> BatchHeader:
    return BatchHeader(
        base, 80, 0, 2, 0, bits, count - 1, time, time, producer, epoch, first, count
    )


def after(*steps: str, producer: int = 1, partition: Partition | None = None) -> Partition:
    partition = partition or Partition()
    for step in steps:
        assert partition.step(step, producer) == "ok", step
    return partition


@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_what_a_producer_is_answered(row: list[str]) -> None:
    *before, step, answer = row
    partition = after(*before) if before != ["-"] else Partition()
    # What another producer did does not matter.
    after("0:0", "1:0t", producer=2, partition=partition)

    assert partition.step(step) == answer


def test_a_duplicate_is_answered_with_the_offset_and_time_of_the_first() -> None:
    partition = Partition()
    partition.step("0:0x3", time=1000)
    partition.step("0:3x2", time=2000)

    retry = header(99, 1, 0, 0, 3, 0, time=3000)
    assert partition.states.check(retry) == Duplicate(base_offset=0, timestamp=1000)


def test_the_oldest_open_transaction_is_the_first_unstable_offset() -> None:
    partition = Partition()
    seen = [partition.states.first_unstable_offset]
    for producer, step in [(1, "0:0x3t"), (2, "0:0t"), (1, "0:3t"), (1, "0!0c"), (2, "0!0a")]:
        after(step, producer=producer, partition=partition)
        seen.append(partition.states.first_unstable_offset)

    assert seen == [None, 0, 0, 0, 3, None]


def test_an_aborted_transaction_is_an_entry_of_the_txnindex() -> None:
    partition = after("0:0x60t", "0!0a", "0:60x5t")
    after("0:0t", "0!0a", producer=2, partition=partition)
    after("0!0c", partition=partition)
    after("0!0a", partition=partition)  # with nothing open a marker leaves no entry
    after("0!0a", producer=3, partition=partition)

    assert partition.aborted == [
        AbortedTransaction(producer_id=1, first_offset=0, last_offset=60, last_stable_offset=61),
        AbortedTransaction(producer_id=2, first_offset=66, last_offset=67, last_stable_offset=61),
    ]


def test_the_last_stable_offset_waits_until_the_marker_is_replicated() -> None:
    partition = after("0:0x2", "0:2x3t")
    assert partition.states.last_stable_offset(1) == 1
    assert partition.states.last_stable_offset(5) == 2

    partition.step("0!0c")
    assert partition.states.last_stable_offset(5) == 2
    assert partition.states.last_stable_offset(6) == 6


def test_what_is_stable_at_a_lower_high_watermark_is_asked_without_forgetting() -> None:
    partition = after("0:0t", "0!0c")
    states = partition.states
    assert [states.stable_at(mark) for mark in (0, 1, 2)] == [0, 0, 2]
    assert states.stable_at(1) == 0
    assert states.last_stable_offset(2) == 2


def test_producers_expire_by_the_time_of_their_last_batch_or_marker() -> None:
    partition = Partition()
    partition.step("0:0", producer=1, time=1000)
    partition.step("0:0", producer=2, time=1001)
    partition.step("0:0t", producer=3, time=0)
    partition.step("0:0t", producer=4, time=0)
    partition.step("0!0c", producer=4, time=1500)

    partition.states.expire(1500, 500)

    assert sorted(partition.states.states) == [2, 3, 4]
    assert partition.step("0:77", producer=1) == "ok"


# Written by Kafka 4.3.1 after the very steps below.
SNAPSHOT = bytes.fromhex(
    "000187b8df8200000003"
    "00000000000000010000000000050000000000000006"
    "0000000000000000000003eb000000070000000000000006"
    "00000000000000020005000000000000000000000009"
    "0000000200000000000003ecffffffffffffffffffffffff"
    "00000000000000030001ffffffffffffffffffffffff"
    "0000000000000000000003ee00000008ffffffffffffffff"
)


def three_producers() -> Partition:
    """One with an open transaction, one whose batch spans the wrap, one that only has a marker."""
    partition = Partition()
    steps = ["0:0x3t", "0:3x2t", "0!7c", "0:5t", "5:2147483646x3", "0:0t", "1!8A"]
    producers = [1, 1, 1, 1, 2, 3, 3]
    for time, (producer, step) in enumerate(zip(producers, steps, strict=True), 1000):
        assert partition.step(step, producer, time) == "ok"
    return partition


def test_a_snapshot_is_kafkas_byte_for_byte() -> None:
    assert three_producers().states.snapshot() == SNAPSHOT
    assert ProducerStates().snapshot() == bytes.fromhex("0001 48674bc7 00000000")


def test_of_each_producer_only_the_last_batch_survives_a_snapshot() -> None:
    partition = three_producers()
    partition.states.load(SNAPSHOT)

    assert partition.states.snapshot() == SNAPSHOT
    assert partition.states.first_unstable_offset == 6
    assert partition.states.states[3].batches == []
    for producer, step, answer in [
        (1, "0:5t", "dup@6"),
        (1, "0:6", "state"),
        (1, "0:6t", "ok"),
        (2, "5:2147483646x3", "dup@7"),
        (2, "5:1", "ok"),
        (3, "1:1t", "order"),
        (3, "1:0t", "ok"),
        (1, "0!7c", "ok"),
    ]:
        assert partition.step(step, producer) == answer
    assert partition.states.first_unstable_offset == 14


def test_a_broker_that_restarts_forgets_all_but_the_last_batch_below_its_end() -> None:
    partition = after("0:0", "0:1", "0:2", "0:3")
    partition.states.forget_batches(3)
    kept = [batch[0] for batch in partition.states.states[1].batches]
    assert kept == [2, 3]
    for other in range(2, 2 + UNPACKED_MAX):  # so that the first one is packed
        assert partition.data(other, 0, 0, 1, "", time=0) == "ok"
    partition.states.forget_batches(4)
    assert [batch[0] for batch in partition.states.states[1].batches] == [3]
    assert len(partition.states.states[2].batches) == 1


def test_producers_that_were_packed_are_known_as_before() -> None:
    partition = after("0:0x3", "0:3x2t", "0!7c", "0:5t")
    partition.step("0:6t", time=1000)
    others = range(2, 3 + UNPACKED_MAX)
    for other in others:
        partition.step("5:2147483646x3", other)
    before = partition.states.snapshot()

    assert set(partition.states.states) == {1, *others}
    assert partition.states.states[1].last_timestamp == 1000
    assert partition.states.states[1].txn_first_offset == 6
    assert partition.states.states[1].last_offset == 7
    assert partition.states.has_open_transaction(1, 0)
    assert not partition.states.knows_later_epoch(1, 0)
    for step, answer in [
        ("0:0x3", "dup@0"),
        ("0:3x2t", "dup@3"),
        ("0:6t", "dup@7"),
        ("0:8t", "order"),
        ("0:7", "state"),
        ("0!6c", "fenced"),
    ]:
        assert partition.step(step) == answer
    assert partition.states.snapshot() == before


def test_what_is_replicated_holds_nothing_back() -> None:
    partition = after("0:0t", "0!0c", "0:1t", "0!0c")

    partition.states.replicated(2)

    assert partition.states.last_stable_offset(3) == 2
    partition.states.replicated(4)
    assert partition.states.last_stable_offset(3) == 3


def test_loading_replaces_everything() -> None:
    states = three_producers().states

    states.load(ProducerStates().snapshot())

    assert not states.states
    assert states.last_stable_offset(3) == 3


def test_a_replay_believes_the_log() -> None:
    states = ProducerStates()
    for base, (epoch, first) in enumerate([(2, 5), (2, 9), (1, 7)]):
        states.update(header(base, 1, epoch, first))

    assert (states.states[1].epoch, states.states[1].last_sequence) == (1, 7)
    assert len(states.states[1].batches) == 1


@pytest.mark.parametrize(
    ("snapshot", "problem"),
    [
        (b"", "0 bytes are too few"),
        (SNAPSHOT[:9], "9 bytes are too few"),
        (b"\x00\x02" + SNAPSHOT[2:], "unknown version 2"),
        (SNAPSHOT[:-1], "wrong checksum"),
        (SNAPSHOT[:20] + b"\xff" + SNAPSHOT[21:], "wrong checksum"),
        (bytes.fromhex("0001 ba0cc8c4 00000001"), "1 entries has 10 bytes"),
        (bytes.fromhex("0001 ffffffff ffffffff"), "-1 entries has 10 bytes"),
    ],
)
def test_a_damaged_snapshot_is_refused_and_changes_nothing(snapshot: bytes, problem: str) -> None:
    states = three_producers().states

    with pytest.raises(SnapshotError, match=problem):
        states.load(snapshot)

    assert states.snapshot() == SNAPSHOT


class Written(NamedTuple):
    producer: int
    epoch: int
    first: int
    size: int
    kind: str
    base: int


class ProducersOfALog(RuleBasedStateMachine):
    """Against a model that keeps no state: it looks each answer up in all that was written."""

    def __init__(self) -> None:
        super().__init__()
        self.partition = Partition()
        self.log: list[Written] = []
        self.forgotten: set[Written] = set()
        # Epoch and lowest sequence the coordinator was asked for since the last transaction.
        self.asked: dict[int, tuple[int, int]] = {}
        self.others = 3

    def of(self, producer: int) -> list[Written]:
        """The newest first."""
        return [entry for entry in reversed(self.log) if entry.producer == producer]

    def epoch(self, producer: int) -> int:
        return next((entry.epoch for entry in self.of(producer)), -1)

    def recent(self, producer: int) -> list[Written]:
        epoch = self.epoch(producer)
        run = takewhile(lambda entry: entry.epoch == epoch, self.of(producer))
        return [e for e in run if e.kind != "marker" and e not in self.forgotten][:5]

    def following(self, producer: int) -> int:
        return next(((e.first + e.size) % 2**31 for e in self.recent(producer)), 0)

    def opened(self, producer: int) -> int | None:
        since = takewhile(lambda entry: entry.kind != "marker", self.of(producer))
        return min((entry.base for entry in since if entry.kind), default=None)

    def answer(self, producer: int, epoch: int, first: int, size: int, kind: str) -> str:
        known, recent = self.epoch(producer), self.recent(producer)
        if epoch < known:
            return "epoch"
        same = [e for e in recent if (e.epoch, e.first, e.size) == (epoch, first, size)]
        if same:
            return f"dup@{same[-1].base}"
        lowest = self.asked.get(producer, (0, 2**31))[1]
        if first > lowest or (first and producer in self.asked and not recent):
            return "order"
        expected = self.following(producer) if epoch == known else 0
        if first != expected and known != -1:
            return "order"
        return "state" if kind == "" and self.opened(producer) is not None else "ok"

    @rule(
        producer=PRODUCERS,
        raised=st.sampled_from([0, 0, 0, 0, 1, -1]),
        ahead=st.sampled_from([0, 0, 0, 0, 1, -1, -2, -3, -6, None]),
        size=st.integers(1, 3),
        kind=st.sampled_from(["", "t", "T"]),
    )
    def write(self, producer: int, raised: int, ahead: int | None, size: int, kind: str) -> None:
        first = 0 if ahead is None else (self.following(producer) + ahead) % 2**31
        batch = producer, self.epoch(producer) + raised, first, size, kind
        if kind == "T" and (raised or self.opened(producer) is None):
            question = batch[1], first
            known = self.asked.setdefault(producer, question)
            if (question[0], -first) > (known[0], -known[1]):
                self.asked[producer] = question
        base, expected = self.partition.end, self.answer(*batch)
        assert self.partition.data(*batch, time=0) == expected
        if expected == "ok":
            self.log.append(Written(*batch, base))
            if kind:
                self.asked.pop(producer, None)

    @precondition(lambda self: self.log)
    @rule(producer=PRODUCERS, raised=st.sampled_from([0, 0, 1, -1]), kind=st.sampled_from("caCA"))
    def end(self, producer: int, raised: int, kind: str) -> None:
        marker, opened = self.partition.end, self.opened(producer)
        bumps = kind == kind.upper() and opened is not None
        expected = "epoch" if raised < 0 or (bumps and raised == 0) else "ok"
        epoch, aborted = self.epoch(producer) + raised, len(self.partition.aborted)
        assert self.partition.marker(producer, epoch, 0, 1, kind, 0) == expected
        if expected == "ok":
            self.log.append(Written(producer, epoch, -1, 1, "marker", marker))
            self.asked.pop(producer, None)
        noted = [(entry[1], entry[2]) for entry in self.partition.aborted[aborted:]]
        leaves = expected == "ok" and kind in "aA" and opened is not None
        assert noted == ([(opened, marker)] if leaves else [])

    @rule()
    def others_write(self) -> None:
        """So many that the two are packed."""
        for other in range(self.others, self.others + UNPACKED_MAX):
            assert self.partition.data(other, 0, 0, 1, "", time=0) == "ok"
        self.others += UNPACKED_MAX

    @rule()
    def restart(self) -> None:
        self.partition.states.load(self.partition.states.snapshot())
        self.forgotten |= {entry for producer in (1, 2) for entry in self.recent(producer)[1:]}
        self.asked.clear()

    @invariant()
    def the_last_stable_offset_is_where_the_oldest_open_transaction_begins(self) -> None:
        opened = [first for first in map(self.opened, (1, 2)) if first is not None]
        states, end = self.partition.states, self.partition.end
        assert states.first_unstable_offset == min(opened, default=None)
        assert states.last_stable_offset(end) == min(opened, default=end)


TestProducersOfALog = ProducersOfALog.TestCase
TestProducersOfALog.settings = examples(80, stateful_step_count=30)
