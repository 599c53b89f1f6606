"""Results of runs, kept in a file of JSON, and the table that is made from them.

A result is of one application, its version and one kind of broker; a new run takes its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from .application import Application
from .brokers import KAFKA, ODRADEK

BEGIN = "<!-- applications: made by `make applications` -->"
END = "<!-- end of applications -->"
PASSED, FAILED, UNAVAILABLE = "passed", "failed", "unavailable"
_WORDS = {PASSED: "yes", FAILED: "NO", UNAVAILABLE: "could not be had"}


@dataclass(frozen=True)
class Result:
    application: str
    version: str
    broker: str
    """Its kind: "odradek" or "kafka"."""
    broker_version: str
    date: str
    seconds: float
    """Without the set-up."""
    outcome: str
    reason: str = ""
    """Of one that did not pass."""
    repeated: int = 0
    """How many records are there once more, where that is allowed."""
    ended: int = 0
    """How often a process of the application has ended by itself, and was started again."""


def load(path: Path) -> list[Result]:
    """Those of the file; none if there is no file."""
    if not path.exists():
        return []
    return [Result(**each) for each in json.loads(path.read_text())]


def save(path: Path, results: Iterable[Result]) -> None:
    """Put them in the place of earlier ones of the same application and kind of broker."""
    kept = {(each.application, each.broker): each for each in [*load(path), *results]}
    listed = [asdict(kept[key]) for key in sorted(kept)]
    path.write_text(json.dumps(listed, indent=1) + "\n")


def table(
    results: Sequence[Result],
    applications: Mapping[str, Application],
    unavailable: Sequence[tuple[str, str]],
) -> str:
    """The table of docs/compatibility.md, and the list of what could not be had."""
    found = _current(results, applications)
    lines = [
        "| application | what it does | guarantee | Odradek | Apache Kafka |",
        "|---|---|---|---|---|",
    ]
    for name, application in sorted(applications.items(), key=lambda each: each[1].title.lower()):
        ours, real = (found.get((name, kind)) for kind in (ODRADEK, KAFKA))
        title = f"{application.title} {application.version}"
        cells = [title, application.what, application.guarantee, _cell(ours), _cell(real)]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "What could not be had, and why:", ""]
    lines += [f"- **{title}**: {reason}" for title, reason in unavailable]
    return "\n".join(lines)


def short(results: Sequence[Result], applications: Mapping[str, Application]) -> str:
    """The sentence of the README: which passed on both, and which did not."""
    found = {key: each.outcome for key, each in _current(results, applications).items()}
    named = sorted(applications.values(), key=lambda each: each.title.lower())
    passed = [each for each in named if found.get((each.name, ODRADEK)) == PASSED]
    failed = [each for each in named if found.get((each.name, ODRADEK)) == FAILED]
    titles = [f"{each.title} {each.version}" for each in passed]
    text = f"{len(passed)} applications pass: {', '.join(titles)}."
    if failed:
        text += f" {len(failed)} fail: {', '.join(each.title for each in failed)}."
    return text


def insert(path: Path, made: str) -> None:
    """Put it between the two marker lines of a page. Raises ValueError if they are not there."""
    before, begin, rest = path.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path} has no place for the table: {BEGIN!r} ... {END!r}")
    path.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}")


def _current(
    results: Sequence[Result], applications: Mapping[str, Application]
) -> dict[tuple[str, str], Result]:
    """Those of the versions that the applications' files ask for, by application and broker."""
    return {
        (each.application, each.broker): each
        for each in results
        if each.application in applications
        and each.version == applications[each.application].version
    }


def _cell(result: Result | None) -> str:
    if result is None:
        return "not run"
    more = [f"{result.broker_version}, {result.date}, {result.seconds:.0f} s"]
    more += [f"{result.repeated} repeated"] * (result.repeated > 0)
    more += [f"ended by itself {result.ended} times"] * (result.ended > 0)
    more += result.reason.splitlines()[:1]
    return f"{_WORDS[result.outcome]} ({', '.join(more)})".replace("|", "\\|")
