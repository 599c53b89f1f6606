"""docs/share-groups.md: every example runs as it stands, and every verb is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek import ShareGroupView
from odradek.compat.wire_client.members import SeenInFlight

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/share-groups.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka", minversion="2.16")
    examples = "\n\n".join(BLOCKS)
    pytester.makepyfile(examples)
    result = run_session(pytester, *())
    result.assert_outcomes(passed=len(re.findall(r"^def test_", examples, re.MULTILINE)))


@pytest.mark.parametrize("view", [ShareGroupView, SeenInFlight])
def test_every_verb_is_named(view: type) -> None:
    verbs = {name for name in dir(view) if not name.startswith("_")}
    assert [name for name in sorted(verbs) if not re.search(rf"\b{name}\b", TEXT)] == []
