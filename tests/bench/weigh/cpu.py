"""CPU of a broker for each request over a socket, in microseconds.

A broker is a process that holds an `Emulator` (broker.py). This one sends it the same frame again
and again over one connection, 50 at a time (4 of 1 MB), and reads as many bytes of answers as it
must; CPU is that of the broker's process, kernel included. In the column "single" there is one
request in flight: what a socket's calls and waking up cost comes to each request then. In the
others they are shared by 50, so that what is seen is Odradek. All brokers are there at once, and
take turns; what is shown are medians, and the medians of the ratios of each round.

Plain: as `Emulator()` is. One rule: on DeleteTopics, which nobody sends. Super user: with an
authorizer. Journal: `Emulator(journal=True)`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..frames import ask, connect
from .figures import HERE, SIDES, Figures
from .requests import FETCH_1_MB, prepared
from .sites import Site, python

PLAIN, SINGLE = "plain", "single"
RULE, SUPER_USER, JOURNAL = "one rule", "super user", "journal"
_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    PLAIN: {},
    RULE: {"rule": "DeleteTopics"},
    SUPER_USER: {"config": {"authorizer.class.name": _AUTHORIZER, "super.users": "User:ANONYMOUS"}},
    JOURNAL: {"journal": True},
}
AT_ONCE = 50
TIMES, TIMES_SINGLE = 10, 150
TIMEOUT_S = 30.0


class Measured:
    def __init__(self, site: Site, settings: Mapping[str, Any], place: Path) -> None:
        program = str(Path(__file__).with_name("broker.py"))
        self._process = python(site, [program, json.dumps(settings)], place)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        address = self._out.readline().decode().strip()
        if not address:
            raise RuntimeError(f"{site.name}: no broker with {settings}")
        self._connection = connect(address)
        self.frames = prepared(self._connection)
        self._sizes = {kind: len(self._checked(kind)) + 4 for kind in self.frames}

    def _checked(self, kind: str) -> bytes:
        """One answer; the same again must be as long."""
        first, second = (ask(self._connection, self.frames[kind][4:]) for _ in range(2))
        if len(first) != len(second):
            raise ValueError(f"{kind}: {len(first)} bytes, then {len(second)}")
        if kind == FETCH_1_MB and len(first) < 900_000:
            raise ValueError(f"{kind}: {len(first)} bytes")
        return first

    def microseconds(self, kind: str, at_once: int, times: int) -> float:
        """The CPU of one request of this kind, of `times` times so many at once."""
        sent, size = self.frames[kind] * at_once, self._sizes[kind] * at_once
        buffer = bytearray(min(size, 1 << 20))
        before = self._cpu_ns()
        for _ in range(times):
            self._connection.sendall(sent)
            left = size
            while left:
                count = self._connection.recv_into(buffer, min(left, len(buffer)))
                if not count:
                    raise EOFError(f"{kind}: the broker closed the connection")
                left -= count
        return (self._cpu_ns() - before) / 1000 / (times * at_once)

    def _cpu_ns(self) -> int:
        self._in.write(b"\n")
        self._in.flush()
        return int(self._out.readline())

    def close(self) -> None:
        self._connection.close()
        self._process.communicate(timeout=TIMEOUT_S)


def measure(sites: Mapping[str, Site], figures: Figures, rounds: int) -> None:
    """All of it; a setting that a commit does not know is left out."""
    with tempfile.TemporaryDirectory(prefix="odradek-weigh-") as place, ExitStack() as running:
        brokers: dict[tuple[str, str], Measured] = {}
        for name, settings in SETTINGS.items():
            for side in SIDES:
                try:
                    broker = Measured(sites[side], settings, Path(place))
                except RuntimeError:
                    if side == HERE or name == PLAIN:
                        raise
                    continue
                running.callback(broker.close)
                brokers[name, side] = broker
        for turn in range(rounds + 1):  # the first is no measurement
            order = list(brokers.items())
            for kind in brokers[PLAIN, HERE].frames:
                for (column, side), broker in order if turn % 2 else reversed(order):
                    for name, value in _measured(broker, kind, column).items():
                        if turn:
                            figures.add(kind, name, side, value)


def _measured(broker: Measured, kind: str, column: str) -> dict[str, float]:
    if kind == FETCH_1_MB:
        at_once, times = 4, 5
    else:
        at_once, times = AT_ONCE, TIMES
    found = {column: broker.microseconds(kind, at_once, times)}
    if column == PLAIN:
        found[SINGLE] = broker.microseconds(kind, 1, 20 if kind == FETCH_1_MB else TIMES_SINGLE)
    return found
