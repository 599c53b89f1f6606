"""A broker with the topic `orders`, and a shell on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek import Emulator
from odradek.compat.cli.main import main

from tests.compat.cli.console.support import KEPT, Shell


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(KEPT, topics={"orders": 2}) as emulator:
        yield emulator


@pytest.fixture
def shell(kafka: Emulator, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs a command against the broker; gives the words of each line."""

    def run(view: str, *arguments: str, status: int = 0) -> list[list[str]]:
        assert main([view, kafka.bootstrap_servers, *arguments]) == status
        out = capsys.readouterr()
        return [line.split() for line in (out.err if status else out.out).splitlines()]

    return run
