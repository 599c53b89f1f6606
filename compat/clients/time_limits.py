"""Time limits: nothing that asks a broker may wait forever.

Left out: interrupting what hangs. No client can be interrupted; its thread goes on running.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

TIMEOUT_S = 30.0  # for one verb of a client

T = TypeVar("T")


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = TIMEOUT_S) -> None:
    """Wait until the condition holds; it is called every 20 ms. Raises TimeoutError with `what`."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {timeout_s:.0f} s: {what}")
        time.sleep(0.02)


def asked_until(
    ask: Callable[[], T], is_passing: Callable[[Exception], bool], timeout_s: float = TIMEOUT_S
) -> T:
    """Ask what a client does not repeat itself when the broker goes that it asks, or a leader
    moves. Raises what is not passing, or has not passed in time."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return ask()
        except Exception as error:
            if not is_passing(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.1)


def within(timeout_s: float, what: str, work: Callable[[], T]) -> T:
    """Do the work and return its result; raise what it raises, or TimeoutError if it hangs."""
    outcome: Future[T] = Future()

    def target() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    thread = threading.Thread(target=target, name=what, daemon=True)
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        frame = sys._current_frames().get(thread.ident or 0)
        where = "".join(traceback.format_stack(frame)[-6:])
        raise TimeoutError(f"{what} hangs after {timeout_s:.0f} s:\n{where}")
    return outcome.result()
