"""What a log directory holds that does not fit, and what can be told from the rest.

- Partitions named in another way than the directory is opened with: refused by name, for they would
  be taken for nothing, and an empty cluster be shown.
- No log starts, though the checkpoint of them is lost: DeleteRecords also moves the beginning of
  the first leader epoch. It is the log start if the batch in front of it is of the same epoch;
  otherwise it may as well be the only epoch that is known.
"""

from __future__ import annotations

from ..wire.legacy.as_batches import header_of
from .checkpoints import LEADER_EPOCHS, PARTITION_METADATA, CheckpointError
from .disk.directory import Directory
from .epochs import EpochEntry, LeaderEpochs
from .log import Log
from .naming import NAMINGS, Naming


def named_otherwise(directory: Directory, naming: Naming) -> tuple[str, str] | None:
    """A partition's directory that follows another naming, and that naming's name; or None.

    Raises OSError.
    """
    for name in directory.directories():
        if naming.parse_directory(name) is not None:
            continue
        for other_name, other in NAMINGS.items():
            if other != naming and other.parse_directory(name) is not None:
                files = directory.child(name).files()
                has_logs = any(
                    parsed is not None and parsed[1] == other.log_suffix
                    for parsed in map(other.parse_file, files)
                )
                if has_logs or PARTITION_METADATA in files:
                    return name, other_name
    return None


def first_epoch(directory: Directory) -> EpochEntry | None:
    """The first leader epoch of the partition in this directory, as its checkpoint has it."""
    return next(iter(_epochs(directory).entries), None)


def latest_epoch(directory: Directory) -> int:
    """The latest leader epoch of the partition in this directory, or -1."""
    return _epochs(directory).latest


def _epochs(directory: Directory) -> LeaderEpochs:
    if directory.exists(LEADER_EPOCHS):
        try:
            return LeaderEpochs.from_checkpoint(directory.read_bytes(LEADER_EPOCHS))
        except CheckpointError:
            return LeaderEpochs()
    return LeaderEpochs()


def find_log_start(log: Log, first: EpochEntry) -> int | None:
    """Where a log starts whose log start was not remembered, if its first epoch gives it away.

    Raises Refused (KAFKA_STORAGE_ERROR).
    """
    start = first.start_offset
    is_inside = log.log_start_offset < start <= log.log_end_offset
    if not is_inside or log.reader.after_damage(start - 1) >= start:
        return None
    before = log.read(start - 1, 1)
    return start if len(before) and header_of(before).leader_epoch == first.epoch else None
