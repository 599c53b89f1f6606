"""Why internal topics could not be created, for a while."""

from __future__ import annotations

from collections.abc import Iterable


class CreationErrors:
    """The errors of a broker's latest attempts, by topic. Until one is forgotten the topic is not
    created again."""

    def __init__(self) -> None:
        self._errors: dict[str, tuple[str, int]] = {}

    def put(self, topic: str, message: str, until: int) -> None:
        """It failed; `until` (ms) is when that is forgotten."""
        self._errors[topic] = message, until

    def of(self, topics: Iterable[str], now: int) -> dict[str, str]:
        """Those of these topics, by topic."""
        self._errors = {name: each for name, each in self._errors.items() if each[1] > now}
        return {name: self._errors[name][0] for name in topics if name in self._errors}
