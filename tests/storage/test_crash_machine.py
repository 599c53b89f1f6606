"""Power cuts and kills at every change of a file, and whatever Hypothesis makes up around them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from odradek.storage import LogConfig, MemoryDisk

from .crash_model import ASKED, Promise, World

CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=0, flush_messages=ASKED)


def script(world: World) -> list[Callable[[], None]]:
    """A life of two partitions in which everything happens."""

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
        lambda: world.checkpoint(),
    ]


Cut = tuple[str, Promise, MemoryDisk]


def cuts(durable: bool, after: Callable[[MemoryDisk], MemoryDisk]) -> list[Cut]:
    """The script's life, cut after each change: what was done, what holds, what is left."""
    world = World(CONFIG, durable=durable)
    found: list[Cut] = []
    watched = world

    def cut(what: str) -> None:
        found.append((f"{len(found)} {what}", watched.promise(), after(watched.disk)))

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


@pytest.mark.parametrize("durable", [False, True])
def test_a_kill_after_any_change_loses_nothing_acknowledged(durable: bool) -> None:
    hold(cuts(durable, MemoryDisk.kill), power=False)


@pytest.mark.parametrize("durable", [False, True])
def test_a_power_cut_after_any_change_loses_nothing_flushed(durable: bool) -> None:
    hold(cuts(durable, MemoryDisk.crash), power=True)


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_whatever_else_a_power_cut_leaves(durable: bool, seed: int) -> None:
    random = Random(seed)
    hold(cuts(durable, lambda disk: disk.crash(random)), power=True)
