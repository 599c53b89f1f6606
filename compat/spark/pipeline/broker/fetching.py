"""Fetching batches as they are stored, from the leaders of their partitions.

Rules:
- An answer begins with the batch that holds the offset asked for, and may end with a batch that is
  cut: only whole ones are given on.
- Brokers that answer no whole batch at all (before 0.10.1: the batch is larger than was asked for)
  are asked for more.
- What a read_committed consumer leaves out comes beside the batches, not removed from them.

Source: the protocol guide; KIP-74, KIP-98.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from struct import Struct

from .....wire import Error
from .....wire.api.fetch import FetchRequest, FetchResponse
from .cluster import BrokerError, Cluster, Place, refuse
from .offsets import EARLIEST, LATEST, offsets

_BY_NAME_UP_TO = 12
_WAIT_MS = 500
PARTITION_BYTES = 8 << 20
_FETCH_BYTES = 48 << 20
_LARGEST_BYTES = 1 << 28
_READ_COMMITTED = 1

# Base offset, size after it, magic, and of magic 2 the last offset's distance.
_HEAD = Struct(">qi4xb")
_LAST_OFFSET_DELTA = Struct(">23xi")
_SIZE_COUNTS_FROM = 12
_MAGIC_2 = 2


class OffsetGone(BrokerError):
    """The offset is not in the log: retention or DeleteRecords took it, or it was never there."""

    def __init__(self, place: Place, offset: int, first: int, after: int) -> None:
        self.place, self.offset, self.first, self.after = place, offset, first, after
        super().__init__(
            f"{place[0]}-{place[1]} has no offset {offset}: it has {first} up to {after}"
        )


@dataclass(frozen=True, slots=True)
class Fetched:
    """Whole batches of one partition."""

    topic: str
    partition: int
    records: memoryview = field(repr=False)
    aborted: tuple[tuple[int, int], ...]
    """Producer id and first offset of each aborted transaction that may be in the records; empty
    unless asked for what is committed."""
    next_offset: int
    """Where the next fetch begins."""
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int

    @property
    def place(self) -> Place:
        return self.topic, self.partition


def fetch(
    cluster: Cluster,
    place: Place,
    start: int,
    end: int,
    *,
    committed: bool = True,
    partition_bytes: int = PARTITION_BYTES,
) -> Iterator[Fetched]:
    """The batches of a partition that hold offsets from `start` up to, and without, `end`.

    The first and the last batch may hold others, too. With `committed` the range must end at or
    before the last stable offset. Raises OffsetGone.
    """
    waiting_since = time.monotonic()
    position = start
    while position < end:
        (answered,) = fetch_round(
            cluster, {place: position}, committed=committed, partition_bytes=partition_bytes
        )
        if answered.records:
            yield answered
            waiting_since = time.monotonic()
            position = answered.next_offset
            continue
        stable = answered.last_stable_offset  # -1 from brokers before transactions
        readable = stable if committed and stable >= 0 else answered.high_watermark
        if readable >= end:
            return  # compaction removed what was there
        if time.monotonic() - waiting_since > cluster.patience:
            name = f"{place[0]}-{place[1]}"
            raise BrokerError(f"{name} can be read up to {readable}, and was asked for up to {end}")


def fetch_round(
    cluster: Cluster,
    positions: Mapping[Place, int],
    *,
    committed: bool = True,
    wait_ms: int = _WAIT_MS,
    partition_bytes: int = PARTITION_BYTES,
) -> list[Fetched]:
    """One Fetch of each leader: what is there from these offsets on, also where that is nothing."""

    def ask() -> list[Fetched]:
        found = []
        for node, places in cluster.by_leader(positions).items():
            wanted = {place: positions[place] for place in places}
            request = _request(wanted, committed, wait_ms, partition_bytes)
            answer: FetchResponse = cluster.brokers.ask(request, most=_BY_NAME_UP_TO, node=node)
            refuse(answer.error_code, "fetch")
            for topic in answer.responses:
                for part in topic.partitions:
                    place = (topic.topic, part.partition_index)
                    found.append(_fetched(cluster, place, positions[place], part))
        return found

    answered = cluster.repeated(ask, "fetch")
    is_cut = any(each.next_offset < 0 for each in answered)
    if is_cut and partition_bytes < _LARGEST_BYTES:
        return fetch_round(
            cluster,
            positions,
            committed=committed,
            wait_ms=wait_ms,
            partition_bytes=partition_bytes * 4,
        )
    return answered


def _request(
    positions: Mapping[Place, int], committed: bool, wait_ms: int, partition_bytes: int
) -> FetchRequest:
    topics: dict[str, FetchRequest.Topic] = {}
    for (name, index), offset in positions.items():
        topic = topics.setdefault(name, FetchRequest.Topic(topic=name, partitions=[]))
        topic.partitions.append(
            FetchRequest.Topic.Partition(
                partition=index, fetch_offset=offset, partition_max_bytes=partition_bytes
            )
        )
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1,
        max_bytes=max(_FETCH_BYTES, partition_bytes),
        isolation_level=_READ_COMMITTED if committed else 0,
        topics=list(topics.values()),
    )


def _fetched(
    cluster: Cluster, place: Place, position: int, part: FetchResponse.Topic.Partition
) -> Fetched:
    if part.error_code == Error.OFFSET_OUT_OF_RANGE:
        first, after = (offsets(cluster, [place], when)[place] for when in (EARLIEST, LATEST))
        raise OffsetGone(place, position, first, after)
    refuse(part.error_code, f"{place[0]}-{place[1]}")
    data = memoryview(part.records or b"")
    size, following = whole_batches(data)
    if data and not size:
        following = -1
    return Fetched(
        *place,
        data[:size],
        tuple((each.producer_id, each.first_offset) for each in part.aborted_transactions or ()),
        position if following is None else following,
        part.high_watermark,
        part.last_stable_offset,
        part.log_start_offset,
    )


def whole_batches(data: memoryview) -> tuple[int, int | None]:
    """How many bytes hold whole batches or messages, and the offset after the last of them."""
    at, following = 0, None
    while len(data) - at >= _HEAD.size:
        offset, size, magic = _HEAD.unpack_from(data, at)
        size += _SIZE_COUNTS_FROM
        if size < _HEAD.size:
            raise BrokerError(f"a broker answers a batch of {size} bytes at offset {offset}")
        if len(data) - at < size:
            break
        if magic >= _MAGIC_2:
            offset += _LAST_OFFSET_DELTA.unpack_from(data, at)[0]
        following = offset + 1
        at += size
    return at, following
