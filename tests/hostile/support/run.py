"""One run of an attack: the broker's memory meanwhile, and the polite client beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from tests.hostile.attacks import Attack
from tests.hostile.support.broker import Weight
from tests.hostile.support.clients import Polite
from tests.hostile.support.target import Target

LIMIT_S, FINISH_S = 180.0, 70.0


@dataclass(frozen=True)
class Outcome:
    """What an attack did: bytes of memory above idle, the slowest round of the polite client, and
    what went wrong, if anything."""

    growth: int
    longest_s: float
    failure: BaseException | None


def attacked(
    attack: Attack, count: int, target: Target, before: Callable[[], object] = lambda: None
) -> Outcome:
    """Set up, call `before`, attack."""
    if attack.setup is not None:
        attack.setup(target, count)
    polite = Polite(target.address)
    before()
    failure: BaseException | None = None
    with Weight(target.pid) as weight:
        polite.start()
        try:
            limited(lambda: attack.run(target, count), attack.name)
        except BaseException as error:
            failure = error
        try:
            polite.finish(FINISH_S)
        except BaseException as error:
            failure = failure or error
    return Outcome(weight.growth, polite.longest_s, failure)


def limited(action: Callable[[], object], name: str, limit_s: float = LIMIT_S) -> None:
    """Carry it out, but wait no longer than that. Raises what it raises, TimeoutError."""
    errors: list[BaseException] = []

    def carry_out() -> None:
        try:
            action()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=carry_out, daemon=True)
    thread.start()
    thread.join(limit_s)
    if thread.is_alive():
        raise TimeoutError(f"{name} was not over after {limit_s:.0f} s")
    if errors:
        raise errors[0]
