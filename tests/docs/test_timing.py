"""docs/timing.md: every example runs as it stands, and its table is the one that is drawn from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek.emulator.readiness import figures

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/timing.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka")
    pytest.importorskip("aiokafka")
    examples = "\n\n".join(BLOCKS)
    pytester.makepyfile(examples)
    result = run_session(pytester)
    result.assert_outcomes(passed=len(re.findall(r"^ *def test_", examples, re.MULTILINE)))


@pytest.mark.parametrize(
    ("what", "row"),
    [
        ("a change of topics is committed", figures.COMMITTED),
        *((f"{count} partitions have their leader", row) for count, row in figures.LED.items()),
        ("a coordinator is found", figures.COORDINATOR_KNOWN),
        ("it knows that it is the coordinator", figures.COORDINATOR_ELECTED),
        ("it has loaded", figures.COORDINATOR_LOADED),
        ("a node that is stopped closes its connections", figures.STOPPING),
        ("markers are written", figures.MARKERS),
        *figures.LATENCY.items(),
        ("Produce in a transaction", figures.TRANSACTIONAL_PRODUCE),
    ],
)
def test_the_table_is_the_one_in_use(what: str, row: figures.Figures) -> None:
    cells = " | ".join(f"{value:g}" for value in row)
    assert f"| {what} | {cells} |" in TEXT
