"""Real time, also while a test has frozen its own.

freezegun, mock and monkeypatch put other functions in the place of those of the module `time`, and
of what other modules have imported from it. So the functions here come from a second instance of
that module, which is known here only: nobody finds it to replace anything in it. time-machine
changes the wall clock's C functions themselves, but keeps the old ones, and leaves `monotonic` and
`perf_counter` alone.
"""

from __future__ import annotations

import importlib.util
import sys
from contextlib import suppress
from importlib.machinery import BuiltinImporter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import time as _own
else:
    _spec = BuiltinImporter.find_spec("time")
    _own = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_own)

monotonic = _own.monotonic
perf_counter = _own.perf_counter
sleep = _own.sleep


def real_ms() -> int:
    """Whole milliseconds since some moment."""
    return int(monotonic() * 1000)


def wall_time() -> float:
    """Seconds since 1970."""
    time_machine = sys.modules.get("time_machine")
    if time_machine is not None:
        with suppress(ValueError):  # time is not travelling
            return float(time_machine.escape_hatch.time.time())
    return _own.time()
