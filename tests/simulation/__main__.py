"""`python -m tests.simulation --seeds N [--first N]`, or `--seed N --trace`: see the package."""

from __future__ import annotations

import argparse
import sys
from time import perf_counter

from tests.simulation.run import Result, broken_of, play


def main() -> int:
    """Returns the exit status: 1 if a guarantee was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, help="this one alone")
    parser.add_argument("--trace", action="store_true", help="tell what happens")
    given = parser.parse_args()
    if given.seed is not None:
        result = play(given.seed)
        _print(result, with_trace=given.trace)
        return bool(result.broken)
    return _many(range(given.first, given.first + given.seeds))


def _many(seeds: range) -> int:
    begin, count = perf_counter(), 0
    for done, results in broken_of(seeds):
        count += len(results)
        for result in results:
            _print(result, with_trace=False)
        rate = done / (perf_counter() - begin)
        print(f"{done} seeds, {rate:.0f} a second, {count} broken", file=sys.stderr)
    print(f"{len(seeds)} seeds from {seeds.start} on: {count} broken")
    return count > 0


def _print(result: Result, *, with_trace: bool) -> None:
    if with_trace:
        print("\n".join(result.trace))
    print(f"seed {result.seed}: {result.broken or 'clean'}")
    if result.broken and not with_trace:
        print(f"    python -m tests.simulation --seed {result.seed} --trace")


if __name__ == "__main__":
    sys.exit(main())
