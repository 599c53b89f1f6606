"""The scenarios by name, and how one is run."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from ..clients import Client, within

Scenario = Callable[[Client, str], None]

SCENARIOS: dict[str, Scenario] = {}
TIMEOUT_S = 90.0


def scenario(function: Scenario) -> Scenario:
    """Register a scenario under its name."""
    SCENARIOS[function.__name__] = function
    return function


def run(name: str, client: Client, bootstrap: str, timeout_s: float = TIMEOUT_S) -> None:
    """Run a scenario; raise what it raises, or TimeoutError with the place where it hangs."""
    within(timeout_s, f"{name} with {client.name}", lambda: SCENARIOS[name](client, bootstrap))


def new_name(what: str, client: Client) -> str:
    """Return a unique name for a topic, a group or a transactional id."""
    return f"{what}-{client.name}-{uuid.uuid4().hex[:8]}"
