"""`python -m tests.hostile.support.counted [OPTIONS]`: `odradek serve` that counts its turns' work.

A turn is one round of the event loop, and nobody else is served meanwhile. What is counted does not
depend on the machine: every call of a function, Python's or C's, is a unit, and so are
BYTES_A_UNIT bytes that were decompressed, which takes few calls however many they are. A unit is
about a fifth of a microsecond. The loop is asyncio's own, whose rounds can be seen from Python.

For each line on standard input one of JSON is printed: the most work that a turn had since the last
line, and how many turns there were. When standard input ends, so does the broker.
"""

from __future__ import annotations

import asyncio.base_events
import json
import os
import signal
import sys
import threading
from types import CodeType, FrameType
from typing import Any

BYTES_A_UNIT = 100


class Turns:
    """Counts, as the profiler of the thread in which the loop runs."""

    def __init__(self, turn: CodeType, decompress: CodeType) -> None:
        self._turn = turn
        self._decompress = decompress
        self._work = 0
        self.most = 0
        self.turns = 0

    def look_for_loop(self, frame: FrameType, event: str, argument: Any) -> None:
        """The profiler that each thread begins with."""
        if frame.f_code is self._turn:
            self._work = 0
            sys.setprofile(self.count)

    def count(self, frame: FrameType, event: str, argument: Any) -> None:
        """The profiler of the loop's thread."""
        if event == "call":
            self._work += 1
            if frame.f_code is self._turn:
                self.turns += 1
                self.most = max(self.most, self._work)
                self._work = 0
        elif event == "c_call":
            self._work += 1
        elif frame.f_code is self._decompress and isinstance(argument, int):
            self._work += argument // BYTES_A_UNIT

    def answer(self) -> None:
        """Print what was counted for each line that is read, until there are no more."""
        for _ in sys.stdin:
            print(json.dumps({"most": self.most, "turns": self.turns}), flush=True)
            self.most = self.turns = 0
        os.kill(os.getpid(), signal.SIGTERM)


def main() -> int:
    sys.modules["uvloop"] = None  # type: ignore[assignment]
    from odradek.compat.cli.main import main as odradek
    from odradek.wire import compression

    loop: Any = asyncio.base_events.BaseEventLoop
    turns = Turns(loop._run_once.__code__, compression.decompress_in_pieces.__code__)
    threading.Thread(target=turns.answer, daemon=True).start()
    threading.setprofile(turns.look_for_loop)
    return odradek(["serve", "--quiet", "--port", "0", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
