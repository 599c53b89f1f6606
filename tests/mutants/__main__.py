"""`python -m tests.mutants`: small changes of the source, and which tests notice them.

    choose --count 300 --seed 29   draws them anew, into mutants.txt
    weave                          all of them, asleep, in a copy below build/mutants
    reach tests/wire -m "not slow" runs tests there, and notes what each reaches
    run now                        each mutant with the tests that reach it; `now` names the run
    same 1463845 now               first: whether what killed each in that run does so now
    table                          killed, survived, not reached: by room and by run

`all now` does it all but the first, with the tests of `make check` and those of the other rooms
that need neither Java nor half a minute. A mutant whose place is gone keeps what was written of it
by hand, and may be moved by hand to where its line is now.
"""

from __future__ import annotations

import argparse
import resource
import shlex
from collections import Counter, defaultdict
from pathlib import Path

from .choosing import Mutant, choose
from .listed import LIST, read, written
from .running import Runs, reach_of
from .weaving import weave

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "build/mutants"
QUICK = 'tests/wire tests/storage tests/emulator -m "not real and not slow and not long"'
OTHERS = (
    "tests/fixtures tests/compat tests/docs tests/situations tests/schedules tests/kit_both "
    'tests/test_commands.py -m "not real and not spark and not slow and not long"'
)
STATES = ("killed", "survived", "not reached", "gone")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--through", default="", help='how runs are started, as "nice -n 15"')
    verbs = parser.add_subparsers(dest="verb", required=True)
    choosing = verbs.add_parser("choose")
    choosing.add_argument("--count", type=int, default=300)
    choosing.add_argument("--seed", type=int, default=29)
    verbs.add_parser("weave")
    verbs.add_parser("reach")
    for verb in ("run", "all"):
        running = verbs.add_parser(verb)
        running.add_argument("name")
        running.add_argument("numbers", nargs="*", type=int)
        running.add_argument("--only", default="", help="those whose verdict begins so")
        running.add_argument("--seconds", type=float, default=25, help="of tests for each mutant")
    again = verbs.add_parser("same")
    again.add_argument("before")
    again.add_argument("name")
    verbs.add_parser("table")
    given, rest = parser.parse_known_args()
    runs = Runs(PLACE, shlex.split(given.through))
    mutants = read(LIST.read_text()) if given.verb != "choose" else []
    if given.verb == "choose":
        LIST.write_text(written(choose(ROOT, given.count, given.seed)))
    if given.verb in ("weave", "all"):
        gone = weave(ROOT, PLACE, mutants)
        runs.gone.write_text(" ".join(str(each.number) for each in gone))
        for each in gone:
            print(f"gone: {each.number} {each.file} {each.function}: {each.before}")
    if given.verb in ("reach", "all"):
        for asked in [rest] if rest else map(shlex.split, (QUICK, OTHERS)):
            runs.reach(asked)
    if given.verb == "same":
        same(runs, mutants, given.before, given.name)
    if given.verb in ("run", "all"):
        run(runs, mutants, given)
    if given.verb in ("table", "all"):
        print(table(mutants))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"CPU: {used.ru_utime + used.ru_stime:.0f} s")


def run(runs: Runs, mutants: list[Mutant], given: argparse.Namespace) -> None:
    """The verdicts are written one by one, so that a run may be stopped."""
    gone = {int(number) for number in runs.gone.read_text().split()}
    asked = []
    for mutant in mutants:
        had = mutant.verdicts.get(given.name, "")
        is_asked = mutant.number in given.numbers if given.numbers else True
        if mutant.number in gone:
            mutant.verdicts[given.name] = had if had.startswith("gone") else "gone"
        elif is_asked and (had.startswith(given.only) if given.only else given.numbers or not had):
            asked.append(mutant)
    for mutant, verdict in runs.verdicts(asked, reach_of(runs.report), given.seconds):
        mutant.verdicts[given.name] = verdict
        print(mutant.number, mutant.file, verdict, flush=True)
        LIST.write_text(written(mutants))


def same(runs: Runs, mutants: list[Mutant], before: str, name: str) -> None:
    """Those that another test kills, or none, have no verdict afterwards: `run` finds it."""
    killers = {}
    for mutant in mutants:
        verdict, _, test = mutant.verdicts.get(before, "").partition(" ")
        if (
            verdict == "killed"
            and "::" in test
            and (runs.place / "tree" / test.split("::")[0]).exists()
        ):
            killers[mutant.number] = test
    asked = [each for each in mutants if each.number in killers and name not in each.verdicts]
    jobs = [(each, [killers[each.number]]) for each in asked]
    for mutant, killer, _ in runs.asked(jobs, reach_of(runs.report)):
        if killer == killers[mutant.number]:
            mutant.verdicts[name] = f"killed {killer}"
            LIST.write_text(written(mutants))
        print(mutant.number, mutant.file, killer, flush=True)


def state_of(verdict: str) -> str:
    return next((each for each in STATES if verdict.startswith(each)), "")


def table(mutants: list[Mutant]) -> str:
    """A line for each room, four counts for each run."""
    names = list(dict.fromkeys(name for each in mutants for name in each.verdicts))
    counts: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for mutant in mutants:
        for name, verdict in mutant.verdicts.items():
            counts[mutant.room][name, state_of(verdict)] += 1
            counts["all"][name, state_of(verdict)] += 1
    lines = [f"{'room':26}" + "".join(f"{name:32}" for name in names)]
    lines += [f"{'':26}" + "".join(f"{state[:7]:8}" for _ in names for state in STATES)]
    for room, its in counts.items():
        numbers = (its[name, state] for name in names for state in STATES)
        lines.append(f"{room:26}" + "".join(f"{number:<8}" for number in numbers))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
