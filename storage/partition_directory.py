"""A partition's directory: what lies in it beside the segments, and when that is written.

`partition.metadata` comes first, when the first batch does: until then there is no directory, so a
topic with thousands of partitions costs nothing. `leader-epoch-checkpoint` is written whenever its
content is another. Producer snapshots are named by the offset they were taken at. A directory that
is removed is renamed first, so that what a crash leaves of it is finished at the next start. So are
the files of a segment that goes: they end in `.deleted` for a while, in which whoever still has the
segment reads on.

Every method raises OSError, which `disk` turns into what clients are told. Left out: the segments
(segment.py), and repairs (recovery/recovery.py).
Source: directories of Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from errno import EBADF

from ..wire.errors import Error, Refused, WireError
from .checkpoints import (
    LEADER_EPOCHS,
    META_PROPERTIES,
    PARTITION_METADATA,
    format_partition_metadata,
)
from .disk.directory import Directory, Handle
from .epochs import LeaderEpochs
from .naming import DELETE, DELETED, SNAPSHOT, Naming
from .producers import ProducerStates
from .segment import Segment


class PartitionDirectory:
    """The directory of one partition, below `parent`."""

    def __init__(self, parent: Directory, topic: str, partition: int, naming: Naming) -> None:
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
        self._retired: list[tuple[int, Segment]] = []

    @contextmanager
    def disk(self) -> Iterator[None]:
        """Turn what files can raise into what clients can be told."""
        try:
            yield
        except WireError as error:
            raise Refused(Error.CORRUPT_MESSAGE, f"{self.name}: {error}") from error
        except OSError as error:
            raise self.storage_error(error) from error

    def storage_error(self, error: OSError) -> Refused:
        """What clients are told of it."""
        return Refused(Error.KAFKA_STORAGE_ERROR, f"{self.name}: {error}")

    def create(self, topic_id: bytes, epochs: LeaderEpochs) -> None:
        """Make the directory for the first batch."""
        self.check_open()
        self.files.make()
        self.write_metadata(topic_id)
        self.exists = True
        if epochs.entries:
            self.store_epochs(epochs)

    def check_open(self) -> None:
        """Raise OSError if the log was closed."""
        if self.closed:
            raise OSError(EBADF, "the log is closed", self.name)

    def write_metadata(self, topic_id: bytes) -> None:
        """Say which topic this is."""
        self.files.write_atomic(PARTITION_METADATA, format_partition_metadata(topic_id))

    def store_epochs(self, epochs: LeaderEpochs, log_end_offset: int | None = None) -> None:
        """Write the leader epochs, if there is a directory and they are other ones."""
        data = epochs.to_checkpoint(log_end_offset)
        if self.exists and data != self._stored_epochs:
            self.files.write_atomic(LEADER_EPOCHS, data)
            self._stored_epochs = data
            self._unsynced.add(LEADER_EPOCHS)

    def read_epochs(self) -> bytes | None:
        """What is stored of the leader epochs, or None."""
        if not self.files.exists(LEADER_EPOCHS):
            return None
        self._stored_epochs = self.files.read_bytes(LEADER_EPOCHS)
        self._unsynced.add(LEADER_EPOCHS)
        return self._stored_epochs

    def take_snapshot(self, offset: int, producers: ProducerStates) -> None:
        """Write the producers as of `offset`, unless there is a snapshot there or behind it."""
        if offset > self._snapshot_offset:
            name = self.naming.file(offset, SNAPSHOT)
            self.files.write_atomic(name, producers.snapshot())
            self._unsynced.add(name)
            self._snapshot_offset = offset

    def drop_snapshot(self, offset: int) -> None:
        """Remove the snapshot at `offset`, if there is one."""
        self.files.remove(self.naming.file(offset, SNAPSHOT))

    def find_snapshots(self) -> list[int]:
        """The offsets of all snapshots, lowest first; the last one is taken note of."""
        names = (name for name in self.files.names() if name.endswith(SNAPSHOT))
        parsed = map(self.naming.parse_file, names)
        offsets = sorted(found[0] for found in parsed if found and found[1] == SNAPSHOT)
        self._snapshot_offset = offsets[-1] if offsets else 0
        return offsets

    def tidy_snapshots(self, segments: list[Segment]) -> None:
        """Remove all snapshots but the newest and those at the segments' bases."""
        bases = {segment.base_offset for segment in segments}
        for offset in self.find_snapshots()[:-1]:
            if offset not in bases:
                self.drop_snapshot(offset)

    def segment(self, base_offset: int, *, now_ms: int, index_interval_bytes: int) -> Segment:
        """A new segment, of which nothing is on disk yet."""
        return Segment(
            *(self.files, self.naming, base_offset),
            now_ms=now_ms,
            index_interval_bytes=index_interval_bytes,
        )

    def continued(self, newest: Segment) -> list[Segment]:
        """The segment that takes the place of the newest if that one takes no more, or none."""
        if not newest.damages:
            return []
        interval = newest.index_interval_bytes
        created = newest.created_ms
        return [self.segment(newest.next_offset, now_ms=created, index_interval_bytes=interval)]

    def retire(self, segment: Segment, unlink_ms: int) -> None:
        """Rename a segment's files and its snapshot, to be unlinked when that time has come."""
        try:
            segment.retire()
            snapshot = self.naming.file(segment.base_offset, SNAPSHOT)
            if self.files.exists(snapshot):
                self.files.rename(snapshot, snapshot + DELETED)
        finally:
            if segment.is_retired:
                self._retired.append((unlink_ms, segment))

    def unlink_later(self, segment: Segment, unlink_ms: int) -> None:
        """Have the files of a segment that was renamed unlinked when that time has come."""
        self._retired.append((unlink_ms, segment))

    def unlink_retired(self, now_ms: int) -> None:
        """Remove what is due of what was renamed. What cannot be is left to the next start."""
        due = [segment for when, segment in self._retired if when <= now_ms]
        self._retired = [entry for entry in self._retired if entry[0] > now_ms]
        for segment in due:
            segment.remove()
            self.files.remove(self.naming.file(segment.base_offset, SNAPSHOT) + DELETED)

    def handles(self, segments: list[Segment]) -> list[Handle]:
        """What a sync of these segments waits for, the names of the files included."""
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
        """Return when the disk has these segments and every name."""
        handles = self.handles(segments)
        try:
            for handle in handles:
                handle.sync()
        finally:
            for handle in handles:
                handle.close()

    def close(self) -> None:
        """Let go of the segments that were renamed; their files go at the next start."""
        self.closed = True
        for _, segment in self._retired:
            segment.close()
        self._retired = []

    def delete(self, unique: bytes, later: bool = False) -> str | None:
        """Rename the directory, with 16 bytes that make the name unique, and remove it; `later`
        leaves that to the caller, who gets the name."""
        self.close()
        if not self.exists:
            return None
        self.exists = False
        leaving = self.naming.leaving_directory(self.topic, self.partition, unique, DELETE)
        self._parent.rename(self.name, leaving)
        if later:
            return leaving
        self._parent.remove_directory(leaving)
        return None
