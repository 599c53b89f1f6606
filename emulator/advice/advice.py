"""Advice: one note, and the config that helps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Advice:
    """What a client did that is likely a mistake. `str(advice)` is what is printed."""

    rule: str
    """A word or two: "not closed", "acks=0", ..."""
    text: str
    """What was seen, and why it matters."""
    help: str
    """What to do about it: a config or a call."""
    client: str = ""
    topic: str = ""
    group: str = ""

    def __str__(self) -> str:
        return f"{self.text}. {self.help[0].upper()}{self.help[1:]}."
