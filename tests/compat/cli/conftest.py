"""The `odradek` command in this process: what it said, and with which status it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from odradek.compat.cli.main import main

from tests.support.ended import Ended
from tests.support.left import noted, put_back


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Ended]]:
    """Runs a command that ends by itself. The handlers of signals that it set are taken away."""
    before = noted()

    def run(*arguments: str) -> Ended:
        try:
            status = main(list(arguments))
        except SystemExit as ended:
            status = int(ended.code or 0)
        return Ended(status, *capsys.readouterr())

    yield run
    put_back(before)
