"""The stored leader epochs of a partition before its log is open: its latest epoch, and
where its log starts if the checkpoint of log starts is lost.

DeleteRecords moves the start of the first leader epoch together with the log start. So the first
epoch's start is the log start if the batch before it has the same epoch; otherwise it may as well
be the start of the only epoch that is known.
"""

from __future__ import annotations

from ..wire.legacy.as_batches import header_of
from .checkpoints import LEADER_EPOCHS, CheckpointError
from .disk.directory import Directory
from .epochs import EpochEntry, LeaderEpochs
from .log import Log


def first_stored_epoch(directory: Directory) -> EpochEntry | None:
    """The first leader epoch in a partition directory's checkpoint, or None. Raises OSError."""
    return next(iter(_stored_epochs(directory).entries), None)


def latest_stored_epoch(directory: Directory) -> int:
    """The latest leader epoch in a partition directory's checkpoint, or -1. Raises OSError."""
    return _stored_epochs(directory).latest


def _stored_epochs(directory: Directory) -> LeaderEpochs:
    if directory.exists(LEADER_EPOCHS):
        try:
            return LeaderEpochs.from_checkpoint(directory.read_bytes(LEADER_EPOCHS))
        except CheckpointError:
            return LeaderEpochs()
    return LeaderEpochs()


def log_start_from_epochs(log: Log, first: EpochEntry) -> int | None:
    """Where an open log starts whose checkpoint is lost, if its first stored epoch shows it.

    Raises Refused (KAFKA_STORAGE_ERROR).
    """
    start = first.start_offset
    is_inside = log.log_start_offset < start <= log.log_end_offset
    if not is_inside or log.reader.after_damage(start - 1) >= start:
        return None
    before = log.read(start - 1, 1)
    return start if len(before) and header_of(before).leader_epoch == first.epoch else None
