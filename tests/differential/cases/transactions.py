"""Section H: the coordinator of transactional ids, asked by producers of both generations."""

from __future__ import annotations

from odradek.wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from odradek.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from odradek.wire.api.end_txn import EndTxnRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest

from ..ask.records import fetch, list_offsets
from ..ask.topics import create
from ..ask.transactions import (
    add,
    add_offsets,
    describe,
    end,
    epoch,
    init,
    list_all,
    mark,
    pid,
    txn_offsets,
    write,
)
from ..engine.steps import Ask, Sleep, Steps
from . import case

COMMITTED = 1


def look(offset: int = 0, partition: int = 0) -> Steps:
    """What both isolation levels see of the topic."""
    return [
        Ask(fetch(offset, partition=partition, isolation_level=0), 12),
        Ask(fetch(offset, partition=partition, isolation_level=COMMITTED), 12),
        Ask(list_offsets(-1, isolation=COMMITTED), 5),
    ]


@case("H1", each=InitProducerIdRequest)
def producer_ids_of_a_transactional_id() -> Steps:
    return [
        init(version=None),
        init(version=None),
        init(version=None, of=(pid(), epoch())),
        init(version=None, of=(pid(), 1)),
        init(version=None, of=(pid(), 1)),
        init(version=None, of=(pid(), 0)),
        init(version=None, of=(pid(), 17)),
        init(version=None, of=(4711, 0)),
        init(version=None, timeout_ms=1),
        describe(),
        init("~new", version=None, of=(123, 5)),
    ]


@case("H1", each=InitProducerIdRequest)
def init_that_is_refused() -> Steps:
    return [
        *(init(version=None, timeout_ms=ms) for ms in (0, -1, 900_000, 900_001, 2**31 - 1)),
        *(init(name, version=None, of=(5, -1)) for name in (None, "", "~x")),
        *(init(name, version=None, of=(-1, 5)) for name in (None, "", "~x")),
        init("", version=None),
        init("", version=None, timeout_ms=0),
        init(None, version=None, of=(7, 7), timeout_ms=-5),
        init(version=None, of=(-2, -2)),
        init(version=None, of=(pid(), -5)),
        describe("~x", ""),
    ]


@case("H1", each=InitProducerIdRequest)
def init_while_a_transaction_is_open() -> Steps:
    steps: Steps = [create()]
    for by_name in (False, True):
        steps += [
            init(),
            add(),
            write(),
            init(version=None, of=(pid(), epoch()) if by_name else (-1, -1), label="refused"),
            describe(),
            init(version=None, of=(pid(), epoch()) if by_name else (-1, -1)),
            init(version=None, of=(pid(), epoch())),
            *look(),
        ]
    return steps


@case("H3", each=AddPartitionsToTxnRequest)
def adding_partitions() -> Steps:
    return [
        create(partitions=3),
        init(),
        *(
            step
            for version in (None,)
            for step in (
                add((("~t", (0,)),), version),
                add((("~t", (0,)),), version),
                add((("~t", (1, 2, 0)),), version),
                add((("~t", (1, 7)), ("~none", (0,))), version),
                add((("__consumer_offsets", (0,)), ("~t", (1,))), version),
                add((("__transaction_state", (0,)),), version),
                add((("~t", ()),), version),
                add((), version),
                add(version=version, name="~other"),
                add(version=version, name=""),
                add(version=version, who=(pid(), 3)),
                add(version=version, who=(4711, 0)),
                add((("~t", (0, 0)), ("~t", (0,))), version),
                add(version=version, name="", who=(pid(), 3)),
                add((("~none", (0,)),), version, name=""),
            )
        ),
        describe(),
        init(label="2", name="~y"),
        add((), None, name="~y", who=(pid("2"), 0)),
        describe("~y"),
    ]


@case("H3", each=AddPartitionsToTxnRequest)
def verifying_partitions() -> Steps:
    return [
        create(partitions=2),
        init(),
        add((("~t", (0,)),), 3),
        *(
            add((("~t", parts),), None, verify_only=True)
            for parts in ((0,), (1,), (0, 1), (5,), ())
        ),
        add(version=None, who=(pid(), 9), verify_only=True),
        add(version=None, who=(9, 0), verify_only=True),
        add(version=None, name="~none", verify_only=True),
        add(version=None, name="", verify_only=True),
        describe(),
    ]


@case("H4", each=AddOffsetsToTxnRequest)
def adding_offsets() -> Steps:
    return [
        init(),
        add_offsets(version=None),
        describe(),
        add_offsets("", version=None),
        add_offsets(name="", version=None),
        add_offsets(name="~none", version=None),
        add_offsets(who=(pid(), 4), version=None),
        add_offsets(who=(4711, 0), version=None),
        end(False),
        describe(),
    ]


@case("H5", each=EndTxnRequest)
def ends_of_nothing() -> Steps:
    return [
        end(name="", version=None),
        end(name="~none", version=None),
        init(),
        end(who=(4711, 0), version=None),
        end(who=(pid(), 7), version=None),
        end(True, version=None),
        end(False, version=None),
        describe(),
        list_all(),
    ]


@case("H6")
def every_end_in_every_state() -> Steps:
    steps: Steps = [create()]
    for state in ("Empty", "Ongoing", "CompleteCommit", "CompleteAbort"):
        for begun_by in (4, 5):
            for ended_by in (4, 5):
                for commits in (True, False):
                    for delta in (-2, -1, 0, 1):
                        steps += _cell(state, begun_by, ended_by, commits, delta)
    return steps


def _cell(state: str, begun_by: int, ended_by: int, commits: bool, delta: int) -> Steps:
    """An id brought into a state by a client of one generation, and ended by one of another."""
    name = f"~{state}{begun_by}{ended_by}{commits}{delta}"
    steps: Steps = [init(name), init(name), init(name)]
    current = 2
    if state != "Empty":
        if begun_by < 5:
            steps += [add(name=name), write(name=name)]
        else:
            steps += [write(name=name, version=12)]
        if state.startswith("Complete"):
            steps += [end(state == "CompleteCommit", begun_by, name)]
            current += begun_by == 5
    return [*steps, end(commits, ended_by, name, who=(pid(), current + delta)), describe(name)]


@case("H6")
def the_epoch_goes_on_with_every_end() -> Steps:
    steps: Steps = [create(), init()]
    for commits in (True, False, True):
        steps += [write(b"a", b"b", version=12), end(commits, 5), describe(), *look()]
    return [*steps, end(False, 5), describe(), end(False, 5), write(version=12), *look()]


@case("H7")
def held_between_prepare_and_markers() -> Steps:
    """A marker of a later coordinator makes the partition refuse this one's."""
    steps: Steps = [create(partitions=2)]
    for begun_by in (4, 5):
        name = f"~h{begun_by}"
        steps += [init(name, label=name)]
        who = (pid(name), epoch(name))
        steps += [mark((("~t", (begun_by % 2,)),), who=who, coordinator=100)]
        part = begun_by % 2
        if begun_by == 4:
            steps += [add((("~t", (part,)),), name=name, who=who)]
        steps += [
            write(name=name, who=who, partition=part, version=11 if begun_by == 4 else 12),
            end(True, begun_by, name, who),
            describe(name),
        ]
        for delta in (-2, -1, 0, 1, 2):
            other = (pid(name), 30_000 if delta == -2 else delta)
            for version in (4, 5):
                for commits in (True, False):
                    steps += [end(commits, version, name, other)]
            steps += [
                add(name=name, who=other),
                add(version=5, name=name, who=other, verify_only=True),
                add_offsets(name=name, who=other),
                write(name=name, who=other, partition=1 - part, version=11),
                write(name=name, who=other, partition=1 - part, version=12),
                write(name=name, who=other, partition=part, version=12),
                *(txn_offsets(name=name, who=other, version=v) for v in (3, 4, 5)),
                init(name, 4, label="held", of=other),
            ]
        steps += [
            end(True, 5, name, (4711, 0)),
            end(True, 4, name, (4711, 0)),
            add(name=name, who=(4711, 0)),
            init(name, label="held"),
            init(name, label="held", of=(4711, 0)),
            describe(name),
        ]
    return steps


@case("H8")
def markers_of_unknown_producers() -> Steps:
    steps: Steps = [create(partitions=2), init()]
    for generation in (0, 1, 2, 3):
        steps += [
            mark(generation=generation),
            mark(generation=generation, coordinator=5),
            mark(generation=generation, coordinator=4),
            mark(generation=generation, who=(pid(), 1)),
            mark(generation=generation, who=(pid(), 0)),
            mark((("~t", (0, 1, 2)), ("~none", (0,))), generation=generation, commit=False),
        ]
    steps += [
        mark((("~t", (0, 1, 7)), ("~none", (0,))), who=who)
        for who in ((4711, -1), (4711, -2), (-1, 0), (-2, 0), (-1, -1))
    ]
    steps += [mark((("~t", (0, 7)),), generation=n) for n in (-1, -2, 127)]
    return [*steps, mark((), version=1), *look()]


@case("H8")
def markers_against_an_open_transaction() -> Steps:
    steps: Steps = [create(partitions=2), init()]
    for generation in (0, 2):
        steps += [
            add(),
            write(),
            mark(generation=generation),
            *look(),
            write(b"more", sequence=1),
            mark(generation=generation, who=(pid(), 1), commit=False),
            *look(),
            write(b"old", sequence=1),
            end(False),
            init(),
        ]
    return steps


@case("H9")
def a_transaction_that_takes_too_long() -> Steps:
    steps: Steps = [create(partitions=2)]
    for generation in (4, 5):
        steps += [
            init(timeout_ms=150),
            *((add(), write()) if generation == 4 else (write(version=12),)),
            Sleep(0.6),
            describe(),
            *look(),
            write(sequence=1),
            write(sequence=1, version=12),
            write(sequence=0, partition=1, version=12),
            add(),
            add_offsets(),
            *(txn_offsets(version=v) for v in (2, 3, 4, 5)),
            end(True, 4),
            end(False, 4),
            end(True, 5),
            describe(),
            init(of=(pid(), epoch())),
            init(),
            describe(),
        ]
    return steps


@case("H11")
def transactions_are_listed() -> Steps:
    return [
        create(),
        init(),
        init("~y", label="2"),
        add(name="~y", who=(pid("2"), epoch("2"))),
        *(list_all(version=version) for version in (0, 1, 2)),
        list_all(["Empty"]),
        list_all(["empty", "Ongoing", "Nonsense", "PrepareEpochFence", "Nonsense", ""]),
        list_all(["Nonsense"]),
        list_all(pids=[pid(), 5]),
        list_all(duration_ms=0),
        list_all(duration_ms=100_000),
        *(list_all(pattern=text) for text in (".*", "", "y", ".*y", "(", "a{2", "[", "\\d+", "*")),
        describe("~x", "~y", "~x", "", "~none"),
    ]
