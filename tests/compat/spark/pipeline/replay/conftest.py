"""A source with records, a target, and the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.commands import main

from tests.compat.spark.pipeline.clusters import CONFIG, Writer

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(CONFIG) as emulator:
        yield emulator


@pytest.fixture
def target() -> Iterator[str]:
    with Emulator(CONFIG) as emulator:
        yield emulator.bootstrap_servers


@pytest.fixture
def writer(kafka: Emulator) -> Iterator[Writer]:
    writer = Writer(kafka.bootstrap_servers)
    yield writer
    writer.close()


@pytest.fixture
def replay(tmp_path: Path, capsys: Printed) -> Any:
    """Runs the command; its summary, or the error."""

    def run(place: str, target: str, *more: str, status: int = 0) -> dict[str, Any]:
        state = ("--state", str(tmp_path / "state"))
        assert main(["replay", place, target, "--json", *state, *more]) == status
        out = capsys.readouterr()
        assert status or not list(tmp_path.glob("state*"))
        found: dict[str, Any] = {"error": out.err} if status == 2 else json.loads(out.out)
        return found

    return run
