"""Sessions of pytest inside a test, in this process: each as users have it, without plugins that
would change the order or the time of its tests."""

from __future__ import annotations

import pytest

_OPTIONS = (
    *("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:hypothesispytest"),
    *("-p", "no:schemathesis"),  # which prints failures of Hypothesis in a way of its own
    *("-o", "asyncio_default_fixture_loop_scope=function"),
)


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    """Run the tests that were made there."""
    return pytester.runpytest_inprocess(*_OPTIONS, *options)


def run_apart(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    """In a process of its own: what looks at which modules are loaded, or is interrupted."""
    return pytester.runpytest_subprocess(*_OPTIONS, *options, timeout=300)
