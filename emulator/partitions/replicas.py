"""Where the replicas of a partition are that do not have all of its log, and the high watermark.

Data is stored once: a replica that follows has what the log has, and needs no entry here. One whose
broker is stopped or stands still keeps the log end that it had.

- The high watermark is the lowest log end of the replicas in sync, and never goes back, but where
  the log is truncated. Consumers see what is below it.
- It stands still while fewer replicas are in sync than `min.insync.replicas`, or all there are if
  that is more.

Source: KIP-966, semantics O14 and O15.
"""

from __future__ import annotations

from collections.abc import Collection


class Replicas:
    """The replicas of one partition, while not all of them have everything."""

    __slots__ = ("ends", "high_watermark")

    def __init__(self, high_watermark: int) -> None:
        self.ends: dict[int, int] = {}
        """Of replicas that do not follow: where their logs end."""
        self.high_watermark = high_watermark

    def end_at(self, node_id: int, log_end: int) -> int:
        """Where the log of a replica ends."""
        return self.ends.get(node_id, log_end)

    def replace(self, before: Collection[int], after: Collection[int]) -> None:
        """Other replicas: those that are new have nothing until they follow."""
        self.ends = {node_id: end for node_id, end in self.ends.items() if node_id in after}
        self.ends.update(dict.fromkeys(set(after) - set(before), 0))

    def advance(self, in_sync: Collection[int], least: int, log_end: int) -> bool:
        """Move the high watermark as far as it may; return whether it has moved."""
        if not in_sync or len(in_sync) < least:
            return False
        reached = min(self.end_at(each, log_end) for each in in_sync)
        if reached <= self.high_watermark:
            return False
        self.high_watermark = reached
        return True

    def truncate(self, end: int) -> None:
        """The log is cut to this end: nobody has more."""
        self.ends = {node_id: min(each, end) for node_id, each in self.ends.items()}
        self.high_watermark = min(self.high_watermark, end)
