"""Running a command whose standard output may be anything: a terminal, a full disk, a closed pipe.

What the output's encoding does not have is written with escapes. A reader that has gone has seen
enough: that is no error. Any other failure to write is one line on standard error, and status 1.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

from .escapes import one_line


def with_output(command: Callable[[], int]) -> int:
    """Carry a command out, which raises OSError only for its output; give its exit status."""
    if sys.stdout is None:  # what Python makes of a descriptor that was closed
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
    """Say why on standard error; give the exit status."""
    print(f"odradek: {one_line(message)}", file=sys.stderr)
    return status
