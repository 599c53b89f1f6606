"""Tests that use Spark share one session with all others of their process."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _one_session(request: pytest.FixtureRequest) -> None:
    """A command that finds a session uses it, and does not start and stop one of its own."""
    if request.node.get_closest_marker("spark") is not None:
        request.getfixturevalue("spark")
