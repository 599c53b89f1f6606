"""Event: one thing that happened at the broker, as a test sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...wire import Error


@dataclass(slots=True, repr=False)
class Event:
    """One thing that happened, or the same thing several times with nothing else between.

    `str(event)` is a sentence. What does not apply is empty, or -1.
    """

    kind: str
    """A word: "connected", "appended", "fetched nothing", "joined", ..."""
    time: int
    """By the broker's clock, in ms since 1970; of several the first."""
    elapsed: float
    """Real seconds since the broker's start; of several the first."""
    until: float
    """The same of the last one."""
    count: int = 1
    client: str = ""
    """The client id, with a number if others have the same: "billing-app#2"."""
    topic: str = ""
    partition: int = -1
    first_offset: int = -1
    last_offset: int = -1
    group: str = ""
    member: str = ""
    transactional_id: str = ""
    error: Error | None = None
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What else belongs to this kind, by name."""

    def concerns(self, topic: str | None = None, group: str | None = None) -> bool:
        """Whether it is about this topic or this group."""
        return bool((topic and topic == self.topic) or (group and group == self.group))
