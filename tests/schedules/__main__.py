"""`python -m tests.schedules --client java --seeds 500 [--variant commit-first]`: see the package.

Returns 1 if the correct loop fails, or a broken one is not caught.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections import Counter
from time import perf_counter
from typing import Any

from odradek import Emulator
from odradek.fixtures.schedules import Horizon, Schedule, draw, watch
from odradek.fixtures.schedules.exploring import shrinking_text
from odradek.fixtures.schedules.shrinking import Outcome, Shrinking

from tests.schedules.loop import CORRECT, STALLED, VARIANTS, Loop
from tests.schedules.pipes import CLIENTS, pipe_of
from tests.schedules.run import BROKER, scenario

_EVERY = 25


class Runs:
    """Runs of one client's loop, and what they came to."""

    def __init__(self, client: str, variant: str) -> None:
        pipe_of(client)  # imported before anything runs
        self.client = client
        self.variant = variant
        self.counts: Counter[str] = Counter()
        self.slowest = 0.0

    def learn(self) -> Horizon:
        """What requests there are without misfortunes. Raises what the scenario raises."""
        with _broker() as kafka, watch(kafka) as horizon:
            scenario(kafka, self.client, self.variant)
        return horizon

    def run(self, schedule: Schedule) -> Outcome[Any]:
        """One run; what else is raised than of a judgement is raised."""
        begin = perf_counter()
        with _broker() as kafka:
            begun = schedule.begin(kafka)
            try:
                loop: Loop = scenario(kafka, self.client, self.variant)
            except Exception as error:
                kafka.excuse_faults()
                lines = [str(error), "", kafka.timeline()]
                return Outcome(type(error).__name__, begun.happened, "\n".join(lines))
            self.counts["aborted"] += loop.aborted
            self.counts["restarted"] += loop.restarted
            self.counts["stalled"] += loop.errors.count(STALLED)
            self.counts["happened"] += len(begun.happened)
            for each in begun.happened:
                self.counts[each.kind] += 1
        self.slowest = max(self.slowest, perf_counter() - begin)
        return Outcome("", begun.happened, "")


def _broker() -> Emulator:
    arguments: dict[str, Any] = BROKER
    return Emulator(**arguments)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.schedules", description=__doc__)
    parser.add_argument("--client", choices=CLIENTS, default=CLIENTS[0])
    parser.add_argument("--variant", choices=VARIANTS, default=CORRECT)
    parser.add_argument("--seeds", type=int, default=50, help="how many")
    parser.add_argument("--first", type=int, default=1, help="the first of them")
    parser.add_argument("--schedule", help="this one alone, as it was shrinking_text")
    parser.add_argument("--timeline", action="store_true", help="tell what happened")
    given = parser.parse_args()
    logging.disable()  # clients tell at length of what is done to them
    runs = Runs(given.client, given.variant)
    if given.schedule is not None:
        outcome = runs.run(Schedule.parse(given.schedule))
        print(outcome.payload or "passed")
        return bool(outcome.failure)
    return _many(runs, range(given.first, given.first + given.seeds), given.timeline)


def _many(runs: Runs, seeds: range, with_timeline: bool) -> int:
    horizon, begin, failed = runs.learn(), perf_counter(), 0
    print(f"{runs.client}, {runs.variant}: {dict(horizon.requests)}", flush=True)
    for done, seed in enumerate(seeds, 1):
        schedule = draw(seed, horizon)
        outcome = runs.run(schedule)
        if outcome.failure:
            failed += 1
            print(f"seed {seed} fails: {outcome.failure}", flush=True)
            shrunk = Shrinking(outcome, runs.run).shrink()
            text = shrunk.outcome.payload
            print(
                f"  {shrinking_text(shrunk, schedule)} ({shrunk.runs} runs)\n{shrunk.schedule.code}"
            )
            print(f"  --schedule '{shrunk.schedule}'")
            print(text if with_timeline else text.partition("\n\n")[0], flush=True)
            if runs.variant != CORRECT:
                return 0
        if done % _EVERY == 0:
            pace = (perf_counter() - begin) / done
            print(f"{done} seeds, {failed} failed, {pace:.2f} s each", file=sys.stderr, flush=True)
    took = perf_counter() - begin
    print(f"{len(seeds)} seeds from {seeds.start} on: {failed} failed, {took:.0f} s")
    print(f"  slowest {runs.slowest:.1f} s, {dict(runs.counts)}")
    return failed > 0 if runs.variant == CORRECT else 1


if __name__ == "__main__":
    sys.exit(main())
