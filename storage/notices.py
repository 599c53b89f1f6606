"""What was found wrong and what was done about it: sentences that name the file.

Storage does not log. Whoever wants to hear of each thing as it is found, and not only read the
list, sets `listener`.
"""

from __future__ import annotations

from collections.abc import Callable


class Notices(list[str]):
    """Sentences, in the order in which things were found."""

    listener: Callable[[str], None] | None = None

    def append(self, sentence: str) -> None:
        """Add a sentence, and tell the listener."""
        super().append(sentence)
        if self.listener is not None:
            self.listener(sentence)
