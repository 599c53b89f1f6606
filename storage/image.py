"""The files that a clean stop would leave of a log directory, without a stop.

    files = image_of(log_dir)        # {"orders-0": {"00000000000000000000.log": None, …}, "": …}

For each directory (the root is "") the names of its files, with their bytes, or None for those that
are right as they are on disk. Nothing is closed, and nothing that a reader sees changes. Whoever
copies the image may share the files that are right: closed segments never change, small files are
replaced whole, and the next append to the newest segment goes to a copy of its file
(Segment.share). So an image takes the time of naming its files, whatever their size.

It has the logs that are open, without what is about to be removed, and no directories that the
cluster does not know. As after a clean stop, it opens without a check.
"""

from __future__ import annotations

from typing import TypeAlias

from .checkpoints import (
    CLEAN_SHUTDOWN,
    CLEANED_OFFSETS,
    HIGH_WATERMARKS,
    LOCK,
    LOG_STARTS,
    RECOVERY_POINTS,
    format_clean_shutdown,
    format_offsets,
)
from .disk.directory import TMP
from .log_directory import LogDirectory
from .naming import CLUSTER_METADATA
from .recovery.known import Known, learn

Files: TypeAlias = dict[str, dict[str, bytes | None]]


def image_of(log_dir: LogDirectory) -> Files:
    """The image as of now. Raises Refused (KAFKA_STORAGE_ERROR), OSError."""
    log_dir.availability.look()
    root: dict[str, bytes | None] = {
        name: None for name in log_dir.directory.files() if name != LOCK and not name.endswith(TMP)
    }
    root |= _checkpoints(log_dir)
    root[CLEAN_SHUTDOWN] = format_clean_shutdown(-1)
    files: Files = {"": root}
    for (topic, partition), log in log_dir.logs.items():
        if found := log.image():
            files[log_dir.naming.directory(topic, partition)] = found
    return files


def learned(log_dir: LogDirectory) -> list[Known]:
    """Facts that make opening the image quick, for whoever holds it. Raises OSError."""
    found = (learn(log.segments[-1]) for log in log_dir.logs.values() if log.exists)
    return [known for known in found if known is not None]


def _checkpoints(log_dir: LogDirectory) -> dict[str, bytes | None]:
    ends, starts, cleaned = {}, {}, {}
    for key, log in log_dir.logs.items():
        if log.compactor.cleaned_offset is not None:
            cleaned[key] = log.compactor.cleaned_offset
        if key[0] != CLUSTER_METADATA and log.exists:
            ends[key] = log.log_end_offset
            if log.log_start_offset > log.segments[0].base_offset:
                starts[key] = log.log_start_offset
    found: dict[str, bytes | None] = {
        RECOVERY_POINTS: format_offsets(ends),
        LOG_STARTS: format_offsets(starts),
        HIGH_WATERMARKS: format_offsets(ends),
    }
    return found | ({CLEANED_OFFSETS: format_offsets(cleaned)} if cleaned else {})
