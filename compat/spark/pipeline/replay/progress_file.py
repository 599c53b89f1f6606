"""How far a replay is, for one that is killed: a small file beside the state, replaced as a whole.

Before records are sent it says where each stream was, and how many records are taken from it. Run
again, the replay takes the same ones and sends them with the same producer and sequences: what the
broker has already it does not store again (KIP-98: it knows a producer's last five batches of a
partition, for a day).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..broker import Place
from ..errors import PipelineError
from .streams import Position


@dataclass
class Progress:
    """How far it is."""

    positions: list[Position]
    sequences: dict[Place, int] = field(default_factory=dict)
    taken: list[int] = field(default_factory=list)
    """Of each stream, from its position on: sent, but perhaps not stored. Empty: none."""
    sent: int = 0
    """Records, without those taken."""


class ProgressFile:
    """The file."""

    def __init__(self, state: Path) -> None:
        self._path = state.with_name(f"{state.name}.position")

    def read(self) -> Progress | None:
        """None if nothing was sent. Raises PipelineError."""
        if not self._path.exists():
            return None
        try:
            told = json.loads(self._path.read_bytes())
            return Progress(
                [Position(**each) for each in told["positions"]],
                {(topic, index): sequence for topic, index, sequence in told["sequences"]},
                told["taken"],
                told["sent"],
            )
        except (ValueError, KeyError, TypeError):
            raise PipelineError(f"{self._path} is no position of a replay: remove it") from None

    def write(
        self,
        positions: Sequence[Position],
        sequences: Mapping[Place, int],
        taken: Sequence[int],
        sent: int,
    ) -> None:
        """Say how far it is."""
        told: dict[str, Any] = {
            "positions": [asdict(each) for each in positions],
            "sequences": [[*place, sequence] for place, sequence in sequences.items()],
            "taken": list(taken),
            "sent": sent,
        }
        new = self._path.with_name(f"{self._path.name}.new")
        new.write_text(json.dumps(told))
        os.replace(new, self._path)

    def remove(self) -> None:
        """Everything was sent."""
        self._path.unlink(missing_ok=True)
