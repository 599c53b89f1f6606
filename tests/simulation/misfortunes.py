"""What befalls a broker, its disk and its clients: each a verb of the world.

All of it can happen to a real broker, and is survived by clients with the right settings. A power
cut is only drawn where every record is flushed (`flush.messages=1`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from odradek.storage import MemoryDisk

from tests.simulation.plan import CALM
from tests.simulation.world import World

MINUTE_MS = 60_000


def _cut(world: World) -> Callable[[MemoryDisk], MemoryDisk]:
    """A power cut, with what is left drawn. Where syncs have failed the process dies alone: what
    was refused can be read, and may be lost."""
    seed = world.random.getrandbits(32)
    if world.process.was_ill:
        return MemoryDisk.kill
    return lambda disk: disk.crash(Random(seed))


def kill(world: World) -> None:
    world.dies(MemoryDisk.kill, is_whole=True)


def kill_soon(world: World) -> None:
    world.process.die_after(world.random.randrange(1, 12), MemoryDisk.kill)


def power(world: World) -> None:
    world.dies(_cut(world), is_whole=True)


def power_soon(world: World) -> None:
    world.process.die_after(world.random.randrange(1, 12), _cut(world))


def stop(world: World) -> None:
    world.stops()


def full(world: World) -> None:
    """The disk is full for a while."""
    world.process.was_ill = True
    world.process.disk.fill(after_bytes=world.random.randrange(600))
    world.at(world.now + world.random.choice((300, 2500)), world.process.disk.heal)


def torn(world: World) -> None:
    """A write is cut short, and the broker is started anew."""
    world.process.was_ill = True
    world.process.disk.tear_next_write("*.log", keep=world.random.randrange(120))
    world.at(world.now + world.random.choice((300, 2500)), partial(_ill_and_killed, world))


def syncs_fail(world: World) -> None:
    """So that it is unknown what has been written; the broker is started anew."""
    world.process.was_ill = True
    world.process.disk.fail_syncs()
    world.at(world.now + world.random.choice((300, 2500)), partial(_ill_and_killed, world))


def _ill_and_killed(world: World) -> None:
    world.dies(MemoryDisk.kill, is_whole=False)


def jump(world: World) -> None:
    """The clock goes ahead."""
    _advance(world, world.random.choice((2000, 7000, 20_000)))


def long_jump(world: World) -> None:
    """By as much as old records are deleted in."""
    _advance(world, MINUTE_MS)


def _advance(world: World, milliseconds: int) -> None:
    world.cluster().advance(milliseconds)


def compact(world: World) -> None:
    if not world.process.was_ill:
        world.cluster().log_manager.cleaner.compact_all()


def client_dies(world: World) -> None:
    alive = [actor for actor in world.actors if actor.doing is not None]
    if alive:
        world.dies_client(world.random.choice(alive))


def rebalance(world: World) -> None:
    """A member joins its group again, as one that was away for too long."""
    members = [actor.member for actor in world.actors if hasattr(actor, "member")]
    if members:
        world.random.choice(members).is_in = False


MISFORTUNES: dict[str, Callable[[World], None]] = {
    "kill": kill,
    "kill soon": kill_soon,
    "power": power,
    "power soon": power_soon,
    "stop": stop,
    "full": full,
    "torn": torn,
    "syncs fail": syncs_fail,
    "jump": jump,
    "long jump": long_jump,
    "compact": compact,
    "client dies": client_dies,
    "rebalance": rebalance,
}


def schedule(world: World) -> None:
    """Have the plan's misfortunes happen, and good weather after the last."""
    for after_ms, name in world.plan.misfortunes:
        world.at(world.now + after_ms, partial(_happen, world, name))
    world.at(world.now + 5000, partial(_calm, world))


def _happen(world: World, name: str) -> None:
    if world.process.cluster is not None:
        world.tell("misfortune", name)
        MISFORTUNES[name](world)


def _calm(world: World) -> None:
    world.tell("calm", "")
    world.weather = CALM
    world.process.disk.on_change = None
