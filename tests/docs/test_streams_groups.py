"""docs/streams-groups.md: every example runs as it stands, and every verb is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek import StreamsGroupView
from odradek.compat import Unavailable
from odradek.fixtures.views import SeenSubtopology, SeenTask

from tests.clients.streams.application import archives
from tests.clients.streams.word_count import FIXTURE
from tests.support.sessions import run as run_session

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/streams-groups.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.client
@pytest.mark.slow
def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    try:
        archives()
    except Unavailable as reason:
        pytest.skip(f"unavailable: {reason}")
    examples = "\n\n".join(BLOCKS)
    pytester.makeconftest(FIXTURE)
    pytester.makepyfile(examples)
    result = run_session(pytester)
    result.assert_outcomes(passed=len(re.findall(r"^def test_", examples, re.MULTILINE)))


@pytest.mark.parametrize("view", [StreamsGroupView, SeenTask, SeenSubtopology])
def test_every_verb_is_named(view: type) -> None:
    verbs = {name for name in dir(view) if not name.startswith("_")}
    assert [name for name in sorted(verbs) if not re.search(rf"\b{name}\b", TEXT)] == []
