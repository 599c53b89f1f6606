"""B17, C7, F8, H4: records and offsets in transactions, and when which readers see them."""

from __future__ import annotations

from odradek.wire.api.txn_offset_commit import TxnOffsetCommitRequest

from ..ask.groups import commit, join, offsets_of, sync
from ..ask.records import fetch, list_offsets, put
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
from ..engine.steps import Ask, Restart, Send, Sleep, Steps, seen
from . import case
from .transactions import COMMITTED, look


@case("H4", each=TxnOffsetCommitRequest)
def offsets_in_a_transaction() -> Steps:
    many = (("~t", 0, 5), ("~t", 9, 5), ("~none", 0, 1), ("~t", 1, 6))
    steps: Steps = [create(partitions=2), init()]
    for added in (False, True):
        steps += [
            *((add_offsets(),) if added else ()),
            txn_offsets(version=None, name=""),
            txn_offsets(version=None, group=""),
            txn_offsets(version=None, name="", group=""),
            txn_offsets(("~none", 0, 1), version=None, name="", group=""),
            txn_offsets(("~none", 0, 1), version=None),
            describe(),
            txn_offsets(version=None, name="~none"),
            txn_offsets(version=None, who=(4711, 0)),
            txn_offsets(version=None, who=(pid(), 9)),
            txn_offsets(version=None, who=(pid(), -1)),
            txn_offsets(*many, version=None),
            describe(),
            txn_offsets(*many, version=None, metadata="x" * 4097),
            txn_offsets(*many, version=None, metadata=None),
            Ask(offsets_of(topics=[("~t", [0, 1])]), 6),
            *(Ask(offsets_of(topics=t, require_stable=True), 7) for t in ([("~t", [0, 1])], None)),
            end(added, 4),
            Ask(offsets_of(topics=[("~t", [0, 1])]), 6),
            Ask(offsets_of(topics=[("~t", [0, 1])], require_stable=True), 7),
        ]
    return steps


@case("H4", each=TxnOffsetCommitRequest)
def offsets_of_topics_named_twice() -> Steps:
    twice = (("~t", 0, 5), ("~t", 1, 6), ("~t", 0, 7))
    return [
        create(partitions=2),
        init(),
        *(txn_offsets(*twice, version=None, group=group) for group in ("", "~g")),
        add_offsets(),
        txn_offsets(*twice, version=None, who=(pid(), 9)),
        txn_offsets(*twice, version=None, generation=3),
        txn_offsets(*twice, version=None),
        txn_offsets(*twice, version=None, metadata="x" * 4097),
        txn_offsets(*twice, ("~none", 0, 1), version=None),
        end(True, 4),
        Ask(offsets_of(topics=[("~t", [0, 1])]), 6),
    ]


@case("H4")
def members_in_transactional_commits() -> Steps:
    steps: Steps = [
        create(),
        init(),
        Send(join(instance="i"), 9, "j", keep={"m": "member_id"}),
        Sleep(0.3),
        Ask(sync(seen("m"), assignments=[(seen("m"), b"a")], instance="i"), 5),
    ]
    for version in (3, 4, 5):
        steps.append(add_offsets())
        for group in ("~g", "~other"):
            for generation in (-1, 0, 1, 2):
                for member in ("", seen("m"), "stranger"):
                    for instance in (None, "i", "unknown"):
                        steps.append(
                            txn_offsets(
                                version=version,
                                group=group,
                                generation=generation,
                                member=member,
                                instance=instance,
                            )
                        )
        steps += [end(True, 4), Ask(offsets_of(), 7)]
    return steps


@case("H9")
def a_restart_within_the_first_generation() -> Steps:
    return _restarted(4)


@case("H9")
def a_restart_within_the_second_generation() -> Steps:
    return _restarted(5)


def _restarted(generation: int) -> Steps:
    offsets = Ask(offsets_of(topics=[("~t", [0])], require_stable=True), 7)
    before = (pid(), epoch())
    first = generation == 4
    return [
        create(partitions=2),
        init(),
        init("~y", label="2"),
        *([add(), add_offsets()] if first else []),
        write(version=7 + generation),
        txn_offsets(version=generation),
        offsets,
        Restart(),
        describe("~x", "~y"),
        list_all(),
        offsets,
        write(version=7 + generation, sequence=1),
        end(True, generation, label="next", who=before),
        end(True, generation, label="next", who=before),
        describe(),
        offsets,
        init("~y", label="again", of=(pid("2"), epoch("2"))),
        init(label="again", of=before),
    ]


@case("F8")
def which_of_two_commits_counts() -> Steps:
    steps: Steps = [create(), init(), init("~y", label="2")]
    other = (pid("2"), epoch("2"))
    for first_ends in (True, False):
        steps += [
            txn_offsets(("~t", 0, 10), version=5),
            txn_offsets(("~t", 0, 20), version=5, name="~y", who=other),
            Ask(commit(("~t", 0, 15)), 8),
            Ask(offsets_of(require_stable=True), 7),
            end(first_ends, 4),
            Ask(offsets_of(require_stable=True), 7),
            Ask(offsets_of(), 7),
            end(not first_ends, 4, "~y", other),
            Ask(offsets_of(require_stable=True), 7),
        ]
    return steps


@case("B17", each=None)
def what_a_transactional_batch_needs() -> Steps:
    steps: Steps = [create(partitions=2), init()]
    for version in (3, 9, 10, 11, 12, 13):
        steps += [
            write(version=version, name=None),
            write(version=version, name=""),
            write(version=version, name="~other"),
            write(version=version, who=(pid(), 5)),
            write(version=version, who=(pid(), -1)),
            write(version=version, who=(4711, 0)),
            write(version=version, who=(-1, -1), sequence=-1),
            write(version=version, topic="~none"),
            write(version=version, partition=9),
            write(version=version, transactional=False),
            write(version=version, edits={"attributes": 0x30}),
            write(version=version, edits={"base_offset": 3}),
            write(version=version, sequence=7),
            write(version=version),
            describe(),
            write(version=version, transactional=False, sequence=1),
            write(version=version, transactional=False, sequence=1, name=None),
            end(False, 4),
            describe(),
        ]
    return [*steps, *look()]


@case("B17")
def a_partition_that_knows_a_later_epoch() -> Steps:
    steps: Steps = [create(partitions=3), init()]
    for version in (10, 11, 12):
        steps += [
            mark(who=(pid(), 5)),
            write(version=version, name="~none"),
            write(version=version),
            describe(),
            add(),
            write(version=version),
            write(version=version, partition=1),
            end(False, 4),
            mark((("~t", (1, 2)),), who=(pid(), 5)),
            init(label="perhaps"),
            init(),
        ]
    return steps


@case("B17")
def sequences_after_the_end() -> Steps:
    steps: Steps = [create(), init()]
    for version in (11, 12):
        steps += [
            add(),
            write(version=version),
            end(True, 4),
            write(version=version),
            write(sequence=1, version=version),
            add(),
            write(version=version),
            write(sequence=2, version=version),
            write(sequence=1, version=version),
            end(True, 4),
            *look(),
            init(),
        ]
    return steps


@case("C7")
def aborted_and_committed_are_told_apart() -> Steps:
    steps: Steps = [create(), init(), init("~y", label="2")]
    other = (pid("2"), epoch("2"))
    steps += [
        write(b"a", version=12),
        write(b"b", version=12, name="~y", who=other),
        put(b"plain"),
        *look(),
        end(False, 5),
        *look(),
        *look(1),
        put(b"plain"),
        *look(3),
        end(True, 5, "~y", label="2"),
    ]
    for offset in range(8):
        steps += look(offset)
        for limit in (0, 1, 80, 150, 300):
            steps.append(
                Ask(fetch(offset, isolation_level=COMMITTED, partition_max_bytes=limit), 12)
            )
    return [*steps, Ask(list_offsets(-3, isolation=COMMITTED), 7)]


@case("C7")
def aborted_ones_after_what_is_read() -> Steps:
    """How far they are listed follows from the offset index: here every batch but the first has an
    entry, and what is read ends at one, or beside it."""
    steps: Steps = [create(index_interval_bytes="0"), init(), put(b"plain"), put(b"plain")]
    for _ in range(2):
        steps += [write(b"x", b"y", b"z", version=12), end(False, 5), put(b"plain")]
    sizes = [n * size + more for n in (1, 2, 3) for size in (73, 74, 78) for more in (-1, 0, 1)]
    for offset in (0, 1, 2, 6):
        for limit in sizes:
            asked = fetch(offset, isolation_level=COMMITTED, partition_max_bytes=limit)
            steps.append(Ask(asked, 12))
    return steps
