"""Drawn histories of a share group, cut short at every change of a file.

The disk is taken as a kill leaves it after each change, and with only half of that change; and as a
power cut leaves it, where every batch is flushed. What is opened on it delivers nothing that was
acknowledged, all that was not, and at no lower count than a client was told (history.py). Then the
members go on with what one of the crashes has left, and the next crash is theirs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import NamedTuple

import pytest
from odradek.emulator.cluster import Cluster
from odradek.storage import LogDirectoryError, MemoryDisk
from odradek.wire import Error

from tests.emulator.share.history import CONFIGS, History, Known, begin, judge, settle
from tests.requests.produce import batch, produce
from tests.requests.share_groups import ACCEPT, acquired, share_acknowledge_request, share_fetch
from tests.support.clock import NOW
from tests.support.cluster import client_of, open_cluster
from tests.support.drawn import IS_SAMPLE, sized

FLUSHED = {**CONFIGS, "log_flush_interval_messages": "1"}
SEEDS = int(os.environ.get("ODRADEK_CRASH_SEEDS", "0"))
"""How many histories; 0 for a few, of whose crashes only some are looked at."""
EVERY = 1 if SEEDS else 10 if not IS_SAMPLE else 50
GENERATIONS, STEPS = 2, 25
Cut = Callable[[MemoryDisk, str], list[MemoryDisk]]


class Crash(NamedTuple):
    """A disk, what the clients knew, when, and what the crash has cut short."""

    disk: MemoryDisk
    known: Known
    now: int
    what: str


@contextmanager
def opened(disk: MemoryDisk, now: int, configs: dict[str, str]) -> Iterator[Cluster]:
    cluster = open_cluster(disk.directory(), now, **configs)
    try:
        yield cluster
    finally:
        disk.on_change = None
        cluster.close()


def killed(disk: MemoryDisk, what: str) -> list[MemoryDisk]:
    """After a change, and with half of it if it is a write to a log."""
    whole = disk.kill()
    verb, _, rest = what.partition(" ")
    if verb != "write" or ".log " not in rest:
        return [whole]
    path, _, place = rest.rpartition(" ")
    position, _, size = place.partition("+")
    half = disk.kill()
    half.write_bytes(path, half.read_bytes(path)[: int(position) + int(size) // 2])
    return [half, whole]


def crashes(history: History, disk: MemoryDisk, cut: Cut) -> list[Crash]:
    """All the crashes that there could have been in some steps, and right after each."""
    found: list[Crash] = []
    cluster, known = history.cluster, history.known
    names: list[str] = []

    def changed(what: str) -> None:
        now, step = cluster.clock.now(), f"{len(names)} {names[-1]}: {what}"
        found.extend(Crash(each, known.after_crash(), now, step) for each in cut(disk, what))

    while len(names) < STEPS:
        name = history.draw()
        names.append(name)
        disk.on_change = changed
        history.carry_out(name)
        disk.on_change = None
        changed("answered")
    return found


def play(seed: int, configs: dict[str, str], cut: Cut) -> None:
    """Some generations of one history."""
    random = Random(seed)
    disk, known, now = MemoryDisk(), Known(), NOW
    for generation in range(GENERATIONS):
        with opened(disk, now, configs) as cluster:
            if generation == 0:
                begin(cluster)
            settle(cluster)
            found = crashes(History(cluster, random, known), disk, cut)
        for crash in [*found[random.randrange(EVERY) :: EVERY], found[-1]]:
            with opened(crash.disk.kill(), crash.now, configs) as cluster:
                judge(cluster, crash.known, f"seed {seed}.{generation}, {crash.what}")
        disk, known, now, _ = random.choice(found)


@pytest.mark.parametrize("seed", range(SEEDS or sized(2, 1)))
def test_after_a_kill_at_any_change(seed: int) -> None:
    play(seed, CONFIGS, killed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS or sized(2, 1)))
def test_after_a_power_cut_at_any_change(seed: int) -> None:
    random = Random(seed)

    def cut(disk: MemoryDisk, _: str) -> list[MemoryDisk]:
        return [disk.crash(), disk.crash(random)]

    play(seed, FLUSHED, cut)


def test_what_cannot_be_made_durable_is_not_acknowledged() -> None:
    disk = MemoryDisk()
    lock = {"group_share_record_lock_duration_ms": "60000"}
    cluster = open_cluster(disk.directory(), **FLUSHED, **lock)
    begin(cluster)
    client, part = client_of(cluster), (cluster.topic("t").id, 0)
    produce(client, batch(b"v"))
    assert acquired(share_fetch(client, {part: ()})) == [(0, 0, 1)]
    disk.fail_syncs()
    client.send(share_acknowledge_request({part: [(0, 0, [ACCEPT])]}, 1), 2)
    cluster.advance(30_000)  # so long it is tried again
    [answer] = client.answers()
    assert [each.error_code for each in answer.responses[0].partitions] == [
        Error.COORDINATOR_NOT_AVAILABLE
    ]
    left = disk.crash()
    with pytest.raises(LogDirectoryError):
        cluster.close()
    with opened(left, NOW, FLUSHED) as again:
        assert acquired(share_fetch(client_of(again), {part: ()})) == [(0, 0, 1)]
