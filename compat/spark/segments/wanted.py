"""Which records and columns a reader wants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Isolation: TypeAlias = Literal["read_committed", "read_uncommitted"]


@dataclass(frozen=True)
class Wanted:
    """Columns, ranges and isolation; everything that a read_committed consumer sees by default.

    A range's end is exclusive. Times are milliseconds; a record without a time counts as -1.
    `control` also gives transaction markers and the like, as records.
    """

    columns: tuple[str, ...] | None = None
    start_offset: int | None = None
    end_offset: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    isolation: Isolation = "read_committed"
    control: bool = False

    @property
    def is_committed_only(self) -> bool:
        """Whether records of aborted and open transactions are left out."""
        return self.isolation == "read_committed"


EVERYTHING = Wanted(isolation="read_uncommitted", control=True)
"""Every record of every batch."""
