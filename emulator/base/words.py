"""Numbers in sentences."""

from __future__ import annotations


def number_of(count: int, noun: str) -> str:
    """As in "1 record", "3 records"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def lasted(seconds: float) -> str:
    """As in "3.1 s", "12 ms"; of what took no time at all, "1 ms"."""
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{max(round(seconds * 1000), 1)} ms"
