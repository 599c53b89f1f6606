"""Where the replicas of a partition are that do not have all of its log, and the high watermark.

Data is stored once: a replica that follows has what the log has, and needs no entry here. One whose
broker is stopped or stands still keeps the log end that it had, and the high watermark that it had
heard of. One that a test has lag stands where it is, or so many records behind the log end.

- The high watermark is the lowest log end of the replicas in sync, and never goes back, but where
  the log is truncated, or a replica leads that had heard of a lower one.
- It stands still while fewer replicas are in sync than `min.insync.replicas`, or all there are if
  that is more.
- A follower's high watermark is the leader's, as far as its own log goes.
- Batches are whole: a replica that lags ends where one begins.

Source: KIP-966, semantics O14, O15, O18, O22.
"""

from __future__ import annotations

from collections.abc import Callable, Collection


class Replicas:
    """The replicas of one partition, while not all of them have everything, and are in sync."""

    __slots__ = (
        "behind_since",
        "ends",
        "high_watermark",
        "kept_out",
        "lags",
        "standing",
        "unheard",
    )

    def __init__(self, high_watermark: int) -> None:
        self.high_watermark = high_watermark
        """Of the leader."""
        self.ends: dict[int, int] = {}
        """Of replicas that do not have everything: where their logs end."""
        self.standing: dict[int, int] = {}
        """Of those that get nothing now: the high watermark that they have heard of."""
        self.unheard: set[int] = set()
        """Those that have got nothing since the leader leads, or since they are replicas: it does
        not know where their logs end."""
        self.lags: dict[int, int | None] = {}
        """Of those that a test has lag: by how many records; None for one that gets nothing."""
        self.behind_since: dict[int, int] = {}
        """When those had everything for the last time."""
        self.kept_out: set[int] = set()
        """Those that a test keeps from being in sync."""

    @property
    def is_needed(self) -> bool:
        return bool(self.ends or self.lags or self.kept_out)

    def end_at(self, node_id: int, log_end: int) -> int:
        return self.ends.get(node_id, log_end)

    def high_watermark_at(self, node_id: int) -> int:
        mark = self.standing.get(node_id, self.high_watermark)
        return min(mark, self.end_at(node_id, mark))

    # Replicas that get nothing, or less

    def hold(self, node_id: int, log_end: int, now: int) -> None:
        """A replica gets nothing from now on."""
        self.ends.setdefault(node_id, log_end)
        self.standing.setdefault(node_id, self.high_watermark_at(node_id))
        self.behind_since.setdefault(node_id, now)

    def follow(self, node_id: int) -> bool:
        """A replica gets everything, or what its lag leaves it. Return whether that changes
        anything."""
        if node_id not in self.ends:
            return False
        if node_id in self.lags:
            if self.lags[node_id] is None or node_id not in self.standing:
                return False
            self._stands_no_more(node_id)
            return True
        self._stands_no_more(node_id)
        for known in (self.ends, self.standing, self.behind_since):
            known.pop(node_id, None)
        return True

    def _stands_no_more(self, node_id: int) -> None:
        self.standing.pop(node_id, None)
        self.unheard.discard(node_id)

    def lag(self, node_id: int, records: int | None, log_end: int, now: int) -> None:
        """A replica stays so many records behind, or gets nothing."""
        was_asked = node_id in self.lags
        self.lags[node_id] = records
        if records is None:
            self.hold(node_id, log_end, now)
            return
        self.ends.setdefault(node_id, log_end)
        if was_asked:
            self._stands_no_more(node_id)

    def fall_behind(self, log_end: int, start_of: Callable[[int], int], now: int) -> bool:
        """The log goes on: those that lag follow at their distance. `start_of` tells where the
        batch begins that has an offset. Return whether any has moved."""
        has_moved = False
        for node_id, records in self.lags.items():
            end = self.ends[node_id]
            if end < log_end:
                self.behind_since.setdefault(node_id, now)
            else:
                self.behind_since.pop(node_id, None)
            if records is not None and node_id not in self.standing and end < log_end - records:
                self.ends[node_id] = start_of(log_end - records)
                has_moved = has_moved or self.ends[node_id] > end
        return has_moved

    # Changes

    def replace(self, before: Collection[int], after: Collection[int], now: int) -> None:
        """Other replicas: those that are new have nothing until they follow."""
        for node_id in set(before) - set(after):
            self.forget(node_id)
        for node_id in set(after) - set(before):
            self.ends[node_id] = self.standing[node_id] = 0
            self.behind_since[node_id] = now
            self.unheard.add(node_id)

    def forget(self, node_id: int) -> None:
        """A replica is none any more, or leads."""
        for known in (self.ends, self.standing, self.lags, self.behind_since):
            known.pop(node_id, None)
        self.kept_out.discard(node_id)
        self.unheard.discard(node_id)

    def lead(self, node_id: int, log_end: int) -> int:
        """A replica leads, by what it has and knows. Returns where its log ends."""
        end = self.end_at(node_id, log_end)
        self.high_watermark = self.high_watermark_at(node_id)
        self.forget(node_id)
        self.unheard = set(self.standing)
        return end

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
        self.standing = {node_id: min(each, end) for node_id, each in self.standing.items()}
        self.high_watermark = min(self.high_watermark, end)
