"""Topics that have directories, and that the metadata log does not know (any more).

When a metadata log is damaged or lost, topics are missing from it; a real broker then renames their
directories to `-stray`. Here they are entered again: under the id in their `partition.metadata`,
with as many partitions as the highest number needs, and leader epochs that are not below those of
their batches. Their configs are lost.

A topic that the log says was deleted is not entered, nor one whose name another topic has now. The
metadata log is read from a copy: a dry run must change nothing.

Leaders resign at a stop and are re-elected at the start: leader epochs rise by 2 in between.

Rules, of a node that is broker and controller at once:
- At a clean stop every partition loses its leader; at the start it gets one. Each is a change of
  the leader, so the leader epoch and the partition epoch rise by 1 each time.
- After a kill the log still names leaders. A start of Kafka 4 first removes them, when the session
  of the killed broker has expired, and then elects: again 2 epochs. Up to 3.9 the broker that comes
  back still leads, and nothing is written.
- With eligible leader replicas, a partition without a leader has no replica in sync, and those that
  were are eligible; without that feature the last replica in sync remains in the ISR. A replica
  that is elected is in sync, and no other is eligible then.
- The stop writes one batch of records and the start another, whatever the number of partitions
  (up to 10,000). Where the disk takes nothing at the stop, the start does as after a kill.

Left out: what else is written to a real metadata log in between and clients do not see
(a LeaderChange; registrations: replication/); brokers that stop one after another; that a leader
elected after a kill counts as recovering. Source: metadata logs of Kafka 4.3.1 and 3.9.2 over stops
and kills.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ...storage import Finding, LogDirectory, LogDirectoryError
from ...storage.checkpoints import (
    META_PROPERTIES,
    PARTITION_METADATA,
    CheckpointError,
    read_meta_properties,
    read_partition_metadata,
)
from ...storage.disk.directory import Directory
from ...storage.naming import Naming, renamed_suffix
from ...storage.naming_detection import naming_in
from ...storage.stored_epochs import latest_stored_epoch
from ...wire.errors import Refused, WireError
from ...wire.records import read_records
from ...wire.stored.cluster import (
    ConfigRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
    read_record,
)
from ...wire.stored.topics import INTERNAL_TOPICS
from ..base.clock import Clock, SystemClock
from ..base.logger import log
from ..base.release import Release
from ..base.temporary import TemporaryDirectory
from ..partitions.partition import NO_LEADER
from .features import ELIGIBLE_LEADERS
from .image import TOPIC_RESOURCE, MetadataImage
from .log import QUORUM_STATE, TOPIC, TOPIC_ID, MetadataLog, is_malformed
from .topics import election, topic_records

if TYPE_CHECKING:
    from .image import MetadataImage, PartitionImage
    from .log import MetadataLog


T = TypeVar("T")

Found: TypeAlias = dict[tuple[str, bytes], dict[int, str]]
"""The topics on disk, by name and id: the numbers of their partitions, and the directories."""


def bring_back(
    path: str, names: Collection[str] | None, clock: Clock, *, dry_run: bool
) -> list[Finding]:
    """Enter the topics that the metadata log does not know, or only those of these names.

    Raises LogDirectoryError, Refused (KAFKA_STORAGE_ERROR), OSError.
    """
    directory = Directory(path)
    if not directory.exists(META_PROPERTIES):
        return []
    try:
        node_id = read_meta_properties(directory.read_bytes(META_PROPERTIES)).node_id
    except CheckpointError:
        return []
    naming = naming_in(directory)
    image, deleted = _known(directory, naming, node_id, clock)
    findings: list[Finding] = []
    records: list[MetadataRecord] = []
    taken = {topic.name for topic in image.topics.values()}
    for (name, topic_id), partitions in sorted(_topics_in(directory, naming).items()):
        known = image.topics.get(topic_id)
        if (known and known.name == name) or (names is not None and name not in names):
            continue
        problem = "of a topic that the metadata log does not know"
        if known is not None:
            problem, action = f"{problem}, with the id of {known.name}", "left alone"
        elif topic_id in deleted:
            problem, action = "of a topic that was deleted", "left alone"
        elif name in taken:
            problem, action = "of another topic of that name", "left alone"
        else:
            action = "entered again, without its configs"
            records += _records(directory, name, topic_id, partitions, node_id)
        is_left = action == "left alone"
        for index in sorted(partitions):
            finding = Finding(partitions[index], "", problem, action=action, is_left=is_left)
            findings.append(finding)
    bad_vote = _bad_vote(directory, naming) if names is None else []
    if (records or bad_vote) and not dry_run:
        log_dir = LogDirectory.open(path, node_id=node_id, naming=naming)
        try:
            metadata_log = MetadataLog.open(log_dir, clock)
            if records:
                metadata_log.append(records)
        finally:
            log_dir.close()
    return [*findings, *bad_vote]


def _bad_vote(directory: Directory, naming: Naming) -> list[Finding]:
    home = naming.directory(TOPIC, 0)
    if not is_malformed(directory.child(home)):
        return []
    problem = "it cannot be read: a real Kafka does not start"
    return [Finding(home, QUORUM_STATE, problem, action="written again")]


def known_topics(directory: Directory, naming: Naming, node_id: int) -> dict[str, bytes]:
    """The topics that a directory's metadata log knows, with their ids. Nothing is changed.

    Raises LogDirectoryError, Refused (KAFKA_STORAGE_ERROR), OSError.
    """
    image, _ = _known(directory, naming, node_id, SystemClock())
    return {topic.name: topic_id for topic_id, topic in image.topics.items()}


def known_configs(directory: Directory, naming: Naming, node_id: int) -> dict[str, dict[str, str]]:
    """The configs that each topic of a directory's metadata log sets itself. Nothing is changed.

    Raises LogDirectoryError, Refused (KAFKA_STORAGE_ERROR), OSError.
    """
    image, _ = _known(directory, naming, node_id, SystemClock())
    names = [topic.name for topic in image.topics.values()]
    return {name: dict(image.configs_of(TOPIC_RESOURCE, name)) for name in names}


def known_values(
    directory: Directory, naming: Naming, node_id: int, config: str
) -> dict[str, list[str]]:
    """The values that a config of each topic has had, one after the other, as far as a directory's
    metadata log tells. The last one is in force; "" where the topic does not set it itself.
    Nothing is changed.

    Raises LogDirectoryError, Refused (KAFKA_STORAGE_ERROR), OSError.
    """
    past: dict[str, list[str]] = {}
    with _copied(directory, naming, node_id, SystemClock()) as (log_dir, image):
        for each in _records_in(log_dir):
            if isinstance(each, TopicRecord):
                past[each.name] = []
            elif isinstance(each, ConfigRecord) and each.name == config:
                past.setdefault(each.resource_name, []).append(each.value or "")
    names = [topic.name for topic in image.topics.values()]
    now = {name: image.configs_of(TOPIC_RESOURCE, name).get(config, "") for name in names}
    return {name: [*past.get(name, []), value] for name, value in now.items()}


class KnownTopics:
    """The topics by a directory's metadata log; it is read at the first question."""

    def __init__(self, path: str) -> None:
        self._directory = Directory(path)

    def never_compacted(self, topic: str) -> bool:
        known = None if topic in (*INTERNAL_TOPICS, TOPIC) else self._policies.get(topic)
        return known is not None and not any("compact" in policy for policy in known)

    def topic_id(self, topic: str) -> bytes | None:
        """Its id; None if it is not known."""
        return TOPIC_ID if topic == TOPIC else self._ids.get(topic)

    @cached_property
    def _ids(self) -> dict[str, bytes]:
        return self._asked(known_topics) or {}

    @cached_property
    def _policies(self) -> dict[str, list[str]]:
        return self._asked(partial(known_values, config="cleanup.policy")) or {}

    def _asked(self, question: Callable[[Directory, Naming, int], T]) -> T | None:
        directory = self._directory
        try:
            node_id = read_meta_properties(directory.read_bytes(META_PROPERTIES)).node_id
            return question(directory, naming_in(directory), node_id)
        except (LogDirectoryError, Refused, WireError, CheckpointError, OSError):
            return None


def known_partitions(directory: Directory, naming: Naming, node_id: int) -> list[tuple[str, int]]:
    """The partitions of which a directory's metadata log says that this broker has a replica, also
    those without records, which may have no directory. Nothing is changed.

    Raises LogDirectoryError, Refused (KAFKA_STORAGE_ERROR), OSError.
    """
    image, _ = _known(directory, naming, node_id, SystemClock())
    return sorted(
        (topic.name, index)
        for topic in image.topics.values()
        for index, partition in topic.partitions.items()
        if node_id in partition.replicas
    )


def _topics_in(directory: Directory, naming: Naming) -> Found:
    found: Found = {}
    for name in directory.directories():
        key = naming.parse_directory(name)
        home = directory.child(name)
        if (
            key is None
            or renamed_suffix(name)
            or key[0] == TOPIC
            or not home.exists(PARTITION_METADATA)
        ):
            continue
        try:
            topic_id = read_partition_metadata(home.read_bytes(PARTITION_METADATA))
        except CheckpointError:
            continue
        found.setdefault((key[0], topic_id), {})[key[1]] = name
    return found


def _records(
    directory: Directory, name: str, topic_id: bytes, partitions: dict[int, str], node_id: int
) -> list[MetadataRecord]:
    records = topic_records(name, topic_id, {}, [[node_id]] * (max(partitions) + 1), able=[node_id])
    for record in records:
        if isinstance(record, PartitionRecord) and record.partition_id in partitions:
            home = directory.child(partitions[record.partition_id])
            record.leader_epoch = max(0, latest_stored_epoch(home))
    return records


def _known(
    directory: Directory, naming: Naming, node_id: int, clock: Clock
) -> tuple[MetadataImage, set[bytes]]:
    """The image of the metadata log, and the ids of topics that were deleted."""
    with _copied(directory, naming, node_id, clock) as (log_dir, image):
        records = _records_in(log_dir)
        return image, {each.topic_id for each in records if isinstance(each, RemoveTopicRecord)}


@contextmanager
def _copied(
    directory: Directory, naming: Naming, node_id: int, clock: Clock
) -> Iterator[tuple[LogDirectory, MetadataImage]]:
    """A copy of the metadata log, open, and what it says."""
    home = naming.directory(TOPIC, 0)
    with TemporaryDirectory() as copy:
        if directory.exists(home):
            shutil.copytree(Path(directory.path) / home, copy / home)
        log_dir = LogDirectory.open(copy, node_id=node_id, naming=naming)
        try:
            yield log_dir, MetadataLog.open(log_dir, clock).image
        finally:
            log_dir.close(clean=False)


def _records_in(log_dir: LogDirectory) -> Iterator[MetadataRecord]:
    """The records that the log still has; a snapshot stands for what was before."""
    stored = log_dir.logs[TOPIC, 0]
    for header, chunk, position in stored.reader.batches_from(stored.log_start_offset):
        if header.is_control:
            continue
        for record in read_records(chunk, position):
            try:
                message, _ = read_record(record.value or b"")
            except WireError:
                continue
            yield message


def resign(metadata_log: MetadataLog) -> bool:
    """Remove the leader of every partition: a clean stop. Return whether anything was written.

    A failure is only logged: closing the log directory meets the same disk, and raises.
    """
    changes = _resignations(metadata_log.image)
    try:
        metadata_log.append(changes)
    except Refused as error:
        log.info("the leaders could not resign: %s", error)
        return False
    return bool(changes)


def take_over(metadata_log: MetadataLog, able: Collection[int], release: Release) -> None:
    """Give leaders to all partitions: a start of these brokers.

    Raises Refused (KAFKA_STORAGE_ERROR).
    """
    if release.fences_at_start:
        metadata_log.append(_resignations(metadata_log.image))
    metadata_log.append(elections(metadata_log.image, able))


def elections(image: MetadataImage, able: Collection[int]) -> list[PartitionChangeRecord]:
    """The changes so that every partition is led by one of these brokers, where one has it."""
    return [
        change
        for topic in image.topics.values()
        for index, partition in topic.partitions.items()
        if (change := election(topic.topic_id, index, partition, able)) is not None
    ]


def _resignations(image: MetadataImage) -> list[PartitionChangeRecord]:
    with_eligible = image.features.get(ELIGIBLE_LEADERS, 0) > 0
    return [
        _resignation(topic.topic_id, index, partition, with_eligible)
        for topic in image.topics.values()
        for index, partition in topic.partitions.items()
        if partition.leader != NO_LEADER
    ]


def _resignation(
    topic_id: bytes, index: int, partition: PartitionImage, with_eligible: bool
) -> PartitionChangeRecord:
    if not with_eligible:
        return PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=NO_LEADER)
    return PartitionChangeRecord(
        partition_id=index,
        topic_id=topic_id,
        leader=NO_LEADER,
        isr=[],
        eligible_leader_replicas=partition.isr,
        last_known_elr=[partition.leader],
    )
