"""Power cuts and kills at every change of a file, and whatever Hypothesis makes up around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from odradek.storage import Log, LogConfig, LogDirectoryError, MemoryDisk
from odradek.wire.errors import Error, Refused

from tests.storage.support.crash_model import ASKED, COMPACTED, Promise, World
from tests.support.drawn import examples

CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=0, flush_messages=ASKED)
SEED = st.none() | st.integers(0, 1 << 20)


def script(world: World) -> list[Callable[[], None]]:
    """A life of three partitions in which everything happens."""

    def transactions() -> None:
        world.append(0, values=(b"t",) * 3, producer=1, transactional=True, time=10)
        world.append(0, values=(b"u",), producer=2, transactional=True, time=5)
        world.end_transaction(0, 1, commit=False)
        world.append(0, values=(b"v" * 100,), producer=3, time=20)
        world.append(0, values=(b"w" * 50,), producer=3, time=30)
        world.end_transaction(0, 2, commit=True)
        world.append(0, values=(b"y",) * 2, producer=1, transactional=True, time=7)

    return [
        lambda: world.append(0, values=(b"a", b"b"), time=3),
        lambda: world.append(1, values=(b"a" * 30,), codec=1, time=9),
        transactions,
        lambda: world.flush(0),
        lambda: world.checkpoint(),
        lambda: world.append(0, values=(b"c" * 200,), codec=4, gap=3, epoch=2, time=40),
        lambda: world.append(1, values=(b"z" * 300,), producer=4, time=12),
        lambda: world.append(1, values=(b"z" * 200,), producer=4, time=11, epoch=1),
        lambda: world.flush(1),
        lambda: world.delete_records(0, 4),
        lambda: world.checkpoint(),
        lambda: world.drop_oldest(0, 1),
        lambda: world.append(0, values=(b"d" * 150,), producer=3, time=41),
        lambda: world.end_transaction(0, 1, commit=False),
        lambda: world.flush(0),
        lambda: world.unlink_deleted(0),
        lambda: world.append(1, values=(b"e" * 150,), producer=5, time=13, epoch=3),
        lambda: world.append(1, values=(b"f" * 150,), producer=5, time=14),
        lambda: world.append(1, values=(b"g" * 150,), producer=5, time=15),
        lambda: world.truncate(1, 3),
        lambda: world.append(1, values=(b"h" * 150,), producer=5, time=16, epoch=4),
        lambda: world.append(1, values=(b"i" * 150,), producer=6, time=16, epoch=4),
        lambda: world.flush(1),
        lambda: world.drop_oldest(1, 9),
        lambda: world.append(1, values=(b"j",), producer=6, time=17),
        *(
            partial(world.append, 2, values=(b"%d" % at * 90,) * (1 + at % 3), producer=at % 2)
            for at in range(5)
        ),
        lambda: world.append(2, values=(b"l" * 90,) * 2, codec=2, time=60),
        lambda: world.flush(2),
        lambda: world.compact(),
        lambda: world.append(2, values=(b"m" * 300,), time=61),
        lambda: world.append(2, values=(b"n" * 300,), time=62),
        lambda: world.compact(),
        lambda: world.unlink_deleted(2),
        lambda: world.checkpoint(),
    ]


Cut = tuple[str, Promise, MemoryDisk]


def cuts(durable: bool, after: Callable[[MemoryDisk], MemoryDisk], *, every: int = 1) -> list[Cut]:
    """The script, cut after every so many changes: what was done, what holds, what is left."""
    world = World(CONFIG, durable=durable)
    found: list[Cut] = []
    count = 0
    watched = world

    def cut(what: str) -> None:
        nonlocal count
        count += 1
        if count % every == 0:
            found.append((f"{count} {what}", watched.promise(), after(watched.disk)))

    world.disk.on_change = cut
    for step in script(world):
        step()
    world.stop()
    world.disk.on_change = None

    watched = world.promise().kept_by(world.disk, power=False)
    watched.disk.on_change = cut
    watched.append(0, values=(b"again",), time=50)
    watched.flush(0)
    watched.stop()
    return found


def hold(found: list[Cut], *, power: bool) -> None:
    for what, promise, disk in found:
        try:
            promise.check(disk, power=power)
        except BaseException as error:
            error.add_note(f"after {what}")
            raise


def test_a_kill_after_any_change_loses_nothing_acknowledged() -> None:
    hold(cuts(False, MemoryDisk.kill, every=8), power=False)


def test_a_power_cut_after_any_change_loses_nothing_flushed() -> None:
    random = Random(1)
    hold(cuts(False, lambda disk: disk.crash(random), every=8), power=True)


@pytest.mark.long
def test_a_kill_after_every_change() -> None:
    hold(cuts(False, MemoryDisk.kill), power=False)  # what was synced makes no difference to it


@pytest.mark.long
@pytest.mark.parametrize("durable", [False, True])
def test_a_power_cut_after_every_change_that_leaves_only_what_was_synced(durable: bool) -> None:
    hold(cuts(durable, MemoryDisk.crash), power=True)


@pytest.mark.long
@pytest.mark.parametrize("durable", [False, True])
def test_a_power_cut_after_every_change_that_leaves_anything(durable: bool) -> None:
    random = Random(2)
    hold(cuts(durable, lambda disk: disk.crash(random)), power=True)


class Crashes(RuleBasedStateMachine):
    """The verbs of a broker in any order. Any of them, and any start, may be cut short by a kill or
    a power cut, once `cut_soon` has said after how many changes of files."""

    world: World

    @initialize(
        durable=st.booleans(),
        segment_bytes=st.sampled_from([200, 500, 1 << 20]),
        interval=st.sampled_from([0, 200, 4096]),
    )
    def begin(self, durable: bool, segment_bytes: int, interval: int) -> None:
        self.config = replace(CONFIG, segment_bytes=segment_bytes, index_interval_bytes=interval)
        self.durable = durable
        self.cuts: list[tuple[int, int | None]] = []
        self.left: tuple[Promise, MemoryDisk, bool] | None = None
        self.opened(World(self.config, durable=durable))

    def opened(self, world: World) -> None:
        self.world = world
        self.watch(world.disk, world.promise, power=False)

    def watch(self, disk: MemoryDisk, promise: Callable[[], Promise], *, power: bool) -> None:
        """Cut the disk off after as many changes as the next cut says."""

        def look(_: str) -> None:
            if not self.cuts or self.left is not None:
                return
            count, seed = self.cuts[0]
            self.cuts[0] = count - 1, seed
            if count == 0:
                del self.cuts[0]
                after = disk.kill() if seed is None else disk.crash(Random(seed))
                self.left = promise(), after, power or seed is not None

        disk.on_change = look

    @rule(cuts=st.lists(st.tuples(st.integers(0, 30), SEED), min_size=1, max_size=3))
    def cut_soon(self, cuts: list[tuple[int, int | None]]) -> None:
        self.cuts = cuts

    @rule(seed=SEED)
    def cut_now(self, seed: int | None) -> None:
        disk = self.world.disk
        after = disk.kill() if seed is None else disk.crash(Random(seed))
        self.left = self.world.promise(), after, seed is not None

    @invariant()
    def the_next_start_finds_what_was_promised(self) -> None:
        while getattr(self, "left", None) is not None:
            assert self.left is not None
            promise, disk, power = self.left
            self.left = None
            self.watch(disk, lambda promise=promise: promise, power=power)  # type: ignore[misc]
            try:
                world = promise.kept_by(disk, power=power)
            except LogDirectoryError:
                assert promise.may_be_unusable(power=power)
                world = World(self.config, durable=self.durable)
            if self.left is None:
                self.opened(world)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.cuts = []
            self.world.go_on()

    @rule(
        index=st.integers(0, 2),
        count=st.integers(1, 3),
        size=st.sampled_from([0, 50, 300]),
        time=st.integers(0, 50),
        gap=st.sampled_from([0, 0, 0, 2]),
        epoch=st.integers(0, 5),
        codec=st.integers(0, 4),
        producer=st.integers(-1, 3),
        transactional=st.booleans(),
        room=st.sampled_from([None, None, None, 0, 40, 100, 1000]),
    )
    def append(
        self,
        index: int,
        count: int,
        size: int,
        gap: int,
        producer: int,
        room: int | None,
        **more: Any,
    ) -> None:
        log = self.world.partitions[index].log
        more["values"] = [b"%d" % at + bytes(size) for at in range(count)]
        if producer < 0 or index == COMPACTED:
            more["transactional"] = False
        elif is_open(log, producer):
            more["transactional"] = True
        if log.segments[-1].size and log.segments[-1].size < log.config.segment_bytes // 2:
            more["gap"] = gap  # inside a segment: in front of one it counts as damage
        if room is not None:
            self.world.disk.fill(after_bytes=room)
        try:
            self.world.append(index, producer=producer, **more)
        except Refused as refused:
            if room is None or refused.error is not Error.KAFKA_STORAGE_ERROR:
                raise
            self.world.partitions[index].appending = None
        self.world.disk.heal()

    @rule(index=st.integers(0, 1), producer=st.integers(0, 3), commit=st.booleans())
    def end_transaction(self, index: int, producer: int, commit: bool) -> None:
        self.world.end_transaction(index, producer, commit=commit)

    @rule(index=st.integers(0, 2))
    def flush(self, index: int) -> None:
        self.world.flush(index)

    @rule()
    def checkpoint(self) -> None:
        self.world.checkpoint()

    @rule(index=st.integers(0, 1), data=st.data())
    def delete_records(self, index: int, data: st.DataObject) -> None:
        log = self.world.partitions[index].log
        before = data.draw(st.integers(log.log_start_offset, log.log_end_offset), label="before")
        self.world.delete_records(index, before)

    @rule(index=st.integers(0, 1), count=st.integers(0, 3))
    def drop_oldest(self, index: int, count: int) -> None:
        self.world.drop_oldest(index, count)

    @rule(index=st.integers(0, 2))
    def unlink_deleted(self, index: int) -> None:
        self.world.unlink_deleted(index)

    @precondition(lambda self: self.durable)  # nor the segments of before
    @rule()
    def compact(self) -> None:
        self.world.compact()

    # Only where names are durable: else a power cut may bring back the checkpoints of before.
    @precondition(lambda self: self.durable)
    @rule(index=st.integers(0, 1), data=st.data())
    def truncate(self, index: int, data: st.DataObject) -> None:
        log = self.world.partitions[index].log
        offset = data.draw(st.integers(log.log_start_offset, log.log_end_offset), label="offset")
        self.world.truncate(index, offset)

    @rule()
    def restart(self) -> None:
        self.world.stop()
        if self.left is None:
            promise = self.world.promise()
            self.watch(self.world.disk, lambda: promise, power=False)
            world = promise.kept_by(self.world.disk, power=False)
            assert world.directory.clean
            self.opened(world)


def is_open(log: Log, producer: int) -> bool:
    state = log.producers.states.get(producer)
    return state is not None and state.txn_first_offset >= 0


TestCrashes = Crashes.TestCase
TestCrashes.settings = examples(20, stateful_step_count=20)


@pytest.mark.long
def test_many_more_lives() -> None:
    many = settings(
        max_examples=100,
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    run_state_machine_as_test(Crashes, settings=many)
