"""Running a command whose standard output may be anything: a terminal, a full disk, a closed pipe.

Characters that the output's encoding lacks are written with escapes. A reader that closes the pipe
is no error. Any other failure to write is one line on standard error, and status 1.

Any text as one line without control characters for the terminal.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Callable


def one_line(text: str) -> str:
    """The text, with escapes for whatever is no printable character."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def with_output(command: Callable[[], int]) -> int:
    """Run a command, which raises OSError only for its output; return its exit status."""
    if sys.stdout is None:  # the descriptor was closed when Python started
        return fail("the standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = command()
        sys.stdout.flush()
    except OSError as error:
        # What is still buffered goes nowhere, and must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 0
        return fail(f"the standard output cannot be written: {error.strerror}")
    return status


def fail(message: str, status: int = 1) -> int:
    print(f"odradek: {one_line(message)}", file=sys.stderr)
    return status


def serve_until_signal(ready: str) -> None:
    """Print that something is ready, and wait until SIGINT or SIGTERM comes."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    print(ready, flush=True)
    while not stop.wait(0.5):
        continue
