"""The replay at work: what is due is taken from all streams, and written as batches.

Rules:
- A round takes at most ROUND_BYTES, so that no partition gets more than a few batches: a broker
  recognises the last five of a producer, and a round that was interrupted is sent once more.
- When nothing is due it waits. When it cannot keep up it writes as fast as it can: order stays, and
  the summary tells how late records were.

What a replay says at its end.

How far a replay is, for one that is killed: a small file beside the state, replaced as a whole.

Before records are sent it says where each stream was, and how many records are taken from it. Run
again, the replay takes the same ones and sends them with the same producer and sequences: what the
broker has already it does not store again (KIP-98: it knows a producer's last five batches of a
partition, for a day).
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..broker import Place
from ..command import INTERRUPTED, Outcome
from ..engine import in_bytes
from ..errors import PipelineError
from ..progress_line import ProgressLine
from ..retention import Expired, warn
from ..stopping import Stop
from .sending import Sender
from .streams import Position, Stream
from .times import Pace


@dataclass
class Ended:
    records: int
    bytes: int
    oldest: Mapping[str, int]
    """The oldest time in each topic, in milliseconds."""
    late_ms: float = 0.0
    stopped: Sequence[Stream] = field(default_factory=list)

    def outcome(self, engine: str, too_old: list[Expired]) -> Outcome:
        left = {
            each.name: {"split": each.position.split, "rows": each.position.rows}
            | ({} if each.position.offset is None else {"offset": each.position.offset})
            for each in self.stopped
        }
        is_done = not self.stopped
        result = {
            "records": self.records,
            "bytes": self.bytes,
            "late_seconds": round(self.late_ms / 1000, 3),
            "done": is_done,
            "stopped_at": left,
            "warnings": [each.as_json() for each in too_old],
            "engine": engine,
        }
        lines = [f"{self.records:,} records, {in_bytes(self.bytes)}"]
        if self.late_ms >= 1000:
            late = f"up to {self.late_ms / 1000:.1f} s late"
            lines.append(f"{late}: it was too much to keep the pace")
        for name, at in left.items():
            where = f"offset {at['offset']}" if "offset" in at else f"record {at['rows']}"
            lines.append(f"{name}: stopped before {where}")
        if not is_done:
            lines.append("interrupted; --resume goes on")
        lines += warn(too_old)
        return Outcome(result, lines, 0 if is_done else INTERRUPTED)


@dataclass
class Progress:
    positions: list[Position]
    sequences: dict[Place, int] = field(default_factory=dict)
    taken: list[int] = field(default_factory=list)
    """Of each stream, from its position on: sent, but perhaps not stored. Empty: none."""
    sent: int = 0
    """Records, without those taken."""


class ProgressFile:
    def __init__(self, state: Path) -> None:
        self._path = state.with_name(f"{state.name}.position")

    def read(self) -> Progress | None:
        """None if nothing was sent. Raises PipelineError."""
        if not self._path.exists():
            return None
        try:
            state = json.loads(self._path.read_bytes())
            return Progress(
                [Position(**each) for each in state["positions"]],
                {(topic, index): sequence for topic, index, sequence in state["sequences"]},
                state["taken"],
                state["sent"],
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
        state: dict[str, Any] = {
            "positions": [asdict(each) for each in positions],
            "sequences": [[*place, sequence] for place, sequence in sequences.items()],
            "taken": list(taken),
            "sent": sent,
        }
        new = self._path.with_name(f"{self._path.name}.new")
        new.write_text(json.dumps(state))
        os.replace(new, self._path)

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)


ROUND_BYTES = 2 << 20
STREAM_ROWS = 10_000
STREAM_BYTES = 900_000
_LONGEST_WAIT_S = 0.5


class Player:
    def __init__(self, streams: Sequence[Stream], sender: Sender, noted: ProgressFile) -> None:
        self.late_ms = 0.0
        """By how much records were late here, at most."""
        self._streams = list(streams)
        self._sender = sender
        self._noted = noted
        self._first = 0

    def go_on(self, progress: Progress) -> None:
        """Send once more what was taken when an earlier run ended."""
        self._sender.sent = progress.sent
        found = [
            stream.take_rows(rows)
            for stream, rows in zip(self._streams, progress.taken, strict=False)
            if rows
        ]
        if found:
            self._sender.send(found)

    def play(self, pace: Pace, stop: Stop, progress: ProgressLine) -> bool:
        """Replay until the end, True, or to stop, False."""
        while not stop:
            dues = [due for each in self._streams if (due := each.due_ms()) is not None]
            if not dues:
                return True
            now = pace.now_ms(min(dues))
            if min(dues) > now:
                stop.wait(min(pace.moment(min(dues)) - time.monotonic(), _LONGEST_WAIT_S))
                continue
            if not math.isinf(now) and min(dues) >= 0:
                self.late_ms = max(self.late_ms, pace.real_ms(now - min(dues)))
            self._round(now)
            progress.tell(f"{self._sender.sent:,} records", self._sender.sent_bytes)
        self._write([each.position for each in self._streams], [])
        return False

    def _round(self, now: float) -> None:
        before = [each.position for each in self._streams]
        taken: dict[int, pa.RecordBatch] = {}
        size = 0
        for step in range(len(self._streams)):
            number = (self._first + step) % len(self._streams)
            if size >= ROUND_BYTES:
                self._first = number
                break
            found = self._streams[number].take(now, STREAM_ROWS, STREAM_BYTES)
            if found is not None:
                taken[number] = found
                size += found.nbytes
        rows = [taken[number].num_rows if number in taken else 0 for number in range(len(before))]
        self._write(before, rows)
        self._sender.send(taken.values())

    def _write(self, positions: Sequence[Position], taken: Sequence[int]) -> None:
        sequences = self._sender.producer.sequences
        self._noted.write(positions, sequences, taken, self._sender.sent)
