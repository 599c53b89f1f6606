"""What a broker of several is doing, and what the controller holds of it.

The two differ for a while: a broker whose process has died is taken for alive until its session
ends (`broker.session.timeout.ms`); one that is back is fenced until the controller has heard of it.

    process   fenced  shutting down
    up        no      no             as usual
    up        no      yes            its leaders have moved, and it is about to end
    paused    no      no             stopped by SIGSTOP: its connections are open
    down      no      no             killed, and nobody knows it yet
    any       yes     no             it leads nothing and is in no ISR; Metadata does not list it

Source: KIP-631 (broker registration and fencing), semantics O24-O26.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Process(Enum):
    """What the process of a broker is doing."""

    UP = "up"
    PAUSED = "paused"
    DOWN = "down"


@dataclass(slots=True)
class BrokerState:
    """One broker."""

    process: Process = Process.UP
    is_fenced: bool = False
    is_shutting_down: bool = False
    is_registered: bool = True
    has_crashed: bool = False
    """Whether it has ended without a stop, and was not started since."""

    def __str__(self) -> str:
        words = [self.process.value]
        words += ["shutting down"] * self.is_shutting_down
        words += ["fenced"] * self.is_fenced
        return ", ".join(words)

    @property
    def is_active(self) -> bool:
        """Whether the controller lets it lead, and be in sync."""
        return not self.is_fenced and not self.is_shutting_down

    @property
    def is_at_work(self) -> bool:
        """Whether it follows leaders, and leads what it is given."""
        return self.process is Process.UP and self.is_active
