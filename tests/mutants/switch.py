"""Which mutant is on in this process, and which it has reached: a module by itself, which the woven
source asks at each mutant's place.

A process that a test started says at once what it reaches, since it may be killed; for that of the
tests its plugin does, when a test has ended.
"""

from __future__ import annotations

import json
import os
from typing import Any

ON = int(os.environ.get("MUTANT_ON", "0"))
# A file of lines of JSON, where a run is asked what it reaches.
REPORT = os.environ.get("MUTANT_REPORT")
TEST = "MUTANT_TEST"
reached: set[int] = set()
_started_by = os.environ.get(TEST)
_open, _write, _close = os.open, os.write, os.close


def is_on(number: int) -> bool:
    if number not in reached:
        reached.add(number)
        if _started_by is not None:
            report(_started_by)
    return number == ON


def report(test: str, **result: Any) -> None:
    if REPORT is not None:
        line = json.dumps({"test": test, **result, "reached": sorted(reached)})
        file = _open(REPORT, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        _write(file, line.encode() + b"\n")
        _close(file)
