"""`python -m tests.tape`: look at the tape, play it, and record it anew.

show NAME ...         requests and answers of the takes whose names begin so, decoded
play [NAME ...]       play them, or all, to the emulator; print where it answers otherwise
record [NAME ...]     ask a real Kafka, and say what has changed; `git diff` shows it

--family FAMILY       only those of this family; may be repeated
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from odradek.compat import Unavailable

from tests.differential.engine.steps import Sequence
from tests.differential.engine.transcript import transcript

from .families import family_names, recorded, release_of, sequences_of, tape_of
from .record import record
from .replay import ReplayEngine
from .show import show
from .side import Changed


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.tape")
    parser.add_argument("verb", choices=("show", "play", "record"))
    parser.add_argument("name", nargs="*")
    parser.add_argument("--family", action="append", default=[])
    given = parser.parse_intermixed_args(arguments)
    verbs = {"show": _show, "play": _play, "record": _record}
    return verbs[given.verb](given.family, tuple(given.name))


def _show(chosen: list[str], names: tuple[str, ...]) -> int:
    for family in chosen or recorded():
        for take in tape_of(family).takes.values():
            if take.name.startswith(names):
                print("\n".join(show(take)), end="\n\n")
    return 0


def _play(chosen: list[str], names: tuple[str, ...]) -> int:
    differing = 0
    for family in chosen or recorded():
        with closing(ReplayEngine(tape_of(family), release=release_of(family))) as engine:
            for sequence in engine.in_order(sequences_of(family, engine.served)):
                if not names or sequence.name.startswith(names):
                    differing += _differs(engine, sequence)
    print(f"{differing} differ")
    return differing > 0


def _differs(engine: ReplayEngine, sequence: Sequence) -> bool:
    """Whether there is a difference, which is printed."""
    try:
        result = engine.run(sequence)
    except Changed as changed:
        print(f"{sequence.name}: {changed}")
        return True
    if result.findings:
        print(f"{transcript(result)}\n")
    return bool(result.findings)


def _record(chosen: list[str], names: tuple[str, ...]) -> int:
    try:
        answers = [record(family, names, print) for family in chosen or family_names()]
        return not all(answers)
    except Unavailable as reason:
        print(f"unavailable: {reason}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
