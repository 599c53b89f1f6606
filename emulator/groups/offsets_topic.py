"""`__consumer_offsets` of a cluster: records are appended to it, and replayed from it.

A coordinator's memory holds nothing that the log does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING

from ...storage.recovery.producer_replay import find_marker
from ...wire import Error, Refused, WireError
from ...wire.batch import read_header
from ...wire.legacy.as_batches import read_logged
from ...wire.records import Record as LoggedRecord
from ...wire.records import build_batch
from ..base.java_order import partition_for
from ..base.logger import log
from ..config.internal_topics import CONSUMER_OFFSETS
from .offsets.records import OffsetRecord
from .records import LogEntry, Record, Replayed, TransactionEnd, encode
from .runtime import Producer
from .settings import GroupSettings

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Topic


class ClusterOffsetsTopic:
    """`__consumer_offsets` of a cluster, as `Coordinator` uses it."""

    name = CONSUMER_OFFSETS

    def __init__(self, cluster: Cluster, settings: GroupSettings) -> None:
        self._cluster = cluster
        self._settings = settings

    def append(
        self, group_id: str, records: Sequence[Record], producer: Producer | None = None, /
    ) -> None:
        """Write records to the partition that keeps the group. Raises Refused."""
        topic = self._topic()
        partition = topic.partitions[partition_for(group_id, self._settings.partitions)]
        partition.check_in_sync()
        now = self._cluster.clock.now()
        # Kafka's coordinators write with sequence 0 and no producer id; old ones only offsets.
        numbers_all = self._settings.numbers_group_records
        has_sequence = numbers_all or isinstance(records[0], OffsetRecord)
        batch = build_batch(
            [encode(record, now) for record in records],
            base_sequence=0 if has_sequence else -1,
            producer_id=-1 if producer is None else producer.producer_id,
            producer_epoch=-1 if producer is None else producer.epoch,
            transactional=producer is not None,
        )
        if len(batch) > topic.config.max_message_bytes:
            raise Refused(Error.MESSAGE_TOO_LARGE)
        partition.append(batch, read_header(batch), now)

    def entries(
        self,
        partition: int,
        decode: Callable[[LoggedRecord], Record | None],
        upto: float = inf,
    ) -> Iterator[LogEntry]:
        """What a partition's log holds below an offset, in order. A record that cannot be decoded
        is named in the broker's log and skipped; a real broker would not load the partition."""
        stored = self._topic().partitions[partition].log
        for header, chunk, pos in stored.reader.batches_from(stored.log_start_offset):
            if header.base_offset >= upto:
                return
            if header.is_control:
                marker = find_marker(memoryview(chunk)[pos:], header)
                if marker is not None:  # else compaction removed it, and its offsets before it
                    yield TransactionEnd(header.producer_id, marker.commit)
                continue
            producer_id = header.producer_id if header.is_transactional else None
            for record in read_logged(chunk, pos):
                try:
                    decoded = decode(record)
                except WireError as error:
                    name = f"{self.name}-{partition}"
                    log.error("%s: record %d skipped: %s", name, record.offset, error)
                    continue
                if decoded is not None:
                    yield Replayed(decoded, producer_id)

    def _topic(self) -> Topic:
        topic = self._cluster.topics.get(self.name)
        if topic is None:
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
        return topic
