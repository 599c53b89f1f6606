"""Notices of problems and their repair: sentences that name the file.

Storage does not log. Set `listener` to hear of each sentence when it is added.
"""

from __future__ import annotations

from collections.abc import Callable


class Notices(list[str]):
    """Sentences, in the order in which they were added."""

    __slots__ = ("listener",)

    def __init__(self) -> None:
        super().__init__()
        self.listener: Callable[[str], None] | None = None

    def append(self, sentence: str) -> None:
        super().append(sentence)
        if self.listener is not None:
            self.listener(sentence)
