"""A file that every request and answer is written to: of `serve` and `proxy`."""

from __future__ import annotations

import argparse

JOURNAL_MOST = 1
"""What goes to a file need not be kept in memory, too."""
FRAME_BYTES = 1 << 30
"""There a frame is whole, so that it can be sent again."""


def journal_file(text: str) -> str:
    """The name of a file that a journal can be written to."""
    from ..control.traffic.files import ending

    try:
        ending(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
