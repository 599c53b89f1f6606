"""Under which leader epochs a partition was written, and where each of them began.

A leader epoch counts the leaders a partition has had. Each entry says "epoch E starts at offset O";
both rise strictly from one entry to the next, and an epoch ends where the next entry starts. With
that a consumer or a follower that lost touch finds the offset up to which its view still holds.

Rules:
- A leader notes its epoch at the log end before it writes anything. What stands at or behind that
  epoch, or at or behind that offset, is replaced: so an epoch in which nothing was written leaves
  no trace.
- Truncation drops entries from the end. Raising the log start moves the entry it falls into.
- -1 is "no epoch" and "no offset" in every answer.

On disk (`leader-epoch-checkpoint`) this is checkpoint text with lines `<epoch> <start offset>`. It
is written with the first batch of an epoch; Kafka writes it when the leader is elected.
Methods that change something say so by returning True; writing the file is the caller's.
Source: KIP-101, KIP-279; the answers are those of Kafka 4.3.1.
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
        """Read a checkpoint's bytes; lines that do not rise are resolved as `assign` does.

        Raises CheckpointError, naming `file`, if the text is malformed.
        """
        epochs = cls()
        for epoch, start_offset in read_epochs(data, file):
            epochs.assign(epoch, start_offset)
        return epochs

    def to_checkpoint(self, log_end_offset: int | None = None) -> bytes:
        """The bytes of the checkpoint file.

        Given where the log ends, a newest epoch in which nothing was written is left out, unless
        it is the only one: that one says where the log starts.
        """
        entries = self.entries
        if log_end_offset is not None and entries[1:] and entries[-1][1] >= log_end_offset:
            entries.pop()
        return format_epochs(entries)

    @property
    def entries(self) -> list[EpochEntry]:
        """All entries, oldest first."""
        return [EpochEntry(*pair) for pair in zip(self._epochs, self._starts, strict=True)]

    @property
    def latest(self) -> int:
        """The newest epoch, or -1."""
        return self._epochs[-1] if self._epochs else NO_EPOCH

    def is_written(self, epoch: int, log_end_offset: int) -> bool:
        """Whether it is the newest epoch, and something was written in it."""
        starts = self._starts
        return bool(starts) and starts[-1] < log_end_offset and self._epochs[-1] == epoch

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Note that `epoch` is in force from `start_offset` on.

        Called for every appended batch, so the usual case, more of the latest epoch, comes first.
        Beware at replay: an epoch below the latest one cuts the history, as it does in Kafka.
        Raises ValueError if either is negative.
        """
        epochs, starts = self._epochs, self._starts
        if epochs and epoch == epochs[-1] and start_offset >= starts[-1]:
            return False
        if epoch < 0 or start_offset < 0:
            raise ValueError(f"epoch {epoch} cannot start at offset {start_offset}")
        # Two ascending lists: what is at or behind the new entry in either is one common tail.
        keep = min(bisect_left(epochs, epoch), bisect_left(starts, start_offset))
        epochs[keep:] = [epoch]
        starts[keep:] = [start_offset]
        return True

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """Answer OffsetForLeaderEpoch: the epoch to compare with, and where it ends.

        That is the newest epoch not above `epoch`. For one older than everything known here, its
        own number and where the log's first epoch starts; for one newer than all, (-1, -1).
        """
        epochs = self._epochs
        if epoch == NO_EPOCH or not epochs or epoch > epochs[-1]:
            return NO_EPOCH, NO_OFFSET
        if epoch == epochs[-1]:
            return epoch, log_end_offset
        above = bisect_right(epochs, epoch)
        return (epochs[above - 1] if above else epoch), self._starts[above]

    def epoch_at(self, offset: int) -> int:
        """The epoch under which `offset` was (or would be) written; -1 if that is not known."""
        index = bisect_right(self._starts, offset)
        return self._epochs[index - 1] if index else NO_EPOCH

    def truncate_from_end(self, offset: int) -> bool:
        """Forget the epochs that start at `offset` or behind it: the log now ends there."""
        keep = bisect_left(self._starts, offset)
        if keep == len(self._starts):
            return False
        del self._epochs[keep:], self._starts[keep:]
        return True

    def truncate(self, log_start_offset: int, log_end_offset: int) -> None:
        """Forget the epochs that start at the log end or behind it. Of a log that starts above 0
        and holds nothing one stays: by it the next start knows where the log starts."""
        first = self._epochs[:1]
        self.truncate_from_end(log_end_offset)
        if first and log_start_offset and not self._starts:
            self._epochs, self._starts = first, [log_start_offset]

    def truncate_from_start(self, offset: int) -> bool:
        """Let the log start at `offset`: the epoch in force there becomes the first entry."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0 or (index == 0 and self._starts[0] == offset):
            return False
        del self._epochs[:index], self._starts[:index]
        self._starts[0] = offset
        return True
