"""One share fetch: reading from several share partitions, and waiting while there is too little.

Rules (semantics N10-N14):
- A fetch is answered when enough bytes are there (`min_bytes`, counted from where each share
  partition reads next), when a partition fails, and when its time is up: then with what is there.
  Without anything that it could acquire it waits, too.
- The bytes of the request are divided evenly among the partitions that can be acquired from. The
  first batch is whole, however large. What is sent are the batches of the log that have acquired
  records; many of them are read when they are sent (storage/disk/in_flight.py), and only their
  headers before.
- Where the log begins later than the share partition, that moves on and has nothing this time.
Source: Kafka 4.3.1's answers (DelayedShareFetch, ShareFetchUtils).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...storage import StoredBytes
from ...storage.recovery.producer_replay import find_marker
from ...wire import Buffer, Error, Refused
from ...wire.batch import HEADER_SIZE, BatchHeader, read_header
from ...wire.frames import JOINED
from ..partitions.fetch_waits import place_of
from ..partitions.partition import READ_COMMITTED, Partition
from .acquired_records import (
    AbortedTransaction,
    AcquiredRecords,
    AcquireParams,
    acquire,
    without_aborted,
)
from .share_partition import RangeEvent, SharePartition
from .share_partition_manager import SharePartitionManager, TopicIdPartition
from .state import SharePartitionKey

if TYPE_CHECKING:
    from ..environment import Environment


class Limits(NamedTuple):
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    max_records: int


class Fetched(NamedTuple):
    error: Error = Error.NONE
    records: Buffer | StoredBytes = b""
    acquired: Sequence[AcquiredRecords] = ()


class _Batches(NamedTuple):
    """The bytes read from a log, and the headers of the whole batches in it."""

    data: Buffer | StoredBytes = b""
    headers: Sequence[BatchHeader] = ()


Finish = Callable[[Mapping[TopicIdPartition, Fetched]], None]


class DelayedShareFetch:
    """A fetch from `begin` on. `finish` is called once, in `begin` or later."""

    def __init__(
        self,
        environment: Environment,
        leader: SharePartitionManager,
        group_id: str,
        params: AcquireParams,
        limits: Limits,
        finish: Finish,
        *,
        reads_later: bool = False,
    ) -> None:
        """With `reads_later` nobody looks at the records on their way to the client."""
        self.isolation = leader.isolation(group_id)
        self.is_over = False
        self._environment = environment
        self._leader = leader
        self._group_id = group_id
        self._params = params
        self._limits = limits
        self._finish = finish
        self._reads_later = reads_later
        self._partitions: dict[TopicIdPartition, Partition] = {}
        self._shares: dict[TopicIdPartition, SharePartition] = {}
        self._failed: dict[TopicIdPartition, Fetched] = {}
        # Those whose state cannot be loaded, which a real broker hears of a moment later.
        self._not_loaded: dict[TopicIdPartition, Fetched] = {}
        self._looks = False

    def begin(
        self,
        partitions: Mapping[TopicIdPartition, Partition],
        fenced: Collection[TopicIdPartition] = frozenset(),
    ) -> None:
        """Answer, or wait. Of those that are fenced nothing is acquired: a real broker fetches from
        a share partition that is found to be out of date only then."""
        limits = self._limits
        if not partitions or not limits.max_records or not limits.max_bytes:
            self._end({})
            return
        self._partitions = dict(partitions)
        may_wait = False
        for part, partition in partitions.items():
            try:
                partition.check_read(self._leader.node_id)
            except Refused as refused:
                self._failed[part] = Fetched(refused.error)
                continue
            may_wait = True
            if part in fenced:
                continue
            try:
                key = SharePartitionKey(self._group_id, *part)
                self._shares[part] = self._leader.loaded(key, partition)
            except Refused as refused:
                self._not_loaded[part] = Fetched(refused.error)
        if not may_wait:
            self._end({})
        elif not self._try():
            if limits.max_wait_ms <= 0:  # what it releases itself does not count yet
                self._complete(self._next_offsets())
                return
            self._failed |= self._not_loaded
            self._timer = self._environment.after(limits.max_wait_ms, self._expire)
            for part, share in self._shares.items():
                share.waits.append(self)
                partitions[part].waits.append(self)

    # Waiting

    def more(self, size: int) -> None:
        self.try_again()

    def moved(self) -> None:
        self.try_again()

    def led(self, changed: Partition) -> None:
        self.try_again()

    def wake(self) -> None:
        self.try_again()

    def try_again(self) -> None:
        """Something has changed: look, after the request that has changed it."""
        if not self._looks and not self.is_over:
            self._looks = True
            self._environment.woken.append(self._look)

    def _look(self) -> None:
        self._looks = False
        if not self.is_over and self._try():
            self._stop()

    def _expire(self) -> None:
        if not self.is_over:
            self._stop()
            self._complete(self._next_offsets())

    def cancel(self) -> None:
        """Stop waiting without an answer."""
        self.is_over = True
        self._stop()

    def _stop(self) -> None:
        self._timer.cancel()
        for part, share in self._shares.items():
            if self in share.waits:
                share.waits.remove(self)
            waits = self._partitions[part].waits
            if self in waits:
                waits.remove(self)

    def _try(self) -> bool:
        """Answer if there is enough. Returns whether it is answered."""
        offsets = self._next_offsets()
        if not offsets or not self._has_enough(offsets):
            return False
        self._complete(offsets)
        return True

    def _next_offsets(self) -> dict[TopicIdPartition, int]:
        """From where on each share partition reads that could acquire anything."""
        return {
            part: share.next_offset()
            for part, share in self._shares.items()
            if not share.is_fenced and share.may_acquire
        }

    def _has_enough(self, offsets: Mapping[TopicIdPartition, int]) -> bool:
        size = 0
        node_id = self._leader.node_id
        for (part, offset), limit in zip(offsets.items(), self._divided(len(offsets)), strict=True):
            partition = self._partitions[part]
            if self._error(part, offset):
                return True
            upto = partition.upper_bound(self.isolation, node_id)
            if offset > upto:
                return True
            if offset < upto:
                begin, end = place_of(partition, offset), place_of(partition, upto)
                if begin is None or end is None or begin.segment < end.segment:
                    return True
                size += min(end.position - begin.position, limit)
        return size >= self._limits.min_bytes

    def _error(self, part: TopicIdPartition, offset: int) -> Error:
        partition = self._partitions[part]
        try:
            if partition.topic.is_deleted:
                return Error.UNKNOWN_TOPIC_OR_PARTITION
            partition.check_read(self._leader.node_id)
        except Refused as refused:
            return refused.error
        is_within = partition.log_start_offset <= offset <= partition.log_end_offset
        return Error.NONE if is_within else Error.OFFSET_OUT_OF_RANGE

    def _divided(self, count: int) -> list[int]:
        """How many bytes each of so many partitions may have."""
        total = self._limits.max_bytes
        each, rest = divmod(max(0, total), count)
        limits = [each] * count
        if not each:  # fewer bytes than partitions
            first = self._environment.random.randrange(count)
            for index in range(first, first + rest):
                limits[index % count] += 1
        elif rest:
            limits[self._environment.random.randrange(count)] += rest
        return limits

    # Answering

    def _complete(self, offsets: Mapping[TopicIdPartition, int]) -> None:
        if not offsets:
            self._end({})
            return
        if self._limits.max_bytes < 0:
            self._end(dict.fromkeys(offsets, Fetched(Error.UNKNOWN_SERVER_ERROR)))
            return
        left, has_any = self._limits.max_bytes, False
        room = self._limits.max_records
        found: dict[TopicIdPartition, Fetched] = {}
        read: dict[TopicIdPartition, _Batches | Error] = {}
        for (part, offset), limit in zip(offsets.items(), self._divided(len(offsets)), strict=True):
            data = self._read(part, offset, min(limit, left), whole_first=not has_any)
            if not isinstance(data, Error):
                has_any = has_any or len(data.data) > 0
                left = max(0, left - len(data.data))
            read[part] = data
        for part, data in read.items():
            if isinstance(data, Error):
                found[part] = self._failure(part, data)
                continue
            acquired = self._acquire(part, offsets[part], data, room)
            room -= sum(each.size for each in acquired)
            found[part] = Fetched(Error.NONE, _sent(data, acquired), acquired)
        self._end(found)
        for part, each in found.items():
            if each.acquired:
                self._shares[part].wake()

    def _read(
        self, part: TopicIdPartition, offset: int, limit: int, *, whole_first: bool
    ) -> _Batches | Error:
        error = self._error(part, offset)
        if error:
            return error
        partition = self._partitions[part]
        upto = partition.upper_bound(self.isolation, self._leader.node_id)
        whole_first = whole_first and offset < upto
        if offset >= upto or (limit <= 0 and not whole_first):
            return _Batches()
        try:
            later = self._reads_later
            read = partition.read(offset, limit, upto, whole_first, later=later)
            data = read if isinstance(read, StoredBytes) else bytes(read)
            return _Batches(data, _headers(data))
        except Refused as refused:
            return refused.error
        except OSError:
            return Error.KAFKA_STORAGE_ERROR

    def _failure(self, part: TopicIdPartition, error: Error) -> Fetched:
        if error is not Error.OFFSET_OUT_OF_RANGE:
            return Fetched(error)
        self._shares[part].log_starts_at(self._partitions[part].log_start_offset)
        return Fetched()

    def _acquire(
        self, part: TopicIdPartition, offset: int, data: _Batches, room: int
    ) -> Sequence[AcquiredRecords]:
        acquired = self._acquired(part, offset, data, room)
        member_id = self._params.member_id
        for first, last, delivery in acquired:
            self._shares[part].tell(RangeEvent("took", member_id, first, last, delivery))
        return acquired

    def _acquired(
        self, part: TopicIdPartition, offset: int, read: _Batches, room: int
    ) -> Sequence[AcquiredRecords]:
        share, (data, headers) = self._shares[part], read
        acquired = acquire(share, self._params, room, offset, headers)
        if not acquired or self.isolation != READ_COMMITTED:
            return acquired
        reader = self._partitions[part].log.reader
        aborted = [
            AbortedTransaction(each.first_offset, each.producer_id)
            for each in reader.aborted_transactions(offset, len(data))
        ]
        if not aborted:
            return acquired
        return without_aborted(share, acquired, headers, aborted, _aborts(data, headers))

    def _end(self, found: Mapping[TopicIdPartition, Fetched]) -> None:
        self.is_over = True
        self._finish({**found, **self._failed})


def _headers(data: Buffer | StoredBytes) -> list[BatchHeader]:
    """Those of the whole batches that were read. Raises OSError."""
    found: list[BatchHeader] = []
    at = 0
    while len(data) - at >= HEADER_SIZE:
        header = read_header(_bytes(data, at, HEADER_SIZE))
        at += header.size
        if at > len(data):
            break
        found.append(header)
    return found


def _bytes(data: Buffer | StoredBytes, at: int, size: int) -> Buffer:
    """So many of what was read. Raises OSError."""
    if not isinstance(data, StoredBytes):
        return memoryview(data)[at : at + size]
    found = bytes(data.read(at, size))
    while len(found) < size:
        found += bytes(data.read(at + len(found), size - len(found)))
    return found


def _aborts(data: Buffer | StoredBytes, headers: Sequence[BatchHeader]) -> frozenset[int]:
    """The base offsets of markers that end aborted transactions."""
    found, at = [], 0
    for header in headers:
        if header.is_control:
            marker = find_marker(_bytes(data, at, header.size), header)
            if marker is not None and not marker.commit:
                found.append(header.base_offset)
        at += header.size
    return frozenset(found)


def _sent(read: _Batches, acquired: Sequence[AcquiredRecords]) -> Buffer | StoredBytes:
    """The batches of those that were read from the first acquired record to the last."""
    if not acquired:
        return b""
    data, headers = read
    if len(headers) == 1:
        return data
    first, last = acquired[0].first_offset, acquired[-1].last_offset
    start = end = at = 0
    for header in headers:
        if header.base_offset <= first:
            start = at
        if header.base_offset <= max(first, last):
            end = at + header.size
        at += header.size
    if isinstance(data, StoredBytes) and end - start > JOINED:
        return data.part(start, end)
    return _bytes(data, start, end - start)  # a short answer is joined, in memory
