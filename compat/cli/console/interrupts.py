"""Ctrl-C while something must not be torn: it is noted, and raised afterwards."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held() -> Iterator[None]:
    """Within it Ctrl-C waits; a second one does not. Outside the main thread it does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    is_noted = False

    def note(number: int, frame: object) -> None:
        nonlocal is_noted
        if is_noted:
            raise KeyboardInterrupt
        is_noted = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if is_noted:
        raise KeyboardInterrupt
