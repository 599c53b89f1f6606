"""docs/traffic.md: every example runs as it stands, every command too."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.emulator.control.traffic.exchange import Exchange
from odradek.wire import Error
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.produce import batch, produce
from tests.support.connection import Connection
from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/traffic.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = re.findall(r"^odradek (?:journal|replay) .*$", TEXT, re.MULTILINE)


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka")
    examples = "\n\n".join(BLOCKS)
    pytester.makepyfile(examples)
    result = run_session(pytester)
    result.assert_outcomes(passed=len(BLOCKS))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with kept.jsonl, in which each command finds something."""
    where = tmp_path_factory.mktemp("traffic")
    with Emulator(topics={"orders": 1}, journal=True) as kafka:
        with Connection(kafka.bootstrap_servers) as client:
            client.ask(MetadataRequest(topics=None), 12)
            produce(client, batch(b"x"), topic="orders")
        path = kafka.journal.save(where / "kept.jsonl")
    text = path.read_text().replace('"by hand"', '"shop"')
    path.write_text(text)
    return where


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs(command: str, place: Path) -> None:
    with Emulator(topics={"orders": 1}) as kafka:
        given = shlex.split(command.replace("localhost:9092", kafka.bootstrap_servers))[1:]
        done = subprocess.run(
            [sys.executable, "-m", "odradek", *given], cwd=place, capture_output=True, text=True
        )
    finds_nothing = "--error" in command or "--client shop" in command
    assert done.returncode in ((0, 1) if finds_nothing else (0,)), done.stderr
    assert "odradek:" not in done.stderr


def test_every_attribute_of_an_exchange_is_named() -> None:
    names = {name for name in dir(Exchange) if not name.startswith("_")}
    hidden = {"api_key", "is_kept", "reason", "response_version"}
    assert [name for name in sorted(names - hidden) if f"`{name}`" not in TEXT] == []


def test_the_errors_in_commands_exist() -> None:
    assert all(name in Error.__members__ for name in re.findall(r"--error (\w+)", TEXT))
