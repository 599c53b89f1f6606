"""What every machine counts alike, modules and lines, stays within its budgets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.budgets import LINES, MODULES

ROOT = Path(__file__).parent.parent
MOST_UNUSED = 0.05

IN_A_TEST = """
import json, sys

def ours():
    return [name for name in sys.modules if name.partition(".")[0] == "odradek"]

found = {}
import pytest
import odradek.fixtures.plugin
found["the pytest plugin"] = len(ours())
for name in ours():
    del sys.modules[name]
import odradek
found["import odradek"] = len(ours())
from odradek import Emulator
found["from odradek import Emulator"] = len(ours())
with Emulator():
    found["the first `with Emulator()`"] = len(ours())
print(json.dumps(found))
"""

SERVING = """
import json, os, sys
from odradek.compat.commands import main

class Output:
    def write(self, text):
        if "ready at" in text:
            count = sum(name.partition(".")[0] == "odradek" for name in sys.modules)
            os.write(1, json.dumps({"`odradek serve` at ready": count}).encode())
            os._exit(0)

    def flush(self):
        pass

sys.stdout = Output()
main(["serve", "--port", "0"])
"""


def check(name: str, count: int, budget: int) -> None:
    where = "tests/support/budgets.py"
    assert count <= budget, f"{name}: {count}, more than the budget of {budget} in {where}"
    least = budget * (1 - MOST_UNUSED)
    assert count >= least, f"{name}: {count}; lower the budget of {budget} in {where}"


def test_modules(tmp_path: Path) -> None:
    found: dict[str, int] = {}
    for program in (IN_A_TEST, SERVING):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "TMPDIR": str(tmp_path)},  # where the broker leaves its directory
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        found |= json.loads(done.stdout)
    assert found.keys() == MODULES.keys()
    for name, count in found.items():
        check(name, count, MODULES[name])


@pytest.mark.parametrize("package", LINES)
def test_lines(package: str) -> None:
    files = (ROOT / package).rglob("*.py")
    check(package, sum(path.read_text().count("\n") for path in files), LINES[package])


def test_a_budget_is_neither_exceeded_nor_left_unused() -> None:
    check("modules", 95, 100)
    check("modules", 100, 100)
    with pytest.raises(AssertionError, match=r"101, more than the budget of 100"):
        check("modules", 101, 100)
    with pytest.raises(AssertionError, match=r"94; lower the budget of 100"):
        check("modules", 94, 100)
