"""Event: one thing that happened at the broker, as a test sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ...wire import Error
from .sentences import sentence

NO_DETAILS: Mapping[str, Any] = MappingProxyType({})


@dataclass(slots=True, repr=False)
class Event:
    """One thing that happened, or the same thing several times with nothing else between.

    `str(event)` is a sentence with its time. What does not apply is empty, or -1.
    """

    kind: str
    """A word or two: "connected", "appended", "fetched nothing", "joined"; all of them are in
    sentences.py."""
    time: int
    """By the broker's clock, in ms since 1970; of several the first."""
    elapsed: float
    """Real seconds since the broker was first started; of several the first."""
    until: float
    """The same of the last one."""
    count: int = 1
    client: str = ""
    """The client id, with a number if another client or member has the same: "billing-app#2"; "the
    test" for what a test did itself."""
    topic: str = ""
    partition: int = -1
    first_offset: int = -1
    last_offset: int = -1
    group: str = ""
    member: str = ""
    transactional_id: str = ""
    api: str = ""
    """Of a request that was refused: "Produce", "JoinGroup", ..."""
    error: Error | None = None
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=lambda: NO_DETAILS)
    """What else belongs to this kind, by name."""

    def __str__(self) -> str:
        return f"+{self.elapsed:.3f} s  {sentence(self)}"

    def __repr__(self) -> str:
        return f"<{self}>"

    @property
    def sentence(self) -> str:
        """What happened, without the time."""
        return sentence(self)

    def concerns(self, topic: str | None = None, group: str | None = None) -> bool:
        """Whether it is about this topic or this group."""
        return bool((topic and topic == self.topic) or (group and group == self.group))
