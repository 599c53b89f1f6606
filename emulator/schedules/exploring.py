"""explore: a scenario under many schedules, with a broker of its own each time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from inspect import iscoroutinefunction
from typing import Any

from ..base.words import number_of
from ..emulator import Emulator
from .drawing import MOST, draw
from .horizon import Horizon, watch
from .legal import KINDS, check_kinds
from .schedule import Schedule
from .shrinking import Outcome, Shrinking, Shrunk

SEEDS = 50
NOTHING = "no client has asked for anything that misfortunes can happen to"
_Run = Outcome[BaseException | None]


def explore(
    scenario: Callable[[Emulator], Any],
    *,
    seeds: int | Iterable[int] = SEEDS,
    kinds: Iterable[str] = KINDS,
    most: int = MOST,
    schedule: Schedule | str | None = None,
    client_id: Any = None,
    **arguments: Any,
) -> None:
    """Run a scenario again and again, each time with a new broker and another schedule of small
    misfortunes, which clients with the right settings survive:

        explore(place_orders, seeds=50, topics={"orders": 1})

    scenario    a function of the broker, which raises what is wrong; a coroutine function is run
    seeds       how many, or which; the first run has none, and must pass
    kinds       of misfortunes: some of KINDS
    most        misfortunes of a schedule at most
    schedule    this one alone, as a report has told it
    client_id   whose requests they happen to, a name or a matcher as for rules: your application's,
                and not those of clients by which the scenario feeds it and looks at it
    arguments   of Emulator

    Raises what the scenario raises: of the run with the fewest misfortunes that was found, which
    are told in its notes. Raises ValueError, TypeError for other arguments.
    """
    chosen, numbers = check_kinds(kinds), _seeds(seeds)
    draw(0, Horizon(), kinds=chosen, most=most)  # checks `most`
    given = Schedule.parse(schedule) if isinstance(schedule, str) else schedule

    def run(schedule: Schedule) -> _Run:
        return _run(scenario, arguments, schedule, client_id)

    if given is not None:
        _tell(run(given), given, "")
        return
    with Emulator(**arguments) as kafka, watch(kafka, client_id) as horizon:
        _carry_out(scenario, kafka)
    if not any(draw(seed, horizon, kinds=chosen, most=most).misfortunes for seed in numbers):
        raise ValueError(NOTHING)
    for seed in numbers:
        schedule = draw(seed, horizon, kinds=chosen, most=most)
        outcome = run(schedule)
        if outcome.failure:
            found = Shrinking(outcome, run).shrink()
            _tell(found.outcome, found.schedule, f"seed {seed}: {told(found, schedule)}")


def told(found: Shrunk[Any], drawn: Schedule) -> str:
    """How a failure was shrunk, in a sentence."""
    had, left = len(drawn.misfortunes), len(found.schedule.misfortunes)
    of = number_of(had, "misfortune")
    if not left:
        return f"of {of} none is needed: it fails now and then without any"
    again = "" if found.tries == 1 else f", in the {_nth(found.tries)} run with them"
    until = ", when the time to look for fewer was over" if found.is_given_up else ""
    return f"{left} of {of} {'is' if left == 1 else 'are'} enough{again}{until}"


def _nth(number: int) -> str:
    return {2: "second", 3: "third"}.get(number, f"{number}th")


def _seeds(given: int | Iterable[int]) -> list[int]:
    numbers = list(range(1, given + 1)) if isinstance(given, int) else list(given)
    if not numbers:
        raise ValueError(f"seeds is how many there are, from 1 on, or which, not {given!r}")
    return numbers


def _carry_out(scenario: Callable[[Emulator], Any], kafka: Emulator) -> None:
    if iscoroutinefunction(scenario):
        asyncio.run(scenario(kafka))
    else:
        scenario(kafka)


def _run(
    scenario: Callable[[Emulator], Any], arguments: Any, schedule: Schedule, client_id: Any
) -> _Run:
    with Emulator(**arguments) as kafka:
        begun = schedule.begin(kafka, client_id)
        try:
            _carry_out(scenario, kafka)
            kafka.check_faults()
        except Exception as error:
            kafka.excuse_faults()
            return Outcome(type(error).__name__, begun.happened, error)
        return Outcome("", begun.happened, None)


def _tell(outcome: _Run, schedule: Schedule, how: str) -> None:
    """Raise what was raised, with its misfortunes."""
    error = outcome.payload
    if error is None:
        return
    if how:
        error.add_note(how)
    for line in schedule.code.splitlines():
        error.add_note(f"  {line}")
    error.add_note(f"to play it again: explore(..., schedule={str(schedule)!r})")
    raise error
