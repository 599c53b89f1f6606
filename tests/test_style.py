"""Style and types, as a test among the others: what `make lint` and `make types` find."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize("target", ["lint", "types"])
def test_nothing_is_found(target: str) -> None:
    command = ["make", target, f"VENV={sys.prefix}", f"--old-file={sys.prefix}/.installed"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
