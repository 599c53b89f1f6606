"""The leader epochs of a partition, and the offset at which each began.

A leader epoch counts the leaders that a partition has had. Each entry says "epoch E starts at
offset O"; both rise strictly from one entry to the next, and an epoch ends where the next entry
starts. With them a consumer or a follower that was away finds the offset up to which its own data
still match the leader's.

Rules:
- A leader records its epoch at the log end before it writes anything. Entries with that epoch or a
  later one, or at that offset or after it, are replaced; so an epoch in which nothing was written
  leaves no entry.
- Truncation removes entries from the end. Raising the log start moves the entry it falls into.
- -1 is "no epoch" and "no offset" in every answer.

On disk (`leader-epoch-checkpoint`) this is checkpoint text with lines `<epoch> <start offset>`. It
is written with the first batch of an epoch; Kafka writes it when the leader is elected.
Methods that change something return True if they did; the caller writes the file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from .checkpoints import LEADER_EPOCHS, format_epochs, read_epochs

NO_EPOCH = -1
NO_OFFSET = -1


class EpochEntry(NamedTuple):
    """`epoch` begins at `start_offset`."""

    epoch: int
    start_offset: int


class LeaderEpochs:
    """The leader epochs of one partition, oldest first."""

    __slots__ = ("_epochs", "_starts")

    def __init__(self) -> None:
        self._epochs: list[int] = []
        self._starts: list[int] = []

    @classmethod
    def from_checkpoint(cls, data: bytes, file: str = LEADER_EPOCHS) -> LeaderEpochs:
        """Read a checkpoint's bytes; lines that do not rise are treated as `assign` does.

        Raises CheckpointError, naming `file`, if the text is malformed.
        """
        epochs = cls()
        for epoch, start_offset in read_epochs(data, file):
            epochs.assign(epoch, start_offset)
        return epochs

    def to_checkpoint(self, log_end_offset: int | None = None) -> bytes:
        """The bytes of the checkpoint file.

        If the log end is given, a newest epoch in which nothing was written is left out, unless it
        is the only one: that one says where the log starts.
        """
        entries = self.entries
        if log_end_offset is not None and entries[1:] and entries[-1][1] >= log_end_offset:
            entries.pop()
        return format_epochs(entries)

    @property
    def entries(self) -> list[EpochEntry]:
        return [EpochEntry(*pair) for pair in zip(self._epochs, self._starts, strict=True)]

    @property
    def latest(self) -> int:
        """The newest epoch, or -1."""
        return self._epochs[-1] if self._epochs else NO_EPOCH

    def is_written(self, epoch: int, log_end_offset: int) -> bool:
        """Whether it is the newest epoch and something was written in it."""
        starts = self._starts
        return bool(starts) and starts[-1] < log_end_offset and self._epochs[-1] == epoch

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Record that `epoch` starts at `start_offset`. True if that changed anything.

        Called for every appended batch, so the usual case, the latest epoch again, comes first.
        At replay, an epoch below the latest one removes the entries after it, as it does in Kafka.
        Raises ValueError if either is negative.
        """
        epochs, starts = self._epochs, self._starts
        if epochs and epoch == epochs[-1] and start_offset >= starts[-1]:
            return False
        if epoch < 0 or start_offset < 0:
            raise ValueError(f"epoch {epoch} cannot start at offset {start_offset}")
        # Both lists ascend, so the entries to be replaced are at the end of both.
        keep = min(bisect_left(epochs, epoch), bisect_left(starts, start_offset))
        epochs[keep:] = [epoch]
        starts[keep:] = [start_offset]
        return True

    def end_offset_for(
        self, epoch: int, log_end_offset: int, *, is_leader: bool = True
    ) -> tuple[int, int]:
        """Answer OffsetForLeaderEpoch: the epoch to compare with, and where it ends.

        That is the newest epoch not above `epoch`. For an epoch older than all known here: itself,
        and where the log's first epoch starts. For one newer than all: (-1, -1). A follower knows
        of an epoch from its first batch on.
        """
        epochs = self._epochs
        if not is_leader and epochs and self._starts[-1] >= log_end_offset:
            known = bisect_left(self._starts, log_end_offset)
            epochs = epochs[: max(known, 1) if log_end_offset else 0]
        if epoch == NO_EPOCH or not epochs or epoch > epochs[-1]:
            return NO_EPOCH, NO_OFFSET
        if epoch == epochs[-1]:
            return epoch, log_end_offset
        above = bisect_right(epochs, epoch)
        return (epochs[above - 1] if above else epoch), self._starts[above]

    def epoch_at(self, offset: int) -> int:
        """The epoch in which `offset` was (or would be) written; -1 if not known."""
        index = bisect_right(self._starts, offset)
        return self._epochs[index - 1] if index else NO_EPOCH

    def truncate_from_end(self, offset: int) -> bool:
        """Remove the epochs that start at `offset` or after it: the log now ends there."""
        keep = bisect_left(self._starts, offset)
        if keep == len(self._starts):
            return False
        del self._epochs[keep:], self._starts[keep:]
        return True

    def truncate(self, log_start_offset: int, log_end_offset: int) -> None:
        """Remove the epochs that start at the log end or after it. An empty log that starts above 0
        keeps one, which tells the next start where the log starts."""
        first = self._epochs[:1]
        self.truncate_from_end(log_end_offset)
        if first and log_start_offset and not self._starts:
            self._epochs, self._starts = first, [log_start_offset]

    def truncate_from_start(self, offset: int) -> bool:
        """Move the log start to `offset`: the epoch at that offset becomes the first entry."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0 or (index == 0 and self._starts[0] == offset):
            return False
        del self._epochs[:index], self._starts[:index]
        self._starts[0] = offset
        return True
