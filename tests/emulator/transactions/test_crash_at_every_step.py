"""A script of several producers, cut short at every change of a file.

The disk is taken as a kill leaves it after each change, and with only half of that change; and as a
power cut leaves it, where every batch is flushed. What is opened on it must be as it was before
the step or as it is behind it, with nothing half done; then the clients, who have had no answer to
that step, take it again and go on, and in the end nothing can be seen of the crash. If they do not
come back, whatever is open times out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.emulator.transactions.transaction import Producer
from odradek.storage import MemoryDisk
from odradek.wire import Error

from tests.support.clock import NOW
from tests.support.cluster import open_cluster
from tests.support.consumer import committed_offset, read
from tests.support.transactional_producer import TxnClient

CONFIGS = {"transaction_state_log_num_partitions": "2", "offsets_topic_num_partitions": "1"}
FLUSHED = {**CONFIGS, "log_flush_interval_messages": "1"}
TIMEOUT_MS = 60_000
pytestmark = pytest.mark.slow
LONG_MS = TIMEOUT_MS + 10_001
FENCED = (Error.INVALID_PRODUCER_EPOCH, Error.PRODUCER_FENCED)
PARTITIONS = (0, 1)

SEEDS = int(os.environ.get("ODRADEK_CRASH_SEEDS", "0"))
"""How many series of power cuts; 0 for one, of which, as of the kills, only some are looked at."""
EVERY = 1 if SEEDS else 7


class Play:
    """A cluster, and who works with it."""

    def __init__(self, cluster: Cluster, generation: int, clients: dict[str, Actor]) -> None:
        self.cluster = cluster
        self.clients: dict[str, TxnClient] = {}
        for name, (producer, sequences) in clients.items():
            client = self.clients[name] = TxnClient(cluster, name[0], generation)
            client.producer, client.sequences = producer, dict(sequences)
        self.generation = generation

    def actors(self) -> dict[str, Actor]:
        """What the clients know of themselves."""
        return {
            name: Actor(client.producer, dict(client.sequences))
            for name, client in self.clients.items()
        }

    def begins(self, name: str) -> None:
        """A new instance of the application; the transactional id is its first letter."""
        client = TxnClient(self.cluster, name[0], self.generation)
        self.clients[name] = client.begin(timeout_ms=TIMEOUT_MS)

    def renews(self, name: str) -> None:
        """InitProducerId with the epoch it has. Who asks again after a crash is a stranger, for
        the epoch before is not stored, on a real broker neither."""
        client = self.clients[name]
        error = client.init(client.producer, timeout_ms=TIMEOUT_MS)
        if error is Error.PRODUCER_FENCED:
            client.begin(timeout_ms=TIMEOUT_MS)
        else:
            assert error is Error.NONE

    def writes(self, name: str, value: bytes, partition: int) -> None:
        assert self.clients[name].write(value, partition=partition) is Error.NONE

    def moves(self, name: str, offset: int) -> None:
        """The group's offset, in the transaction."""
        assert self.clients[name].commit_offset(offset) is Error.NONE

    def commits(self, name: str) -> None:
        assert self.clients[name].end(True) is Error.NONE

    def aborts(self, name: str) -> None:
        assert self.clients[name].end(False) is Error.NONE

    def is_refused(self, name: str) -> None:
        client = self.clients[name]
        assert client.write(b"zombie") in FENCED
        assert client.commit_offset(99) in FENCED

    def waits(self) -> None:
        self.cluster.advance(LONG_MS)


class Actor(NamedTuple):
    """A client as it is when the broker goes."""

    producer: Producer
    sequences: dict[tuple[str, int], int]


Step = Callable[[Play], None]
SCRIPT: list[Step] = [
    lambda on: on.begins("x"),
    lambda on: on.writes("x", b"a", 0),
    lambda on: on.writes("x", b"b", 1),
    lambda on: on.moves("x", 3),
    lambda on: on.begins("y"),
    lambda on: on.writes("y", b"-c", 0),
    lambda on: on.commits("x"),
    lambda on: on.writes("x", b"d", 0),
    lambda on: on.moves("y", 4),
    lambda on: on.aborts("y"),
    lambda on: on.writes("y", b"e", 1),
    lambda on: on.commits("x"),
    lambda on: on.moves("y", 5),
    lambda on: on.writes("y", b"f", 0),
    lambda on: on.commits("y"),
    lambda on: on.begins("z"),
    lambda on: on.writes("z", b"-g", 0),
    lambda on: on.writes("z", b"-h", 1),
    lambda on: on.moves("z", 6),
    lambda on: on.waits(),
    lambda on: on.is_refused("z"),
    lambda on: on.writes("x", b"-i", 0),
    lambda on: on.begins("x again"),
    lambda on: on.is_refused("x"),
    lambda on: on.writes("x again", b"j", 0),
    lambda on: on.moves("x again", 7),
    lambda on: on.commits("x again"),
    lambda on: on.renews("y"),
    lambda on: on.writes("y", b"-k", 1),
    lambda on: on.aborts("y"),
    lambda on: on.writes("y", b"l", 1),
    lambda on: on.writes("x again", b"m", 0),
    lambda on: on.commits("x again"),
    lambda on: on.commits("y"),
]
ALL = [[b"a", b"-c", b"d", b"f", b"-g", b"-i", b"j", b"m"], [b"b", b"e", b"-h", b"-k", b"l"]]
WHOLE = [[value for value in values if not value.startswith(b"-")] for values in ALL]


class Sight(NamedTuple):
    """What clients can see: records by partition, and whether something is open there."""

    committed: list[list[bytes | None]]
    written: list[list[bytes | None]]
    is_open: list[bool]
    offset: int | Error


def sight(cluster: Cluster) -> Sight:
    """What is to be seen; nothing may be half done."""
    states = [each.state for each in cluster.transactions.all()]
    assert not any(state.is_prepared for state in states), states
    logs = [cluster.partition("t", index) for index in PARTITIONS]
    return Sight(
        [read(cluster, committed=True, partition=index) for index in PARTITIONS],
        [read(cluster, committed=False, partition=index) for index in PARTITIONS],
        [log.last_stable_offset < log.log_end_offset for log in logs],
        committed_offset(cluster),
    )


END = Sight(WHOLE, ALL, [False, False], 7)  # type: ignore[arg-type]


@dataclass
class Crash:
    """A disk, and how far the script was."""

    disk: MemoryDisk
    step: int
    what: str
    now: int


@dataclass
class Run:
    """A run of the script without a crash: what was seen and known before each step, and after
    the last; and the disks of all crashes there could have been, in a step or right after it."""

    generation: int
    sights: list[Sight] = field(default_factory=list)
    actors: list[dict[str, Actor]] = field(default_factory=list)
    crashes: list[Crash] = field(default_factory=list)
    answered: list[Crash] = field(default_factory=list)


@contextmanager
def opened(disk: MemoryDisk, now: int, configs: dict[str, str]) -> Iterator[Cluster]:
    cluster = open_cluster(disk.directory(), now, **configs)
    try:
        yield cluster
    finally:
        disk.on_change = None
        cluster.close()


def run(
    generation: int,
    configs: dict[str, str],
    cut: Callable[[MemoryDisk, str], list[MemoryDisk]],
) -> Run:
    """Play the script once, and take the disk apart after each change."""
    disk, found = MemoryDisk(), Run(generation)
    with opened(disk, NOW, configs) as cluster:
        cluster.create_topic("t", len(PARTITIONS), {})
        cluster.groups.ensure_topic()
        cluster.transactions.ensure_topic()
        for name in ("t", CONSUMER_OFFSETS, TRANSACTION_STATE):
            for partition in cluster.topic(name).partitions:  # before that a power cut loses them
                cluster.log_manager.flusher.flush(partition.log)
        cluster.log_manager.flusher.drain()
        play = Play(cluster, generation, {})

        def changed(what: str) -> None:
            at, now = len(found.sights) - 1, cluster.clock.now()
            found.crashes += [Crash(each, at, what, now) for each in cut(disk, what)]

        for step in SCRIPT:
            found.sights.append(sight(cluster))
            found.actors.append(play.actors())
            disk.on_change = changed
            step(play)
            disk.on_change = None
            at, now = len(found.sights) - 1, cluster.clock.now()
            found.answered += [Crash(each, at, "answered", now) for each in cut(disk, "")]
        found.sights.append(sight(cluster))
    return found


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


def check(found: Run, crash: Crash, configs: dict[str, str]) -> None:
    """Open what a crash left; go on."""
    context = f"step {crash.step}, {crash.what}"
    before, behind = found.sights[crash.step : crash.step + 2]
    with opened(crash.disk, crash.now, configs) as cluster:
        assert sight(cluster) in (before, behind), context
        play = Play(cluster, found.generation, found.actors[crash.step])
        for number, step in enumerate(SCRIPT[crash.step :], crash.step + 1):
            step(play)
            if number == crash.step + 1:
                assert sight(cluster) == behind, f"{context}; then once more"
        assert sight(cluster) == END, context


def check_alone(found: Run, crash: Crash, configs: dict[str, str]) -> None:
    """Open what a crash left; nobody comes back."""
    before, behind = found.sights[crash.step : crash.step + 2]
    with opened(crash.disk, crash.now, configs) as cluster:
        at_first = sight(cluster)
        cluster.advance(LONG_MS)
        at_last = sight(cluster)
    assert at_last.is_open == [False, False], crash
    assert at_last.written == at_first.written
    for index in PARTITIONS:  # what lay behind an open transaction is to be seen now
        seen, least = at_last.committed[index], at_first.committed[index]
        assert seen[: len(least)] == least
        assert set(seen) <= set(WHOLE[index])
    assert at_last.offset in (before.offset, behind.offset, -1, 3, 5, 7)


def check_both(found: Run, crash: Crash, configs: dict[str, str]) -> None:
    """With and without the clients."""
    check_alone(found, replace(crash, disk=crash.disk.kill()), configs)
    check(found, crash, configs)


def crashes_of_recovery(crash: Crash) -> list[Crash]:
    """The disks of a second crash, while a start writes what the first has cut short."""
    disk = crash.disk.kill()
    found: list[Crash] = []

    def changed(what: str) -> None:
        if ".log " in what and "__cluster_metadata" not in what:
            again = f"{crash.what}; then in recovery, {what}"
            found.extend(replace(crash, disk=each, what=again) for each in killed(disk, what))

    disk.on_change = changed
    with opened(disk, crash.now, CONFIGS):
        disk.on_change = None
    return found


@pytest.mark.parametrize("generation", [1, 2])
def test_after_a_kill_at_any_change_it_goes_on_as_if_there_had_been_none(generation: int) -> None:
    found = run(generation, CONFIGS, killed)
    assert found.sights[-1] == END
    for crash in found.crashes[:: min(EVERY, 2)]:
        check_both(found, crash, CONFIGS)


@pytest.mark.parametrize("generation", [1, 2])
def test_a_recovery_that_is_killed_is_begun_again(generation: int) -> None:
    found = run(generation, CONFIGS, killed)
    again = [each for crash in found.crashes for each in crashes_of_recovery(crash)]
    markers = [each for each in again if "__consumer_offsets" in each.what]
    completed = [each for each in again if "__transaction_state" in each.what]
    assert markers
    assert completed
    for crash in again[::EVERY]:
        check_both(found, crash, CONFIGS)


@pytest.mark.parametrize("generation", [1, 2])
@pytest.mark.parametrize("seed", range(SEEDS or 1))
def test_after_a_power_cut_at_any_change_it_goes_on_too(generation: int, seed: int) -> None:
    random = Random(seed)

    def cut(disk: MemoryDisk, _: str) -> list[MemoryDisk]:
        return [disk.crash(), disk.crash(random)]

    found = run(generation, FLUSHED, cut)
    assert found.sights[-1] == END
    for crash in found.answered:
        with opened(crash.disk, crash.now, FLUSHED) as cluster:
            assert sight(cluster) == found.sights[crash.step + 1], f"step {crash.step} was answered"
    for crash in found.crashes[::EVERY]:
        check_both(found, crash, FLUSHED)
