"""Any text as one line without control characters for the terminal."""

from __future__ import annotations


def one_line(text: str) -> str:
    """The text, with escapes for whatever is no printable character."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
