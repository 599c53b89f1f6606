"""One line on a terminal that is written anew: how far a command is that has no end to measure."""

from __future__ import annotations

import sys
import time

from .engine import in_bytes

_EVERY_S = 0.5


class ProgressLine:
    """Writes to standard error, if that is a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._is_on = not quiet and sys.stderr.isatty()
        self._began = self._shown_at = time.monotonic()
        self._width = 0

    def tell(self, text: str, done_bytes: int) -> None:
        now = time.monotonic()
        if self._is_on and now - self._shown_at >= _EVERY_S:
            self._shown_at = now
            self._show(f"{text}, {in_bytes(int(done_bytes / (now - self._began)))}/s")

    def clear(self) -> None:
        if self._width:
            self._show("")
            sys.stderr.write("\r")

    def _show(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)
