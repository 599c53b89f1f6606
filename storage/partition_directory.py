"""A partition's directory: its files besides the segments, and when they are written.

The directory and `partition.metadata` are created with the first batch, so a topic with thousands
of partitions costs nothing before. `leader-epoch-checkpoint` is written whenever its content has
changed. Producer snapshots are named by the offset at which they were taken. A directory that is
removed is renamed first, so that the next start finishes the removal after a crash. So are the
files of a removed segment: they end in `.deleted` for a while, and readers that still have the
segment can read on.

Every method raises OSError; `client_errors` turns it into what clients are answered. Left out: the
segments (segment.py), and repairs (recovery/recovery.py).
Source: directories of Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from errno import EBADF

from ..wire.errors import Error, Refused, WireError
from .availability import Availability
from .checkpoints import (
    LEADER_EPOCHS,
    META_PROPERTIES,
    PARTITION_METADATA,
    format_partition_metadata,
)
from .disk.directory import TMP, Directory, Handle
from .epochs import LeaderEpochs
from .naming import DELETE, DELETED, SNAPSHOT, Naming
from .producers import ProducerStates
from .segment import Segment


class PartitionDirectory:
    """The directory of one partition, below `parent`."""

    def __init__(
        self,
        parent: Directory,
        topic: str,
        partition: int,
        naming: Naming,
        availability: Availability | None = None,
    ) -> None:
        self.availability = availability or Availability()
        self.name = naming.directory(topic, partition)
        self.files = parent.child(self.name)
        self.naming = naming
        self.exists = self.files.exists()
        self.closed = False
        self.topic = topic
        self.partition = partition
        self._parent = parent
        self._stored_epochs = b""
        self._unsynced = {PARTITION_METADATA, LEADER_EPOCHS}
        self._snapshot_offset = 0  # at 0 there is nothing to take
        self._snapshots: list[int] | None = None  # during a recovery, which asks often
        self._retired: list[tuple[int, Segment]] = []

    @contextmanager
    def client_errors(self) -> Iterator[None]:
        """Turn errors of files and batches into Refused, for clients."""
        try:
            self.availability.check()
            yield
        except WireError as error:
            raise Refused(Error.CORRUPT_MESSAGE, f"{self.name}: {error}") from error
        except OSError as error:
            raise self.storage_error(error) from error

    def storage_error(self, error: OSError) -> Refused:
        """The error that clients are answered for it. If the directory has gone, that is found."""
        try:
            self.availability.look()
            if self.exists and not self.closed and not self.files.is_accessible():
                self.availability.take_offline(f"{self.name} was removed or may not be used")
        except OSError as reason:
            error = reason
        return Refused(Error.KAFKA_STORAGE_ERROR, f"{self.name}: {error}")

    def create(self, topic_id: bytes | None, epochs: LeaderEpochs) -> None:
        """Create the directory, for the first batch."""
        self.check_open()
        self.availability.look()  # `make` would bring a log directory back that was removed
        self.files.make()
        self.write_metadata(topic_id)
        self.exists = True
        if epochs.entries:
            self.store_epochs(epochs)

    def check_open(self) -> None:
        """Raise OSError if the log was closed."""
        if self.closed:
            raise OSError(EBADF, "the log is closed", self.name)

    def write_metadata(self, topic_id: bytes | None) -> None:
        """Write the topic's id, if the directory is to have it."""
        if topic_id is not None:
            self.files.write_atomic(PARTITION_METADATA, format_partition_metadata(topic_id))

    def store_epochs(self, epochs: LeaderEpochs, log_end_offset: int | None = None) -> None:
        """Write the leader epochs, if there is a directory and they have changed."""
        data = epochs.to_checkpoint(log_end_offset)
        if self.exists and data != self._stored_epochs:
            self.files.write_atomic(LEADER_EPOCHS, data)
            self._stored_epochs = data
            self._unsynced.add(LEADER_EPOCHS)

    def read_epochs(self) -> bytes | None:
        """The stored leader epochs, or None."""
        try:
            self._stored_epochs = self.files.read_bytes(LEADER_EPOCHS)
        except FileNotFoundError:
            return None
        self._unsynced.add(LEADER_EPOCHS)
        return self._stored_epochs

    def take_snapshot(self, offset: int, producers: ProducerStates) -> None:
        """Write the producers as of `offset`, unless there is a snapshot of it or a later one."""
        if offset > self._snapshot_offset:
            name = self.naming.file(offset, SNAPSHOT)
            self.files.write_atomic(name, producers.snapshot())
            self._unsynced.add(name)
            self._snapshot_offset = offset
            self._snapshots = None

    def drop_snapshot(self, offset: int) -> None:
        """Remove the snapshot at `offset`, if there is one."""
        name = self.naming.file(offset, SNAPSHOT)
        self.files.remove(name)
        self._snapshots = None
        self._unsynced.discard(name)

    def retire_snapshot(self, offset: int) -> None:
        """Rename the snapshot at `offset`, if there is one, as the files of its segment are."""
        name = self.naming.file(offset, SNAPSHOT)
        if self.files.exists(name):
            self.files.rename(name, name + DELETED)
            self._snapshots = None
        self._unsynced.discard(name)

    def find_snapshots(self) -> list[int]:
        """The offsets of all snapshots, lowest first. From now on only later ones are written."""
        if self._snapshots is None:
            names = (name for name in self.files.names() if name.endswith(SNAPSHOT))
            parsed = map(self.naming.parse_file, names)
            self._snapshots = sorted(at[0] for at in parsed if at and at[1] == SNAPSHOT)
            self._snapshot_offset = self._snapshots[-1] if self._snapshots else 0
        return list(self._snapshots)

    def recovered(self) -> None:
        """Look at the directory again when snapshots are asked for after a recovery."""
        self._snapshots = None

    def remove_old_snapshots(self, segments: list[Segment]) -> None:
        """Remove all snapshots except the newest and those at base offsets of the segments."""
        bases = {segment.base_offset for segment in segments}
        for offset in self.find_snapshots()[:-1]:
            if offset not in bases:
                self.drop_snapshot(offset)

    def segment(self, base_offset: int, *, now_ms: int, index_interval_bytes: int) -> Segment:
        return Segment(
            *(self.files, self.naming, base_offset),
            now_ms=now_ms,
            index_interval_bytes=index_interval_bytes,
        )

    def successor_of(self, newest: Segment) -> list[Segment]:
        """The segment that takes appends after the newest one, if that is damaged; else none."""
        if not newest.damages:
            return []
        interval = newest.index_interval_bytes
        created = newest.created_ms
        return [self.segment(newest.next_offset, now_ms=created, index_interval_bytes=interval)]

    def retire(self, segment: Segment, unlink_ms: int) -> None:
        """Rename a segment's files and its snapshot, to be unlinked at that time."""
        try:
            segment.retire()
            self.retire_snapshot(segment.base_offset)
        finally:
            if segment.is_retired:
                self._retired.append((unlink_ms, segment))

    def unlink_later(self, segment: Segment, unlink_ms: int) -> None:
        """Unlink the files of a segment that was renamed, at that time."""
        self._retired.append((unlink_ms, segment))

    def unlink_retired(self, now_ms: int) -> None:
        """Remove the renamed files that are due. The next start removes what cannot be removed."""
        due = [segment for when, segment in self._retired if when <= now_ms]
        self._retired = [entry for entry in self._retired if entry[0] > now_ms]
        for segment in due:
            segment.remove()
            self.files.remove(self.naming.file(segment.base_offset, SNAPSHOT) + DELETED)

    def image(
        self, segments: list[Segment], end: int, producers: ProducerStates, epochs: LeaderEpochs
    ) -> dict[str, bytes | None]:
        """Its files after a clean stop now, as `Segment.image` has those of a segment."""
        files: dict[str, bytes | None] = {}
        names = self.files.names()
        kept = {segment.base_offset for segment in segments}
        if end > self._snapshot_offset:
            files[self.naming.file(end, SNAPSHOT)] = producers.snapshot()
        else:
            kept.add(self._snapshot_offset)
        for name in names:
            found = self.naming.parse_file(name)
            is_plain = found is None and not name.endswith(TMP)
            if is_plain or (found and found[1] == SNAPSHOT and found[0] in kept):
                files[name] = None
        for segment in segments:
            files |= segment.image()
        files[LEADER_EPOCHS] = epochs.to_checkpoint(end)
        there = set(names)
        for name, data in files.items():
            if data is not None and name in there and self.files.read_bytes(name) == data:
                files[name] = None
        return files

    def handles(self, segments: list[Segment]) -> list[Handle]:
        """Handles of all that a sync of these segments waits for, directories included."""
        handles: list[Handle] = []
        try:
            if self.exists:
                names = [name for segment in segments for name in segment.files()]
                names += filter(self.files.exists, self._unsynced)
                handles.extend(map(self.files.handle, names))
                if PARTITION_METADATA in self._unsynced and self._parent.exists(META_PROPERTIES):
                    handles.append(self._parent.handle(META_PROPERTIES))
                handles += [self.files.handle(), self._parent.handle()]
                self._unsynced.clear()
        except BaseException:
            for handle in handles:
                handle.close()
            raise
        return handles

    def sync(self, segments: list[Segment]) -> None:
        """Return when these segments and all file names are on disk."""
        handles = self.handles(segments)
        try:
            for handle in handles:
                handle.sync()
        finally:
            for handle in handles:
                handle.close()

    def close(self) -> None:
        """Close the segments that were renamed; the next start removes their files."""
        self.closed = True
        for _, segment in self._retired:
            segment.close()
        self._retired = []

    def delete(self, unique: bytes, later: bool = False) -> str | None:
        """Rename the directory, with 16 bytes that make the name unique, and remove it; with
        `later` return the new name instead."""
        self.close()
        if not self.exists:
            return None
        self.exists = False
        leaving = self.naming.renamed_directory(self.topic, self.partition, unique, DELETE)
        self._parent.rename(self.name, leaving)
        if later:
            return leaving
        self._parent.remove_directory(leaving)
        return None
