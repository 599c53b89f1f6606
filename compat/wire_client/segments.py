"""The segments of a partition, as a test sees them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SeenSegment:
    """One segment of a partition's log."""

    base_offset: int
    """Where it begins; also the name of its files."""
    next_offset: int
    """Where the next segment begins; of the newest, the log end."""
    size: int
    """Bytes of its batches."""
    largest_timestamp: int
    """Of its records, in ms since 1970; if they have none, when it was last written to."""

    def __repr__(self) -> str:
        return f"<segment {self.base_offset} to {self.next_offset}, {self.size} bytes>"
