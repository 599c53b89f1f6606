"""The broker's process, which a test ends and starts again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from threading import Lock
from typing import Any

from ...storage import MemoryDisk
from .. import parameters
from ..base.clock import Clock, Movable
from ..base.journal import Journal
from ..base.words import lasted
from ..cluster import Cluster
from ..net.server import Server
from ..state.downtime import PowerCut, check_up, kill, start_again, stop
from .facet import Facet, Thread

_guard = Lock()


class Process(Facet):
    """The broker's process: killed, without power, started again. While it is down, connections
    are refused, and nobody else gets its port; what asks the broker raises RuntimeError, and what
    was kept of it (`events`, `journal`, `data_dir`, ...) can be looked at."""

    # What of Emulator is used here.
    _clock: Clock
    _control: Any = None
    _disk: MemoryDisk | None
    _journal: Journal
    _started: Callable[[], Thread]
    _reopened: Callable[[Cluster], Cluster]

    @property
    def is_down(self) -> bool:
        """Whether it was killed or has crashed, and was not restarted. Raises RuntimeError if it
        is not running, for it was never started, or was stopped."""
        return bool(self._started().call_anyhow(lambda server: server.is_down))

    @property
    def control_url(self) -> str:
        """Where all of this can be done over HTTP, from any language (docs/control.md), from when
        it is first asked for until the broker stops. Raises Unavailable without what
        `odradek[console]` brings, RuntimeError if it is not running."""
        self._started().running()
        with _guard:
            if self._control is None:
                # By name: it stands above this, and most tests never need it.
                self._control = import_module("odradek.fixtures.control.server").Control(self)
            url: str = self._control.url
        return url

    def _close_control(self) -> None:
        control, self._control = self._control, None
        if control is not None:
            control.close()

    def kill(self) -> None:
        """Kill it, as `kill -9` does: connections are reset, and what was written is kept, synced
        or not. It stays down until `restart`. Raises RuntimeError if it is down."""
        self._started().call_anyhow(partial(self._die, "killed", None))

    def crash(self, *, power: bool = False, seed: int | None = None) -> None:
        """Have it crash, without power if so told: then what was not synced is lost. It stays down
        until `restart`.

        power       False: as `kill`. True: the machine loses power
        seed        decides what is left of what was not synced: each write whole, torn, as zeros,
                    or not at all. Without it nothing of it is left

        Kafka acknowledges records before they are synced, unless `flush.messages` is 1. Raises
        RuntimeError if it is down, ValueError for a seed without `power`.
        """
        if seed is not None and not power:
            raise ValueError("a seed decides what a power cut leaves: crash(power=True, seed=...)")
        if not power:
            self.kill()
            return
        self._started().call_anyhow(partial(self._die, "power cut", PowerCut(seed)))

    def restart(self, *, clean: bool = True, after: float = 0) -> None:
        """Start it again, at the same address, after stopping it if it is up.

        clean       how it is stopped: True as by SIGTERM, False by `kill`
        after       seconds of the broker's clock for which it is down. What would have timed out
                    meanwhile does so after the start. A clock of your own is yours to move

        Raises TypeError for `after` and such a clock, LogDirectoryError or OSError if it cannot
        start; then it stays down.
        """
        pause_ms = parameters.duration_ms(None, {"seconds": after})
        if pause_ms < 0:
            raise ValueError(f"after is how long it is down, not {after} s")
        if pause_ms and not isinstance(self._clock, Movable):
            text = f"the clock of this broker is your own, and yours to move: {self._clock!r}"
            raise TypeError(text)

        def restarted(server: Server) -> None:
            if not server.is_down:
                self._stop(server) if clean else self._die("killed", None, server)
            if pause_ms and isinstance(self._clock, Movable):
                self._clock.advance(pause_ms)
            start_again(server, self._reopened)
            reason = f"{lasted(pause_ms / 1000)} later" if pause_ms else ""
            self._journal.add("started again", reason=reason)

        self._started().call_anyhow(restarted)

    def _stop(self, server: Server) -> None:
        self._journal.add("stopped")
        stop(server, self._disk)

    def _die(self, kind: str, cut: PowerCut | None, server: Server) -> None:
        check_up(server)
        reason = "" if cut is None or cut.seed is None else f"seed {cut.seed}"
        self._journal.add(kind, reason=reason)
        kill(server, self._disk, cut)
