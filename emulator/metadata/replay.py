"""Reading the metadata log at a start: the newest snapshot, and the log after it.

Rules:
- The newest snapshot counts. A damaged one is skipped with a warning; then the one before it
  counts, and more of the log, if the log still has it.
- A directory that was formatted and never started has its features in `bootstrap.checkpoint`.
- A record that is not known here (a newer Kafka's) is skipped with a warning.

Left out: repairs; the storage has already truncated a torn tail. Source: KIP-630.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...storage import Directory, Log, LogDirectoryError
from ...wire.errors import WireError
from ...wire.records import Record, read_records
from ...wire.stored.cluster import read_record
from ...wire.stored.control import read_control_record
from ..base.logger import log
from .delta import MetadataDelta
from .image import MetadataImage
from .snapshot import Contents, SnapshotId, read_snapshot, snapshots_in

BOOTSTRAP = "bootstrap.checkpoint"
NO_SNAPSHOT = SnapshotId(0, 0)


@dataclass
class Replayed:
    """What was found."""

    image: MetadataImage = field(default_factory=MetadataImage)
    snapshot: SnapshotId = NO_SNAPSHOT
    """The one that counted."""
    snapshots: list[SnapshotId] = field(default_factory=list)
    """Those that are left for the next start, up to that one."""
    last_timestamp: int = 0
    """Of the last record, in ms."""
    log_bytes: int = 0
    """How much of the log comes after the snapshot."""


def replay(root: Directory, home: Directory, stored: Log) -> Replayed:
    """Read everything: `root` is the log directory, `home` that of the metadata log in it.

    Raises LogDirectoryError if the log begins where no snapshot ends, Refused
    (KAFKA_STORAGE_ERROR) for a log that cannot be read, OSError.
    """
    found = Replayed()
    _replay_newest_snapshot(home, found)
    if stored.log_start_offset > found.snapshot.end:
        raise LogDirectoryError(
            f"the metadata log of {root.path} begins at offset {stored.log_start_offset}, "
            "and there is no snapshot that reaches it"
        )
    _replay_log(stored, found)
    if not found.image.features and root.exists(BOOTSTRAP):
        contents = read_snapshot(root, BOOTSTRAP)
        if contents is not None:
            _replay_contents(contents, found.image)
    return found


def _replay_newest_snapshot(home: Directory, found: Replayed) -> None:
    candidates = snapshots_in(home)
    while candidates:
        contents = read_snapshot(home, candidates[-1].name)
        if contents is not None:
            _replay_contents(contents, found.image)
            found.snapshot, found.snapshots = candidates[-1], candidates
            found.last_timestamp = contents.last_timestamp
            return
        candidates.pop()


def _replay_contents(contents: Contents, image: MetadataImage) -> None:
    for control in contents.controls:
        image.replay_control(control)
    _replay_records(contents.records, 0, image)


def _replay_log(stored: Log, found: Replayed) -> None:
    """Replay what the log has after the snapshot. Raises Refused for damage."""
    first = found.snapshot.end
    for header, chunk, pos in stored.reader.batches_from(first):
        records = read_records(chunk, pos)
        if header.is_control:
            _replay_controls(records, first, found.image)
        else:
            _replay_records(records, first, found.image)
        found.last_timestamp = header.max_timestamp
        found.log_bytes += header.size


def _replay_controls(records: Iterable[Record], first: int, image: MetadataImage) -> None:
    for record in records:
        if record.offset < first:
            continue
        try:
            image.replay_control(read_control_record(record.key or b"", record.value or b""))
        except WireError as error:
            image.is_partial = True
            log.warning("metadata log, offset %d: passed over: %s", record.offset, error)


def _replay_records(records: Iterable[Record], first: int, image: MetadataImage) -> None:
    delta = MetadataDelta()  # nobody has subscribed yet
    for record in records:
        if record.offset < first:
            continue
        try:
            message, _ = read_record(record.value or b"")
        except WireError as error:
            image.is_partial = True
            log.warning("metadata log, offset %d: passed over: %s", record.offset, error)
            continue
        image.replay(message, delta)
