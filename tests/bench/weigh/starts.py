"""Imports, the plugin in a session without it, `odradek serve`, and the starts of an `Emulator`.

Every figure comes from a fresh process, and the two sides take turns.
"""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.support.processes import memory

from .figures import SIDES, Figures
from .sites import Site, python

AT_REST_AFTER_S = 0.5
LATER_STARTS = 10
TIMEOUT_S = 30.0

_COUNTED = """
import sys
from time import perf_counter, process_time
{before}
cpu, wall = process_time(), perf_counter()
{statement}
cpu, wall = process_time() - cpu, perf_counter() - wall
ours = sum(name.partition(".")[0] == "odradek" for name in sys.modules)
print("[%f, %f, %d, %d]" % (cpu * 1000, wall * 1000, len(sys.modules), ours))
"""
_EMULATOR = """
try:
    from odradek import Emulator
except ImportError:  # a commit without a root
    from odradek.emulator import Emulator
"""
_SESSION = """
import pytest
pytest.main(["-q", "-p", "no:cacheprovider", {plugin} "test_it.py"])
"""
_STARTS = (
    _EMULATOR
    + """
from time import perf_counter, process_time
found = []
for _ in range({count}):
    kafka = Emulator()
    begin = perf_counter(), process_time()
    kafka.start()
    ready = perf_counter(), process_time()
    kafka.stop()
    end = perf_counter(), process_time()
    found.append([(ready[n] - begin[n]) * 1000 for n in (0, 1)])
    found[-1] += [(end[n] - ready[n]) * 1000 for n in (0, 1)]
import sys
ours = sum(name.partition(".")[0] == "odradek" for name in sys.modules)
print([len(sys.modules), ours, found])
"""
)

EMULATOR = "from odradek import Emulator"
PLAIN = "import odradek"
PLUGIN, PLUGIN_MODULE = "the pytest plugin, not used", "odradek.fixtures.plugin"
SERVE = "odradek serve, ready"
FIRST_START, FIRST_STOP = "Emulator, first start", "Emulator, first stop"
LATER_START, LATER_STOP = "Emulator, later start", "Emulator, later stop"
ROWS = (EMULATOR, PLAIN, PLUGIN, SERVE, FIRST_START, FIRST_STOP, LATER_START, LATER_STOP)
CPU, WALL, MODULES, OURS = "CPU ms", "wall ms", "modules", "of ours"
RSS, ANONYMOUS = "memory MB", "anonymous MB"
COLUMNS = (CPU, WALL, MODULES, OURS, RSS, ANONYMOUS)


def measure(sites: dict[str, Site], figures: Figures, rounds: int) -> None:
    probes: tuple[Callable[[Site, Path], Iterator[tuple[str, str, float]]], ...] = (
        _imports,
        _plugin,
        _serve,
        _starts,
    )
    order = list(SIDES)
    with tempfile.TemporaryDirectory(prefix="odradek-weigh-") as place:
        Path(place, "test_it.py").write_text("def test_it():\n    assert True\n")
        for _ in range(rounds):
            for probe in probes:
                for side in order:
                    for row, column, value in probe(sites[side], Path(place)):
                        figures.add(row, column, side, value)
            order.reverse()


def _imports(site: Site, place: Path) -> Iterator[tuple[str, str, float]]:
    for row, statement in ((EMULATOR, _EMULATOR), (PLAIN, PLAIN)):
        for column, value in _counted(site, place, "", statement).items():
            yield row, column, value


def _plugin(site: Site, place: Path) -> Iterator[tuple[str, str, float]]:
    """Its import, and what a session with it has loaded at the end beyond one without it."""
    imported = _counted(site, place, "import pytest", f"import {PLUGIN_MODULE}")
    yield PLUGIN, CPU, imported[CPU]
    yield PLUGIN, WALL, imported[WALL]
    without, with_it = (
        _counted(site, place, "", _SESSION.format(plugin=plugin))
        for plugin in ("", f'"-p", "{PLUGIN_MODULE}",')
    )
    for column in (MODULES, OURS):
        yield PLUGIN, column, with_it[column] - without[column]


def _counted(site: Site, place: Path, before: str, statement: str) -> dict[str, float]:
    found = _printed(site, place, _COUNTED.format(before=before, statement=statement))
    return dict(zip((CPU, WALL, MODULES, OURS), found, strict=True))


def _starts(site: Site, place: Path) -> Iterator[tuple[str, str, float]]:
    modules, ours, found = _printed(site, place, _STARTS.format(count=1 + LATER_STARTS))
    yield FIRST_START, MODULES, modules
    yield FIRST_START, OURS, ours
    for number, (start, start_cpu, stop, stop_cpu) in enumerate(found):
        rows = (LATER_START, LATER_STOP) if number else (FIRST_START, FIRST_STOP)
        yield rows[0], WALL, start
        yield rows[0], CPU, start_cpu
        yield rows[1], WALL, stop
        yield rows[1], CPU, stop_cpu


def _serve(site: Site, place: Path) -> Iterator[tuple[str, str, float]]:
    """Until its line, and at rest a little later."""
    command = [str(site.packages / "bin/odradek"), "serve", "--port", "0"]
    begin = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=place,
        env={**site.environment, "TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if b"ready at" in line:
                break
        else:
            raise RuntimeError(f"{site.name}: `odradek serve` ended before it was ready")
        yield SERVE, WALL, (time.perf_counter() - begin) * 1000
        yield SERVE, CPU, _cpu_ms(process.pid)
        time.sleep(AT_REST_AFTER_S)
        at_rest = memory(process.pid)
        yield SERVE, RSS, at_rest.resident / 2**20
        if at_rest.anonymous is not None:
            yield SERVE, ANONYMOUS, at_rest.anonymous / 2**20
        process.send_signal(signal.SIGTERM)
        process.stdout.read()


def _cpu_ms(pid: int) -> float:
    """Of all its threads until now."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6


def _printed(site: Site, place: Path, program: str) -> Any:
    """What a program writes in its last line, which is JSON."""
    process = python(site, ["-c", program], place)
    out, _ = process.communicate(timeout=TIMEOUT_S)
    if process.returncode:
        raise RuntimeError(f"{site.name}: exit status {process.returncode} of {program}")
    return json.loads(out.splitlines()[-1])
