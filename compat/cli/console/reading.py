"""Fetching a topic's records from its leaders, up to the end at the start, or without end.

Rules:
- A fetch begins at the batch that contains the offset, so earlier records are skipped; a batch that
  is cut at the end is fetched again.
- With `committed`, records of aborted transactions are left out as consumers do it, by the list in
  the answer, and the end is the start of the first open transaction.
- Markers are left out.
- An answer without any records means that there are none up to the end: compaction removed them.
  One that has some may have left out others, because of its size.
- Records that are deleted meanwhile are skipped.
- A reader that follows learns of new partitions, and reads them from their beginning.

Source: the protocol guide; KIP-98, "Reading committed messages".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from time import monotonic

from ....wire import Error, WireError
from ....wire.api.fetch import FetchRequest, FetchResponse
from ....wire.api.metadata import MetadataResponse
from ....wire.legacy.as_batches import logged_batches, read_logged
from ....wire.records import Record, read_marker
from .client import Brokers, ConsoleError, check
from .offsets import EARLIEST, LATEST, READ_COMMITTED, look_up

_BY_NAME_UP_TO = 12
_WAIT_MS = 500
_PARTITION_BYTES = 1 << 20
_FETCH_BYTES = 16 << 20
_METADATA_EVERY_S = 3.0
_MOVED = (Error.NOT_LEADER_OR_FOLLOWER, Error.FENCED_LEADER_EPOCH, Error.LEADER_NOT_AVAILABLE)

Answered = FetchResponse.Topic.Partition


class Reader:
    """Iterate over it: (partition, record), in order within a partition.

    A record counts as done when the next one is asked for. `done` is how far each partition is.
    `between` is called between requests. With `grows`, partitions that are new are read, too.
    """

    def __init__(
        self,
        brokers: Brokers,
        topic: MetadataResponse.Topic,
        starts: Mapping[tuple[str, int], int],
        *,
        committed: bool,
        follow: bool,
        ends: Mapping[int, int] | None = None,
        grows: bool = True,
        between: Callable[[], None] = lambda: None,
    ) -> None:
        """`ends`: where to stop, by partition; where it is not given, at the present end."""
        self.done: dict[int, int] = {}
        self._grows = grows and follow
        self._between = between
        self._looked_at = monotonic()
        self.brokers = brokers
        self.topic = topic
        self._name = topic.name or ""
        self._next = {index: offset for (_, index), offset in starts.items()}
        self._committed = committed
        self._ends: dict[int, int] | None = None
        if not follow:
            found = look_up(brokers, [topic], LATEST, committed=committed)
            self._ends = {index: offset for (_, index), offset in found.items()} | dict(ends or {})

    def __iter__(self) -> Iterator[tuple[int, Record]]:
        while open_partitions := self._open():
            self._between()
            self._look_for_more()
            for node, indexes in self._by_leader(open_partitions).items():
                answer: FetchResponse = self.brokers.ask(
                    self._request(indexes), most=_BY_NAME_UP_TO, node=node
                )
                check(answer.error_code, f"topic {self._name}")
                parts = [part for topic in answer.responses for part in topic.partitions]
                for part in parts:
                    yield from self._take(part)
                if not any(part.records for part in parts):
                    self._end(part.partition_index for part in parts if not part.error_code)

    @property
    def is_empty(self) -> bool:
        return not self._open()

    def _look_for_more(self) -> None:
        if not self._grows or monotonic() - self._looked_at < _METADATA_EVERY_S:
            return
        self._looked_at = monotonic()
        self.topic = self.brokers.topic(self._name)
        for part in self.topic.partitions:
            self._next.setdefault(part.partition_index, 0)

    def _end(self, indexes: Iterable[int]) -> None:
        """Nothing is left to read in these partitions, unless the reader follows them."""
        if self._ends is not None:
            self._next |= {index: self._ends[index] for index in indexes}
            self.done |= {index: self._next[index] for index in indexes}

    def _open(self) -> list[int]:
        if self._ends is None:
            return list(self._next)
        return [index for index, offset in self._next.items() if offset < self._ends[index]]

    def _by_leader(self, indexes: list[int]) -> dict[int, list[int]]:
        leaders = {part.partition_index: part.leader_id for part in self.topic.partitions}
        nodes: dict[int, list[int]] = {}
        for index in indexes:
            nodes.setdefault(leaders[index], []).append(index)
        return nodes

    def _request(self, indexes: list[int]) -> FetchRequest:
        partitions = [
            FetchRequest.Topic.Partition(
                partition=index,
                fetch_offset=self._next[index],
                partition_max_bytes=_PARTITION_BYTES,
            )
            for index in indexes
        ]
        return FetchRequest(
            max_wait_ms=min(_WAIT_MS, int(self.brokers.timeout * 1000 / 2)),
            min_bytes=1,
            max_bytes=_FETCH_BYTES,
            isolation_level=READ_COMMITTED if self._committed else 0,
            topics=[FetchRequest.Topic(topic=self._name, partitions=partitions)],
        )

    def _take(self, part: Answered) -> Iterator[tuple[int, Record]]:
        index = part.partition_index
        if part.error_code in _MOVED:
            self.topic = self.brokers.topic(self._name)
            return
        before = self._next[index]
        if part.error_code == Error.OFFSET_OUT_OF_RANGE:
            first = look_up(self.brokers, [self.topic], EARLIEST).get((self._name, index), -1)
            if first > before:
                self._next[index] = first
                return
        check(part.error_code, f"{self._name}-{index}")
        try:
            for record in self._records(part):
                # The position moves first: the caller may stop at any record.
                if record.offset < before:
                    continue
                if self._ends is not None and record.offset >= self._ends[index]:
                    self._next[index] = self._ends[index]
                    return
                yield index, record
                self.done[index] = record.offset + 1
            self.done[index] = max(self._next[index], before)
        except WireError as error:
            raise ConsoleError(
                f"{self._name}-{index}: what follows offset {before} cannot be read: {error}"
            ) from None

    def _records(self, part: Answered) -> Iterator[Record]:
        data = part.records or b""
        aborted = sorted((a.first_offset, a.producer_id) for a in part.aborted_transactions or [])
        open_aborts: set[int] = set()
        for pos, header in logged_batches(data):
            while aborted and aborted[0][0] <= header.last_offset:
                open_aborts.add(aborted.pop(0)[1])
            self._next[part.partition_index] = header.last_offset + 1
            if header.is_control:
                if header.count and not read_marker(data, pos).commit:
                    open_aborts.discard(header.producer_id)
                continue
            if self._committed and header.is_transactional and header.producer_id in open_aborts:
                continue
            yield from read_logged(data, pos)
