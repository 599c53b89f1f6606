"""docs/shell.md: every command runs as it stands, and prints what the page says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.cli.console import aliases
from odradek.compat.cli.main import main

TEXT = (Path(__file__).parents[2] / "docs/shell.md").read_text()
SESSION = "".join(re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL))
STEPS = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", SESSION, re.MULTILINE)

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


OF_A_SHELL = re.compile(r"[|<>]|^(?!odradek )")


@pytest.fixture
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times on the page are of UTC."""
    with monkeypatch.context() as here:
        here.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.slow
@pytest.mark.usefixtures("in_utc")
def test_the_session_goes_as_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command without a pipe or a redirection runs in this process, which is quicker."""
    odradek = tmp_path / "bin/odradek"
    odradek.parent.mkdir()
    odradek.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m odradek "$@"\n')
    odradek.chmod(0o755)
    assert len(STEPS) > 15
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{odradek.parent}:{os.environ['PATH']}")
    with Emulator(AUTHORIZER) as kafka:
        monkeypatch.setenv(aliases.VARIABLE, kafka.bootstrap_servers)
        for command, said in STEPS:
            if command.startswith("export "):
                assert command == f"export {aliases.VARIABLE}=localhost:9092"
            elif OF_A_SHELL.search(command):
                done = subprocess.run(
                    ["sh", "-c", command],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
                assert done.stdout == said, command
                assert done.returncode == 0, command
            else:
                assert main(shlex.split(command)[1:]) == 0, command
                out = capsys.readouterr()
                assert out.out + out.err == said, command


def test_every_other_name_is_on_the_page() -> None:
    others = [name for names in aliases._ACTIONS.values() for name in names]
    assert [name for name in others if f"`{name}`" not in TEXT] == []
    assert [name for name in aliases._OPTIONS if f"`{name}`" not in TEXT] == ["--bootstrap-servers"]
