"""The log of `odradek serve`: what clients do, a line each, on standard error.

Told are seldom things (connected, joined, refused), not each record. The broker does not wait for
who reads the log: a thread writes it, and lines that come too fast or find no room are left out,
which the log says.
"""

from __future__ import annotations

import threading
from queue import Empty, Full, Queue
from time import monotonic
from typing import TextIO

from ..base.event import Event

_WAITING_MAX = 1000
_LINES_A_SECOND = 50
_END_S = 1.0


class EventLog:
    """Writes events to a stream until it is closed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lines: Queue[str | None] = Queue(_WAITING_MAX)
        self._left_out = 0
        self._second = 0
        self._in_second = 0
        self._thread = threading.Thread(target=self._write, name="odradek-log", daemon=True)
        self._thread.start()

    def __call__(self, event: Event) -> None:
        """Log an event. Never waits."""
        second = int(monotonic())
        if second != self._second:
            self._second, self._in_second = second, 0
        self._in_second += 1
        if self._in_second > _LINES_A_SECOND:
            self._left_out += 1
            return
        left_out = f"({self._left_out} events are left out)\n" if self._left_out else ""
        try:
            self._lines.put_nowait(f"{left_out}{event}\n")
        except Full:
            self._left_out += 1
        else:
            self._left_out = 0

    def close(self) -> None:
        """Write what waits, but not for long."""
        try:
            self._lines.put_nowait(None)
        except Full:
            return
        self._thread.join(_END_S)

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            lines = [line]
            try:
                while (more := self._lines.get_nowait()) is not None:
                    lines.append(more)
            except Empty:
                more = ""
            try:
                self._stream.write("".join(lines))
                self._stream.flush()
            except (OSError, ValueError):  # nobody reads it any more
                return
            if more is None:
                return
