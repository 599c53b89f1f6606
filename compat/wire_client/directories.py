"""The records of a data directory that a broker has left, a real Kafka's too.

The directory stays as it is: a copy is opened, as a broker opens its own after a crash, and read.
Indexes are not copied, but built anew: a real Kafka preallocates megabytes for each.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...emulator.base.node import Node
from ...emulator.base.temporary import TemporaryDirectory
from ...emulator.cluster import Cluster
from ...emulator.config.configs import BrokerConfig
from ...emulator.partitions.partition import Topic
from ...storage.checkpoints import META_PROPERTIES, CheckpointError, read_meta_properties
from .inside import Inside
from .produced import NewRecord, TopicSeeds
from .reading import READ_COMMITTED
from .record import Raw
from .span import Span

_NOT_COPIED = ("*.index", "*.timeindex", ".lock", ".kafka_cleanshutdown")


def read_directory(path: Path) -> dict[str, TopicSeeds]:
    """The committed records of each topic, with its configs; internal topics are left out. Raises
    ValueError for a directory that is no broker's; LogDirectoryError."""
    try:
        node_id = read_meta_properties((path / META_PROPERTIES).read_bytes()).node_id
    except (FileNotFoundError, CheckpointError) as error:
        raise ValueError(f"{path} is not the data directory of a broker: {error}") from None
    with _opened(path, node_id) as cluster:
        source = Inside(lambda action: action(cluster), _no_server)
        return {
            topic.name: TopicSeeds(
                _records(source, topic),
                len(topic.partitions),
                topic.config.overrides,
            )
            for topic in cluster.topics
            if not topic.is_internal
        }


@contextmanager
def _opened(path: Path, node_id: int) -> Iterator[Cluster]:
    with TemporaryDirectory() as place:
        copy = place / "data"
        shutil.copytree(path, copy, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        cluster = Cluster(BrokerConfig({}), data_dir=copy, brokers=[Node(node_id, "", 0)])
        try:
            yield cluster
        finally:
            cluster.close()


def _records(source: Inside, topic: Topic) -> list[NewRecord]:
    indexes = list(range(len(topic.partitions)))
    span = Span(source, topic.name, lambda: indexes)
    return [_again(record) for record in span.records(READ_COMMITTED)]


def _again(record: Raw) -> NewRecord:
    headers = tuple(record.headers)
    return NewRecord(record.value, record.key, headers, record.timestamp, record.partition)


def _no_server() -> Any:
    raise RuntimeError("a directory has no clients")
