"""LogDirectory: one Kafka log directory, with the logs of many partitions.

Rules:

- It is locked as Kafka locks it, and belongs to one node of one cluster (`meta.properties`):
  opening it with another id is refused, with the reason.
- A clean stop leaves `.kafka_cleanshutdown`, which is removed as soon as the directory is opened.
  So a directory without it was not closed cleanly, and its logs are checked. The marker is only
  written if every log that needed a check was opened, and closed without an error.
- Half-removed directories (`-delete`) are removed. A directory whose `partition.metadata` names
  another topic is renamed to end in `-stray` when the partition is opened.
- A directory of a broker with ZooKeeper (`meta.properties` of version 0) is refused, unless it is
  asked for: to be gone on with as it is, without ids of topics, or to become one of KRaft, once the
  metadata is written (`leave_zookeeper`).
- The checkpoints of recovery points, log starts and high watermarks list the partitions on disk,
  open or not; `__cluster_metadata` is in none of them, and its log is always checked.

A Kafka process exits because of a malformed checkpoint, an unknown directory or a malformed
`partition.metadata`. This keeps the file as `<name>.malformed`, says so in `notices`, and goes on:
without recovery points every log that was not closed cleanly is checked whole; without log starts
they are found from the leader epochs (stored_epochs.py). Partitions named in another way are
refused (naming_detection.py).

Left out: several log directories of one node, when to write checkpoints, and the files that KRaft
keeps here. Source: directories of Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from ..wire.errors import Refused
from ..wire.primitives import id_text, random_id
from .availability import Availability
from .checkpoints import (
    CLEAN_SHUTDOWN,
    CLEANED_OFFSETS,
    HIGH_WATERMARKS,
    LOCK,
    LOG_STARTS,
    META_PROPERTIES,
    PARTITION_METADATA,
    RECOVERY_POINTS,
    CheckpointError,
    MetaProperties,
    format_clean_shutdown,
    format_meta_properties,
    format_offsets,
    format_partition_metadata,
    read_meta_properties,
    read_offsets,
    read_partition_metadata,
)
from .config import LogConfig
from .disk.directory import Directory, FileLock, Locked
from .epochs import EpochEntry
from .log import Log
from .naming import CLUSTER_METADATA, DELETE, KAFKA, STRAY, Naming, renamed_suffix
from .naming_detection import find_other_naming
from .notices import Notices
from .stored_epochs import first_stored_epoch, log_start_from_epochs

TopicPartition: TypeAlias = tuple[str, int]
OfZooKeeper: TypeAlias = Literal["refused", "kept", "begun", "migrated"]
"""The way in which a directory of a broker with ZooKeeper is opened. "begun": as "kept", and a new
one is one of these."""

MALFORMED = ".malformed"


class LogDirectoryError(Exception):
    """The directory cannot be used, or was not closed cleanly. The text names it and says why."""


class OfZooKeeperError(LogDirectoryError):
    """The directory is of a broker with ZooKeeper, and is not to be opened as one."""


class LogDirectory:
    """An open log directory; use `LogDirectory.open`.

    Read only: `directory`, its `path`, `properties` (cluster, node, directory id), `clean` (whether
    the last stop was clean), `partitions` (each partition on disk and its topic's id, None if that
    is not known), `logs` (those opened), `high_watermarks` (of the last checkpoint), `notices`
    (what was found wrong), `availability` (whether it can be used).
    """

    def __init__(
        self,
        directory: Directory,
        lock: FileLock,
        properties: MetaProperties,
        naming: Naming,
        new_id: Callable[[], bytes],
        of_zookeeper: OfZooKeeper = "refused",
    ) -> None:
        self.path = directory.path
        self.properties = properties
        self.logs: dict[TopicPartition, Log] = {}
        self.partitions: dict[TopicPartition, bytes | None] = {}
        self.notices = Notices()
        self.availability = Availability(directory)
        self.directory = directory
        self.naming = naming
        self._lock: FileLock | None = lock
        self._new_id = new_id
        self.has_zookeeper = properties.has_zookeeper
        """Whether it was opened as one of a broker with ZooKeeper."""
        self._keeps_ids = not properties.has_zookeeper or of_zookeeper == "migrated"
        self._check_naming()
        self.clean = directory.exists(CLEAN_SHUTDOWN)
        if self.clean:  # a crash from now on must not find the marker
            directory.remove(CLEAN_SHUTDOWN)
            directory.sync()
        self._list_partitions()
        self._lost_partitions: dict[TopicPartition, int] = {}
        self._recovery_points = self._read_offsets(RECOVERY_POINTS) or {}
        log_starts = self._read_offsets(LOG_STARTS)
        self._log_starts = log_starts or {}
        self._log_starts_lost = log_starts is None
        self.high_watermarks = self._read_offsets(HIGH_WATERMARKS, required=False) or {}
        self._unchecked = set() if self.clean else set(self.partitions)
        self._cleaned_offsets = self._read_offsets(CLEANED_OFFSETS, required=False) or {}
        self._written: dict[str, bytes] = {}

    @classmethod
    def open(
        cls,
        path: str | Path | Directory,
        *,
        node_id: int,
        cluster_id: str | None = None,
        naming: Naming = KAFKA,
        durable: bool = False,
        new_id: Callable[[], bytes] = random_id,
        of_zookeeper: OfZooKeeper = "refused",
    ) -> LogDirectory:
        """Lock the directory and list its partitions, creating it if need be.

        `cluster_id`: 22 characters; None takes the one on disk, or generates one. `durable`: see
        disk/directory.py; ignored if a Directory is given instead of a path. Raises
        LogDirectoryError if another process or object has it open, or if it belongs to another
        node or cluster.
        """
        directory = path if isinstance(path, Directory) else Directory(path, durable=durable)
        path = directory.path
        try:
            directory.make()
            lock = directory.lock(LOCK)
        except Locked:
            raise LogDirectoryError(f"{path} is in use by another broker") from None
        except OSError as error:
            raise LogDirectoryError(f"{path} cannot be opened: {error}") from error
        try:
            properties = _identify(directory, node_id, cluster_id, new_id, of_zookeeper)
            return cls(directory, lock, properties, naming, new_id, of_zookeeper)
        except OSError as error:
            lock.release(remove=False)
            raise LogDirectoryError(f"{path} cannot be opened: {error}") from error
        except BaseException:
            lock.release(remove=False)
            raise

    def open_log(
        self, topic: str, partition: int, topic_id: bytes, config: LogConfig, now_ms: int
    ) -> Log:
        """Open a partition's log, or create one.

        Raises Refused (KAFKA_STORAGE_ERROR), OSError; ValueError if it is open.
        """
        key = topic, partition
        if key in self.logs:
            raise ValueError(f"{topic}-{partition} is open")
        if self.partitions.get(key) not in (None, topic_id):
            self._rename_to_stray(topic, partition)
        name = self.naming.directory(topic, partition)
        if self.has_zookeeper:
            self._write_id(name, topic_id)
        first = first_stored_epoch(self.directory.child(name)) if self._log_starts_lost else None
        log = Log.open(
            *(self.directory, topic, partition),
            topic_id=topic_id if self._keeps_ids else None,
            config=config,
            now_ms=now_ms,
            clean=self.clean and topic != CLUSTER_METADATA,
            recovery_point=self._recovery_points.get(key, 0),
            log_start_offset=self._log_starts.get(key, 0),
            cleaned_offset=self._cleaned_offsets.get(key),
            naming=self.naming,
            availability=self.availability,
        )
        if first is not None:
            self._find_log_start(log, first)
        if key in self._lost_partitions:
            log.notices.append(
                f"the directory is gone; it was flushed up to {self._lost_partitions[key]}"
            )
        for notice in log.notices:
            self._notice(name, notice)
        log.notices.listener = partial(self._notice, name)
        self.logs[key] = log
        self.partitions[key] = topic_id
        self._unchecked.discard(key)
        self._correct_offsets(key, log)
        return log

    def _notice(self, name: str, notice: str) -> None:
        self.notices.append(f"{name}/{notice}")

    def _write_id(self, name: str, topic_id: bytes) -> None:
        """With ZooKeeper directories of partitions have no id of the topic; in KRaft they do."""
        home = self.directory.child(name)
        if self._keeps_ids and home.exists() and not home.exists(PARTITION_METADATA):
            home.write_atomic(PARTITION_METADATA, format_partition_metadata(topic_id))

    def name_cluster(self, cluster_id: str) -> None:
        """This is the cluster's id, by ZooKeeper. Raises LogDirectoryError if the directory belongs
        to another one; OSError."""
        properties = self.properties
        if properties.is_cluster_known and properties.cluster_id != cluster_id:
            raise LogDirectoryError(
                f"{self.path} belongs to cluster {properties.cluster_id}, not to {cluster_id}"
            )
        self._identify_as(properties._replace(cluster_id=cluster_id, is_cluster_known=True))

    def leave_zookeeper(self) -> None:
        """From now on it is the directory of a KRaft node. Raises OSError."""
        properties = self.properties._replace(has_zookeeper=False, is_cluster_known=True)
        self._identify_as(properties._replace(directory_id=self._new_id()))

    def _identify_as(self, properties: MetaProperties) -> None:
        if properties != self.properties:
            data = format_meta_properties(properties)
            self.directory.write_atomic(META_PROPERTIES, data)
            self.availability.identified(data)
            self.properties = properties

    @property
    def cleaned_offsets(self) -> Mapping[TopicPartition, int]:
        """Up to which offset each partition was compacted, by the checkpoint."""
        return self._cleaned_offsets

    def knows(self, topic: str, partition: int) -> bool:
        """Whether anything of a partition is on disk, or should be."""
        key = topic, partition
        return key in self.partitions or key in self._lost_partitions

    def _correct_offsets(self, key: TopicPartition, log: Log) -> None:
        """Correct stored offsets above the log end, where new batches replace lost ones: a stale
        recovery point would exempt those from checks, a stale log start would hide them."""
        if self._recovery_points.get(key, 0) > log.log_end_offset:
            self._recovery_points[key] = log.log_end_offset
            self._write_offsets(RECOVERY_POINTS, self._recovery_points)
        if self._log_starts.get(key, 0) > log.log_end_offset:
            self._log_starts[key] = log.log_start_offset
            self._write_offsets(LOG_STARTS, self._log_starts)

    def delete_log(self, topic: str, partition: int, later: bool = False) -> str | None:
        """Remove an open log from disk. With `later` only rename its directory and return the new
        name, for `remove_renamed`, or None if there is no directory.

        Raises Refused (KAFKA_STORAGE_ERROR), KeyError.
        """
        key = topic, partition
        left = self.logs.pop(key).delete(self._new_id(), later)
        self._forget(key)
        return left

    def remove_renamed(self, name: str) -> None:
        """Remove a directory that `delete_log` has renamed. Raises OSError."""
        self.directory.remove_directory(name)

    def checkpoint(
        self, high_watermarks: Mapping[TopicPartition, int] = MappingProxyType({})
    ) -> None:
        """Write the checkpoints, and what logs keep in memory for speed.

        A log that `high_watermarks` does not name counts as replicated up to its end. Raises
        Refused (KAFKA_STORAGE_ERROR), OSError.
        """
        self.availability.look()
        for log in self.logs.values():
            log.checkpoint()
        for (topic, partition), log in self.logs.items():
            if topic == CLUSTER_METADATA or not log.exists:
                continue
            key = topic, partition
            self._recovery_points[key] = log.recovery_point
            self._log_starts.pop(key, None)
            if log.log_start_offset > log.segments[0].base_offset:
                self._log_starts[key] = log.log_start_offset
            self.high_watermarks[key] = high_watermarks.get(key, log.log_end_offset)
        self.checkpoint_cleaned()
        self._write_offsets(RECOVERY_POINTS, self._recovery_points)
        self._write_offsets(LOG_STARTS, self._log_starts)
        self._write_offsets(HIGH_WATERMARKS, self.high_watermarks)

    def checkpoint_cleaned(self) -> None:
        """Write up to which offset each log has been compacted. Raises OSError."""
        for key, log in self.logs.items():
            if log.compactor.cleaned_offset is not None:
                self._cleaned_offsets[key] = log.compactor.cleaned_offset
        if self._cleaned_offsets or self.directory.exists(CLEANED_OFFSETS):
            self._write_offsets(CLEANED_OFFSETS, self._cleaned_offsets)

    def close(
        self,
        *,
        clean: bool = True,
        high_watermarks: Mapping[TopicPartition, int] = MappingProxyType({}),
        broker_epoch: int = -1,
    ) -> None:
        """Close every log, write checkpoints and marker, and unlock; a second close does nothing.

        Without `clean`, or if the directory is offline, leave everything as a kill would, but
        unlocked. Raises LogDirectoryError if something could not be written; then there is no
        marker, but everything is closed.
        """
        if self._lock is None:
            return
        if clean:
            with suppress(OSError):  # said in a notice
                self.availability.look()
            clean = self.availability.offline is None
        errors: list[Exception] = []
        self._written.clear()
        for log in self.logs.values():
            try:
                log.close(clean=clean)
            except Refused as error:
                errors.append(error)
        try:
            if clean:
                self.checkpoint(high_watermarks)
                if not errors and not self._unchecked:
                    marker = format_clean_shutdown(broker_epoch)
                    self.directory.write_atomic(CLEAN_SHUTDOWN, marker)
        except (Refused, OSError) as error:
            errors.append(error)
        finally:
            self._lock.release(remove=clean)
            self._lock = None
        if errors:
            reasons = "; ".join(map(str, errors))
            raise LogDirectoryError(f"{self.path} was not closed cleanly: {reasons}")

    def _read_offsets(
        self, name: str, *, required: bool = True
    ) -> dict[TopicPartition, int] | None:
        """A checkpoint's lines of partitions on disk; None if it was malformed or missing."""
        if not self.directory.exists(name):
            if required and self.partitions and self.clean and not self.has_zookeeper:
                self.notices.append(f"{name}: missing")
            return None
        try:
            offsets = read_offsets(self.directory.read_bytes(name), name)
            if name == RECOVERY_POINTS:
                self._lost_partitions = {
                    k: end for k, end in offsets.items() if k not in self.partitions
                }
            return {key: offset for key, offset in offsets.items() if key in self.partitions}
        except CheckpointError as error:
            self._keep_malformed(self.directory, name, error)
            return None

    def _write_offsets(self, name: str, offsets: Mapping[TopicPartition, int]) -> None:
        data = format_offsets(offsets)
        # A week of a manual clock has ten thousand checkpoints, most of them equal.
        if data != self._written.get(name):
            self.directory.write_atomic(name, data)
            self._written[name] = data

    def _find_log_start(self, log: Log, first: EpochEntry) -> None:
        start = log_start_from_epochs(log, first)
        if start is not None:
            log.delete_records(start)
            log.notices.append(f"starts at {start}, according to its leader epochs")

    def report_unknown_partitions(self) -> None:
        """Report the partitions on disk that were not opened, once all known ones are."""
        for topic, partition in sorted(self.partitions.keys() - self.logs.keys()):
            name = self.naming.directory(topic, partition)
            self.notices.append(
                f"{name}: of a topic that the cluster does not know; left alone "
                "(`odradek repair` brings it back)"
            )

    def _check_naming(self) -> None:
        found = find_other_naming(self.directory, self.naming)
        if found is not None:
            name, naming = found
            raise LogDirectoryError(
                f"{self.path} cannot be opened with this naming: {name} is named as {naming!r}"
            )

    def _keep_malformed(self, directory: Directory, name: str, error: CheckpointError) -> None:
        directory.rename(name, name + MALFORMED)
        self.notices.append(f"{error}; kept as {name}{MALFORMED}")

    def _list_partitions(self) -> None:
        for name in self.directory.directories():
            suffix = renamed_suffix(name)
            key = self.naming.parse_directory(name)
            if suffix == DELETE:
                self.directory.remove_directory(name)
            elif suffix is None and key is None:
                self.notices.append(f"{name}: not a partition's directory; left alone")
            elif suffix is None and key is not None:
                self.partitions[key] = self._topic_id(name)

    def _topic_id(self, name: str) -> bytes | None:
        directory = self.directory.child(name)
        if not directory.exists(PARTITION_METADATA):
            return None
        file = f"{name}/{PARTITION_METADATA}"
        try:
            return read_partition_metadata(directory.read_bytes(PARTITION_METADATA), file)
        except CheckpointError as error:
            self._keep_malformed(directory, PARTITION_METADATA, error)
            return None

    def _rename_to_stray(self, topic: str, partition: int) -> None:
        name = self.naming.directory(topic, partition)
        stray = self.naming.renamed_directory(topic, partition, self._new_id(), STRAY)
        self.directory.rename(name, stray)
        self.notices.append(f"{name}: of another topic of that name; renamed to {stray}")
        self._forget((topic, partition))

    def _forget(self, key: TopicPartition) -> None:
        offsets = (self._recovery_points, self._log_starts, self._cleaned_offsets)
        for lines in (*offsets, self.high_watermarks):
            lines.pop(key, None)
        self.partitions.pop(key, None)
        self._unchecked.discard(key)


def _identify(
    directory: Directory,
    node_id: int,
    cluster_id: str | None,
    new_id: Callable[[], bytes],
    of_zookeeper: OfZooKeeper,
) -> MetaProperties:
    """Read or create `meta.properties`. Raises LogDirectoryError, OSError."""
    if not directory.exists(META_PROPERTIES):
        properties = MetaProperties(cluster_id or id_text(new_id()), node_id, new_id())
        if of_zookeeper == "begun":  # which has the cluster's id
            properties = MetaProperties(*properties[:2], None, True, False)
        directory.write_atomic(META_PROPERTIES, format_meta_properties(properties))
        return properties
    try:
        properties = read_meta_properties(directory.read_bytes(META_PROPERTIES))
    except CheckpointError as error:
        raise LogDirectoryError(f"{directory.path} cannot be used: {error}") from error
    if properties.has_zookeeper and of_zookeeper == "refused":
        raise OfZooKeeperError(
            f"{directory.path} is of a broker with ZooKeeper ({META_PROPERTIES} has version=0)"
        )
    if properties.node_id != node_id:
        raise LogDirectoryError(
            f"{directory.path} belongs to node {properties.node_id}, not to node {node_id}"
        )
    if cluster_id is not None and properties.cluster_id != cluster_id:
        raise LogDirectoryError(
            f"{directory.path} belongs to cluster {properties.cluster_id}, not to {cluster_id}"
        )
    if properties.has_zookeeper and not properties.cluster_id:
        properties = properties._replace(cluster_id=cluster_id or id_text(new_id()))
        directory.write_atomic(META_PROPERTIES, format_meta_properties(properties))
    if properties.directory_id is None and not properties.has_zookeeper:
        properties = properties._replace(directory_id=new_id())
        directory.write_atomic(META_PROPERTIES, format_meta_properties(properties))
    return properties
