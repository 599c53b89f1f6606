"""The list of mutants as a text, which is read and edited by hand.

    17 storage/log.py Log.append()
        - offset < self.start
        + offset <= self.start
        before: killed tests/storage/test_log.py::test_a_batch_is_appended
        after: gone, the caller checks it

`Log.append()#1` is the second place of that function that reads so. The verdicts of a run have the
run's name before them.
"""

from __future__ import annotations

from pathlib import Path

from .choosing import Mutant

LIST = Path(__file__).parent / "mutants.txt"


def read(text: str) -> list[Mutant]:
    found: list[Mutant] = []
    for line in text.splitlines():
        what, _, rest = line.strip().partition(" ")
        if line.startswith("#") or not what:
            continue
        if what == "-":
            found[-1].before = rest
        elif what == "+":
            found[-1].after = rest
        elif what.endswith(":"):
            found[-1].verdicts[what[:-1]] = rest
        else:
            file, _, where = rest.partition(" ")
            function, _, nth = where.partition("#")
            found.append(Mutant(int(what), file, function.strip(), int(nth or 0), "", ""))
    return found


def written(mutants: list[Mutant]) -> str:
    return "\n".join(map(_paragraph, mutants)) + "\n"


def _paragraph(each: Mutant) -> str:
    nth = f"#{each.nth}" if each.nth else ""
    lines = [
        f"{each.number} {each.file} {each.function}{nth}".rstrip(),
        f"- {each.before}",
        f"+ {each.after}",
        *(f"{name}: {verdict}" for name, verdict in each.verdicts.items()),
    ]
    return "\n    ".join(lines)
