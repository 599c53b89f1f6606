"""A data directory as a whole: what stands beside its partitions.

Checkpoints that do not parse, partitions that are lost or of no topic, directories that are none,
what a broker would trip over at its next start. The cluster's metadata log is read from a copy.
What is left of deleted partitions, of copies between disks and of interrupted loads is named.

Left out: several log directories of one broker (each is audited by itself).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .....emulator.metadata.topic_repair import known_topics
from .....storage import LogDirectoryError
from .....storage.checkpoints import (
    CLEAN_SHUTDOWN,
    CLEANED_OFFSETS,
    HIGH_WATERMARKS,
    LOCK,
    LOG_STARTS,
    META_PROPERTIES,
    PARTITION_METADATA,
    RECOVERY_POINTS,
    CheckpointError,
    read_clean_shutdown,
    read_meta_properties,
    read_offsets,
    read_partition_metadata,
)
from .....storage.disk.directory import Directory
from .....storage.naming import CLUSTER_METADATA, DELETE, Naming, is_future, renamed_suffix
from .....storage.naming_detection import naming_in
from .....wire.errors import Refused, WireError
from .....wire.primitives import id_text
from .findings import Findings
from .partition_check import PartitionFacts

TopicPartition = tuple[str, int]

_CHECKPOINTS = (RECOVERY_POINTS, LOG_STARTS, HIGH_WATERMARKS, CLEANED_OFFSETS)
_BOOTSTRAP = "bootstrap.checkpoint"
_QUORUM_STATE = "quorum-state"
_ID = re.compile(r"[\w-]{21}[AQgw]")
_OWN_FILES = (*_CHECKPOINTS, META_PROPERTIES, CLEAN_SHUTDOWN, LOCK, _BOOTSTRAP)


@dataclass
class DirectoryFacts:
    path: str
    naming: Naming
    is_whole: bool
    """Whether it is a broker's whole directory: it has `meta.properties` or a checkpoint."""
    was_killed: bool
    """Whether its broker was not stopped cleanly, or still runs."""
    is_in_use: bool = False
    """Whether a broker has it open."""
    cluster_id: str | None = None
    """Which cluster it should be of; None for any."""
    offsets: dict[str, dict[TopicPartition, int]] = field(default_factory=dict)
    """By checkpoint file."""

    def of(self, key: TopicPartition) -> PartitionFacts:
        return PartitionFacts(
            recovery_point=self.offsets.get(RECOVERY_POINTS, {}).get(key),
            log_start=self.offsets.get(LOG_STARTS, {}).get(key),
            high_watermark=self.offsets.get(HIGH_WATERMARKS, {}).get(key),
            was_cleaned=self.cleaned_to(key) > 0,
            was_killed=self.was_killed,
            is_in_use=self.is_in_use,
            knows_checkpoints=self.is_whole,
            is_internal_log=key[0] == CLUSTER_METADATA,
        )

    def cleaned_to(self, key: TopicPartition) -> int:
        """Where the last compaction of a partition ended, or 0."""
        return self.offsets.get(CLEANED_OFFSETS, {}).get(key, 0)


def read_directory(path: str, findings: Findings) -> DirectoryFacts:
    """Read the checkpoints of a data directory, and tell of those that are malformed.

    Raises OSError.
    """
    directory = Directory(path)
    names = directory.names()
    is_whole = META_PROPERTIES in names or any(name in names for name in _CHECKPOINTS)
    was_killed = is_whole and CLEAN_SHUTDOWN not in names
    in_use = directory.is_locked(LOCK)
    facts = DirectoryFacts(path, naming_in(directory), is_whole, was_killed or in_use, in_use)
    for name in _CHECKPOINTS:
        if name not in names:
            continue
        try:
            facts.offsets[name] = read_offsets(directory.read_bytes(name), name)
        except CheckpointError as error:
            findings.damage(f"malformed: line {error.line}: {error.problem}", file=name)
    return facts


def check_directory(facts: DirectoryFacts, findings: Findings) -> None:
    """Tell what is wrong beside the partitions. Raises OSError."""
    directory = Directory(facts.path)
    names = set(directory.names())
    _check_properties(directory, names, findings, facts.cluster_id)
    partitions = _check_directories(directory, facts.naming, findings)
    _check_lost(facts, partitions, findings)
    _check_files(directory, names, facts, findings)
    if (CLUSTER_METADATA, 0) in partitions and META_PROPERTIES in names:
        home = directory.child(partitions[CLUSTER_METADATA, 0])
        _check_quorum(home, findings)
        _check_topics(directory, facts, partitions, findings)


def _check_properties(
    directory: Directory, names: set[str], findings: Findings, wanted: str | None
) -> None:
    if META_PROPERTIES not in names:
        findings.damage("missing", file=META_PROPERTIES)
        return
    try:
        found = read_meta_properties(directory.read_bytes(META_PROPERTIES)).cluster_id
        if wanted is not None and found != wanted:
            what = f"cluster id {found}, not {wanted}"
            findings.damage(what, file=META_PROPERTIES)
        elif not _ID.fullmatch(found):
            what = f"cluster id {found} is none that Kafka makes: 22 characters of base64"
            findings.remark(what, file=META_PROPERTIES)
    except CheckpointError as error:
        findings.damage(f"malformed: {error.problem}", file=META_PROPERTIES)


def _check_directories(
    directory: Directory, naming: Naming, findings: Findings
) -> dict[TopicPartition, str]:
    found = {}
    for name in sorted(directory.directories()):
        key = naming.parse_directory(name)
        if renamed_suffix(name) or is_future(name):
            findings.remark(_left_over(directory.child(name), name), file=name)
        elif key is None:
            findings.damage("no partition's directory: Kafka does not start with it", file=name)
        else:
            found[key] = name
    return found


def _left_over(home: Directory, name: str) -> str:
    """The reason of a renamed directory. Segments that are staged are one directory further
    down."""
    is_staged, is_deleted = bool(home.directories()), renamed_suffix(name) == DELETE
    if is_future(name):
        return "a replica that was being copied from another disk"
    if is_staged and is_deleted:
        return "what an interrupted load has staged: the next start removes it"
    if is_staged:
        return "what a sink's interrupted commit has staged: the next commit ends that"
    if is_deleted:
        return "a deleted partition: the next start removes it"
    return "a partition whose topic was unknown at a start"


def _check_lost(
    facts: DirectoryFacts, partitions: Mapping[TopicPartition, str], findings: Findings
) -> None:
    """Partitions that a checkpoint names, and that have no directory."""
    ends: dict[TopicPartition, int] = {}
    for name in (RECOVERY_POINTS, HIGH_WATERMARKS):
        for key, offset in facts.offsets.get(name, {}).items():
            ends[key] = max(offset, ends.get(key, 0))
    for key, end in sorted(ends.items()):
        name = facts.naming.directory(*key)
        if key in partitions or end <= 0:
            continue
        if facts.is_in_use:  # checkpoints are written once a minute
            findings.remark("the partition is missing, or was just deleted", file=name, offset=0)
        else:
            findings.damage("the partition is missing", file=name, offset=0, next_offset=end)


def _check_files(
    directory: Directory, names: set[str], facts: DirectoryFacts, findings: Findings
) -> None:
    files = directory.files()
    if facts.is_whole:
        for name in (RECOVERY_POINTS, LOG_STARTS, HIGH_WATERMARKS):
            if name in names:
                continue
            what = "not there yet: it is written once a minute" if facts.is_in_use else "missing"
            findings.remark(what, file=name)
    if (
        CLEAN_SHUTDOWN in files
        and read_clean_shutdown(directory.read_bytes(CLEAN_SHUTDOWN)) is None
    ):
        findings.remark("it has no broker epoch, and counts all the same", file=CLEAN_SHUTDOWN)
    for name in sorted(files):
        if name not in _OWN_FILES:
            findings.remark("a file that no broker knows", file=name)


def _check_quorum(home: Directory, findings: Findings) -> None:
    where = f"{CLUSTER_METADATA}-0/{_QUORUM_STATE}"
    if _QUORUM_STATE not in home.names():
        findings.remark("missing: the next start makes it, the vote is lost", file=where)
        return
    try:
        state = json.loads(home.read_bytes(_QUORUM_STATE))
        if not isinstance(state, dict) or type(state.get("leaderEpoch")) is not int:
            raise ValueError("it has no leaderEpoch")
    except (ValueError, RecursionError) as error:
        findings.damage(f"malformed: {error}", file=where)


def _check_topics(
    directory: Directory,
    facts: DirectoryFacts,
    partitions: Mapping[TopicPartition, str],
    findings: Findings,
) -> None:
    try:
        ids = _topics_of_cluster(directory, facts.naming)
    except (LogDirectoryError, Refused, WireError, CheckpointError) as error:
        findings.damage(f"the metadata log cannot be read: {error}", file=f"{CLUSTER_METADATA}-0")
        return
    for key, name in sorted(partitions.items()):
        if key[0] == CLUSTER_METADATA:
            continue
        stored = _stored_id(directory.child(name))
        if key[0] not in ids:
            findings.damage("of a topic that the metadata log does not know", file=name)
        elif stored is not None and stored != ids[key[0]]:
            what = f"of another topic: id {id_text(stored)}, the metadata log's {key[0]} has "
            findings.damage(what + id_text(ids[key[0]]), file=f"{name}/{PARTITION_METADATA}")


def _topics_of_cluster(directory: Directory, naming: Naming) -> dict[str, bytes]:
    properties = read_meta_properties(directory.read_bytes(META_PROPERTIES))
    return known_topics(directory, naming, properties.node_id)


def _stored_id(home: Directory) -> bytes | None:
    try:
        return read_partition_metadata(home.read_bytes(PARTITION_METADATA))
    except (CheckpointError, OSError):
        return None
