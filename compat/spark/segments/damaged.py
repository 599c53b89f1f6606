"""Damaged: bytes that are not the batches they should be."""

from __future__ import annotations


class Damaged(Exception):
    """A file, or a buffer, holds something else than valid batches.

    `path` (empty for a buffer), `position` (the byte at which the damaged batch begins), `offset`
    (the first that cannot be read, as far as that is known), `what` is wrong; `next_offset`: the
    one after the last of them, if it is known.
    """

    def __init__(
        self, path: str, position: int, offset: int, what: str, next_offset: int | None = None
    ) -> None:
        super().__init__(path, position, offset, what, next_offset)
        self.path = path
        self.position = position
        self.offset = offset
        self.what = what
        self.next_offset = next_offset

    def __str__(self) -> str:
        where = f"{self.path}, byte" if self.path else "byte"
        return f"{where} {self.position}, offset {self.offset}: {self.what}"
