"""docs/brokers.md: every example runs as it stands, and every verb of a broker is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek.emulator.facets.brokers import BrokerView

TEXT = (Path(__file__).parents[2] / "docs/brokers.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka")
    examples = "\n\n".join(BLOCKS)
    pytester.makepyfile(examples)
    result = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "-p", "no:randomly", timeout=120
    )
    result.assert_outcomes(passed=len(re.findall(r"^ *def test_", examples, re.MULTILINE)))


def test_every_verb_is_told() -> None:
    verbs = [name for name in vars(BrokerView) if not name.startswith("_")]
    assert [name for name in verbs if name not in TEXT] == []
