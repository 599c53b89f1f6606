"""Ctrl-C and SIGTERM stop a command after what it is doing; a second one ends it at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    def __init__(self) -> None:
        self.asked = threading.Event()

    def __bool__(self) -> bool:
        return self.asked.is_set()

    def wait(self, seconds: float) -> None:
        """Wait so long, or until to stop."""
        self.asked.wait(max(seconds, 0))

    def wait_until(self, monotonic: float) -> None:
        """Wait until this moment of `time.monotonic`, or until to stop."""
        self.wait(monotonic - time.monotonic())


@contextmanager
def stopping() -> Iterator[Stop]:
    """While this lasts, the signals set the Stop. In other threads than the main one they do not:
    only that one has a handler."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop:
            raise KeyboardInterrupt
        stop.asked.set()

    before = {each: signal.signal(each, on_signal) for each in _SIGNALS}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
