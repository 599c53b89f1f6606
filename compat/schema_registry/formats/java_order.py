"""The order in which Java's HashMap has texts: messages of Confluent's registry follow it."""

from __future__ import annotations

from collections.abc import Iterable


def hash_order(texts: Iterable[str]) -> list[str]:
    """Each once, in that order."""
    unique = list(dict.fromkeys(texts))
    size = 16
    while len(unique) > size * 3 // 4:
        size *= 2

    def bucket(text: str) -> int:
        code = 0
        data = text.encode("utf-16-be")
        for at in range(0, len(data), 2):
            code = (31 * code + int.from_bytes(data[at : at + 2], "big")) & 0xFFFFFFFF
        return (code ^ code >> 16) & (size - 1)

    return sorted(unique, key=bucket)
