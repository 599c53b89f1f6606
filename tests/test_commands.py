"""The commands of those who work on this: make's targets are listed, the hooks' commands run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE)
HOOKS = re.findall(r"^ +entry: (.+)$", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE)
WITH_FILES = [hook for hook in HOOKS if not hook.startswith("make ")]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_lists_every_target() -> None:
    found = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.findall(r"^make ([a-z-]+) +\w", found.stdout, re.MULTILINE) == TARGETS


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_bytecode_is_kept_where_the_environment_forbids_it() -> None:
    target = "said:\n\t@echo [$$PYTHONDONTWRITEBYTECODE]\n"
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    command = ["make", "-s", "-f", "Makefile", "-f", "-", "said"]
    found = subprocess.run(
        command, cwd=ROOT, input=target, env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout == "[]\n"


def test_no_target_is_a_file() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    assert phony.split() == TARGETS


def test_hooks_that_take_no_files_are_targets_of_make() -> None:
    assert {hook.split()[1] for hook in set(HOOKS) - set(WITH_FILES)} == {"types"}
    assert "types" in TARGETS


@pytest.mark.parametrize("hook", WITH_FILES)
def test_a_hook_mends_a_file_and_is_content_afterwards(hook: str, tmp_path: Path) -> None:
    command, *options = hook.split()
    assert command.startswith(".venv/bin/"), "the tools of the project's own environment"
    tool = Path(sys.executable).parent / Path(command).name
    file = tmp_path / "one.py"
    file.write_text("import sys\nimport os\nprint( os, sys )\n")
    before = file.read_text()
    config = ["--config", str(ROOT / "pyproject.toml")]
    for _ in range(2):
        subprocess.run([tool, *options, *config, file], cwd=tmp_path, check=True)
    assert file.read_text() != before
