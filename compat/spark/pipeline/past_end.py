"""A command that found no record because `--from-offset` is past the end of every partition."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class NothingFrom:
    """There was no record from these offsets on."""

    asked: int | None
    """The one offset for all partitions; None if several were given."""
    is_bounded: bool
    """Whether there were other bounds, which may be why."""

    @property
    def text(self) -> str:
        """The warning."""
        offset = "the offsets of --from-offset" if self.asked is None else f"offset {self.asked}"
        within = ", within the other bounds" if self.is_bounded else ""
        return f"warning: no partition has a record to export from {offset} on{within}"

    def as_json(self) -> dict[str, Any]:
        """For --json."""
        return {"warning": "nothing from this offset", "from_offset": self.asked, "text": self.text}


def nothing_from(options: argparse.Namespace, rows: int) -> Sequence[NothingFrom]:
    """The warning, if offsets were asked for by number and there was nothing. `options`: those of
    `add_ranges`."""
    start = options.from_offset
    asked = list(start.values()) if isinstance(start, dict) else [start]
    if rows or not any(each is not None and each > 0 for each in asked):
        return []
    bounds = options.to_offset, options.since, options.until
    is_bounded = any(each is not None for each in bounds)
    return [NothingFrom(None if isinstance(start, dict) else start, is_bounded)]
