"""docs/security.md: every example runs as it stands, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek.emulator.security.listeners import PROTOCOLS
from odradek.emulator.security.mechanisms import KNOWN
from odradek.fixtures.kafka.users import Users

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/security.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka")
    pytester.makepyfile("\n\n".join(BLOCKS))
    result = run_session(pytester)
    result.assert_outcomes(passed=len(BLOCKS))


def test_every_verb_protocol_and_mechanism_is_named() -> None:
    verbs = {name for name in dir(Users) if not name.startswith("_")}
    for name in (*verbs, *PROTOCOLS, *KNOWN):
        assert re.search(rf"\b{name}\b", TEXT), name
