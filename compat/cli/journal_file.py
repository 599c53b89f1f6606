"""A file that every request and answer is written to: of `serve` and `proxy`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...emulator.control.traffic.journal import RequestJournal
    from ...emulator.control.traffic.sink import FileSink

_FRAME_BYTES = 1 << 30
"""There a frame is whole, so that it can be sent again."""


def write_to_file(journal: RequestJournal, sink: FileSink) -> None:
    """Begin a journal that is written to a file, and not kept in memory."""
    journal.traffic.sink = sink
    journal.start()
    journal.traffic.bound(0, 0, _FRAME_BYTES)


def journal_file(text: str) -> str:
    from ...emulator.control.traffic.files import ending

    try:
        ending(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
