"""A data directory that a real Kafka and `odradek serve` open: made, or given further topics.

What a broker needs to know of topics is in its metadata log, and an emulator that is started on the
directory for a moment writes that as it always does. Segments are another's to write (writer.py):
each partition gets its directory with the topic's id in it, which says whose segments they are.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ....storage.checkpoints import (
    CLEAN_SHUTDOWN,
    META_PROPERTIES,
    PARTITION_METADATA,
    format_partition_metadata,
    read_meta_properties,
)
from ....storage.disk.directory import Directory
from ....storage.log_directory import LogDirectoryError
from ....storage.naming import naming_of
from ....wire.errors import Refused
from .listing import PlaceError

if TYPE_CHECKING:
    from ....emulator.cluster import Cluster

# Nothing is deleted or compacted while the directory is open for a moment.
_QUIET = {
    "log.cleaner.enable": "false",
    "log.retention.check.interval.ms": str(1 << 40),
    "log.initial.task.delay.ms": str(1 << 40),
}


def make_data_directory(
    path: str | os.PathLike[str],
    topics: Mapping[str, int],
    *,
    configs: Mapping[str, Mapping[str, str]] | None = None,
    node_id: int | None = None,
    naming: str = "kafka",
) -> dict[str, bytes]:
    """Make sure that a directory exists, and these topics in it; return the id of each topic.

    `topics`: name -> partitions; one that exists with fewer gets more. `configs`: of topics that
    are new. `node_id`: of the broker that will open it; that of the directory, or 1, by default.
    Raises PlaceError if the directory is in use or not one that can be opened, or if a topic cannot
    be created.
    """
    # Here, so that what reads segments, as each of Spark's workers does, loads no broker.
    from ....emulator.embedded.embedded import Embedded

    home = Path(path)
    is_new = not home.exists()
    if node_id is None:
        node_id = _node_id(home)
    try:
        settings = {**_QUIET, "node.id": str(node_id)}
        with Embedded(settings, data_dir=home, naming=naming) as emulator:
            ids = emulator.run(lambda cluster: _ensure(cluster, topics, configs or {}))
    except (LogDirectoryError, Refused, OSError, RuntimeError, ValueError) as error:
        if is_new:
            shutil.rmtree(home, ignore_errors=True)
        said = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise PlaceError(f"{home}: {said}") from error
    # The marker of a clean stop would keep a real Kafka from looking at segments that come.
    (home / CLEAN_SHUTDOWN).unlink(missing_ok=True)
    make_partitions(home, topics, ids, naming)
    return ids


def make_partitions(
    home: Path, topics: Mapping[str, int], ids: Mapping[str, bytes], naming: str = "kafka"
) -> None:
    """Give partitions their directories, with the id of their topic, as a real Kafka does when it
    creates a topic; our broker does so with the first record. Raises OSError."""
    names = naming_of(naming)
    for topic, partitions in topics.items():
        for partition in range(partitions):
            directory = Directory(home / names.directory(topic, partition))
            directory.make()
            if not directory.exists(PARTITION_METADATA):
                metadata = format_partition_metadata(ids[topic])
                directory.write_atomic(PARTITION_METADATA, metadata)


def _node_id(home: Path) -> int:
    path = home / META_PROPERTIES
    if not path.exists():
        return 1
    try:
        return read_meta_properties(path.read_bytes(), str(path)).node_id
    except ValueError as error:
        raise PlaceError(str(error)) from error


def _ensure(
    cluster: Cluster, topics: Mapping[str, int], configs: Mapping[str, Mapping[str, str]]
) -> dict[str, bytes]:
    ids = {}
    for name, partitions in topics.items():
        topic = cluster.topics.get(name)
        if topic is None:
            topic = cluster.create_topic(name, partitions, dict(configs.get(name, {})))
        elif len(topic.partitions) < partitions:
            cluster.topics.add_partitions(topic, partitions)
        ids[name] = topic.id
    return ids
