"""The table of docs/situations.md, from the results of runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.situations.apps import CLIENTS
from tests.situations.judging import Outcome
from tests.situations.rows import ROWS
from tests.situations.run import results_of

PAGE = Path("docs/situations.md")
BEGIN = "<!-- situations: made by `python -m tests.situations` -->"
END = "<!-- end of situations -->"


def table(results: Sequence[dict[str, Any]]) -> str:
    """A row a situation and application, a column a client."""
    heads = [f"{each['client']} {each['version']}" for each in results]
    lines = [
        f"| Situation | Application | {' | '.join(heads)} |",
        "|---|---|" + "---|" * len(heads),
    ]
    verb = ""
    for row in ROWS:
        outcomes = [[Outcome(*o) for o in each["rows"].get(row.key, [])] for each in results]
        if not any(outcomes):
            continue
        shown = "" if row.verb == verb else f"`{row.verb}`"
        verb = row.verb
        cells = " | ".join(cell(each) for each in outcomes)
        lines.append(f"| {shown} | {row.application} | {cells} |")
    return "\n".join(lines)


def cell(outcomes: Sequence[Outcome]) -> str:
    """What several runs have shown; where they differ, how many have shown what."""
    counts = Counter(each.text for each in outcomes)
    if len(counts) <= 1:
        return "".join(_outcome_text(text, outcomes) for text in counts)
    total = len(outcomes)
    return "<br>".join(
        f"{count} of {total}: {_outcome_text(text, outcomes)}"
        for text, count in counts.most_common()
    )


def _outcome_text(text: str, outcomes: Sequence[Outcome]) -> str:
    seconds = [each.seconds for each in outcomes if each.text == text and each.seconds is not None]
    return f"{text} ({_seconds(min(seconds), max(seconds))})" if seconds else text


def _seconds(least: float, most: float) -> str:
    if most < 0.1:
        return "under 0.1 s"
    low, high = (f"{each:.1f}" if each < 10 else f"{each:.0f}" for each in (least, most))
    return f"{low} s" if low == high else f"{low} to {high} s"


def insert(page: str, made: str) -> str:
    """The page with a new table. Raises ValueError if the marker lines are not there."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"no place for the table: {BEGIN!r} ... {END!r}")
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def write() -> None:
    """Put the table of what was kept into the page."""
    paths = [results_of(client) for client in CLIENTS]
    results = [json.loads(path.read_text()) for path in paths if path.exists()]
    PAGE.write_text(insert(PAGE.read_text(), table(results)))
