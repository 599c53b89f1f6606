"""docs/shell.md: every command runs as it stands, and prints what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from odradek.emulator import Emulator
from odradek.emulator.cli.console import habits

TEXT = (Path(__file__).parents[2] / "docs/shell.md").read_text()
SESSION = "".join(re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL))
STEPS = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", SESSION, re.MULTILINE)

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@pytest.mark.slow
def test_the_session_goes_as_it_is_told(tmp_path: Path) -> None:
    odradek = tmp_path / "bin/odradek"
    odradek.parent.mkdir()
    odradek.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m odradek "$@"\n')
    odradek.chmod(0o755)
    assert len(STEPS) > 15
    with Emulator(AUTHORIZER) as kafka:
        environment = {
            **os.environ,
            "PATH": f"{odradek.parent}:{os.environ['PATH']}",
            "TZ": "UTC",
            habits.VARIABLE: kafka.bootstrap_servers,
        }
        for command, said in STEPS:
            if command.startswith("export "):
                assert command == f"export {habits.VARIABLE}=localhost:9092"
                continue
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert done.stdout == said, command
            assert done.returncode == 0, command


def test_every_other_name_is_on_the_page() -> None:
    others = [name for names in habits._ACTIONS.values() for name in names]
    assert [name for name in others if f"`{name}`" not in TEXT] == []
    assert [name for name in habits._OPTIONS if f"`{name}`" not in TEXT] == ["--bootstrap-servers"]
