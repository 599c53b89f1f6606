"""What a replay says at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..command import INTERRUPTED, Outcome
from ..engine import in_bytes
from ..retention import Expired, warn
from .streams import Stream


@dataclass
class Ended:
    """What was sent; where it stopped, if it did."""

    records: int
    bytes: int
    oldest: Mapping[str, int]
    """The oldest time in each topic, in milliseconds."""
    late_ms: float = 0.0
    stopped: Sequence[Stream] = field(default_factory=list)

    def outcome(self, engine: str, too_old: list[Expired]) -> Outcome:
        """The summary."""
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
