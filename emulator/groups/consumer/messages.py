"""What a member of a consumer group sends with a heartbeat, and the answer: plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .members import Epochs, Owned


@dataclass(frozen=True, slots=True)
class Beat:
    """ConsumerGroupHeartbeat. None (and -1 for the timeout) means: unchanged."""

    version: int
    group_id: str
    member_id: str
    epoch: int
    client_id: str
    client_host: str
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    names: Sequence[str] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: Owned | None = None
    sees: Callable[[str], bool] | None = None
    """Whether the client may describe a topic; None if nobody asks. An expression matches no
    others."""

    @property
    def is_full(self) -> bool:
        """True if it holds all that a joining member has to send."""
        says_topics = self.names is not None or self.regex is not None
        return self.rebalance_timeout_ms != -1 and says_topics and self.owned is not None


class BeatAnswer(NamedTuple):
    """The answer to a Beat; `assignment` is None if it is not sent."""

    member_id: str
    epoch: int
    heartbeat_interval_ms: int = 0
    assignment: Epochs | None = None
