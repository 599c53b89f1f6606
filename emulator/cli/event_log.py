"""The log of `odradek serve`: what clients do, a line each, on standard error.

Told are seldom things (connected, joined, refused), not each record. The broker does not wait for
who reads the log: a thread writes it, and lines that come too fast or find no room are left out,
which the log says. As text each line begins with the local time; as JSON it is an object with
`time`, `kind` and `message`.
"""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from queue import Empty, Full, Queue
from time import monotonic, time
from typing import TextIO

from ..base.event import Event
from .console.escapes import one_line

_WAITING_MAX = 1000
_LINES_A_SECOND = 50
_END_S = 1.0
TEXT, JSON = "text", "json"


def _as_text(time_ms: int, kind: str, sentence: str) -> str:
    moment = datetime.fromtimestamp(time_ms / 1000)
    return f"{moment.isoformat(' ', 'milliseconds')}  {sentence}\n"


def _as_json(time_ms: int, kind: str, sentence: str) -> str:
    moment = datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": moment, "kind": kind, "message": sentence}) + "\n"


class EventLog:
    """Writes events to a stream until it is closed."""

    def __init__(self, stream: TextIO, form: str = TEXT) -> None:
        self._stream = stream
        self._line = _as_json if form == JSON else _as_text
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
        line = self._line(event.time, event.kind, event.sentence)
        if self._left_out:
            line = self._line(event.time, "log", f"({self._left_out} events are left out)") + line
        try:
            self._lines.put_nowait(line)
        except Full:
            self._left_out += 1
        else:
            self._left_out = 0

    def say(self, line: str) -> None:
        """Log a line that is no event. Never waits."""
        try:
            self._lines.put_nowait(self._line(int(time() * 1000), "settings", one_line(line)))
        except Full:
            self._left_out += 1

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
