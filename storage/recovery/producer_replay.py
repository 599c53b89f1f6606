"""Restoring the producers of a partition: the newest usable snapshot, then the batches after it.

A snapshot `<offset>.snapshot` is the state before that offset. Kafka takes one at each roll (so
there is one at every later segment's base), at a clean stop and after a recovery (at the log end);
of those at no segment's base only the newest is kept. A damaged one is removed, and an older one is
used with more batches after it; without any, all batches are read. (A real broker starts with no
producers in that case after a clean stop, and shows open transactions as committed.)

Source: KIP-98; directories of Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...wire.batch import CONTROL, BatchHeader
from ...wire.errors import WireError
from ...wire.primitives import Buffer
from ...wire.records import Marker, read_marker
from ..config import NEVER
from ..index import TransactionIndex
from ..naming import SNAPSHOT
from ..partition_directory import PartitionDirectory
from ..producers import AbortedTransaction, ProducerStates, SnapshotError
from ..segment import Segment, containing


def restore_producers(
    home: PartitionDirectory,
    segments: list[Segment],
    producers: ProducerStates,
    notices: list[str],
    *,
    unindexed: Collection[Segment] = (),
    without_producers: Collection[int] = (),
) -> None:
    """Restore `producers` as of the end of `segments`, of which there is at least one.

    The transaction indexes of `unindexed` segments (oldest first) are rebuilt meanwhile, starting
    from a snapshot at or before the first one's base. Segments whose bases are in
    `without_producers` are not read. Snapshots above the log end are removed. Raises OSError.
    """
    limit = log_end = segments[-1].next_offset
    for segment in unindexed:
        limit = min(limit, segment.base_offset)
        segment.transaction_index = TransactionIndex()
    start = _load_snapshot(home, producers, notices, limit, log_end)
    for segment in segments[containing(segments, start) :]:
        if segment.base_offset in without_producers:
            continue
        for position, header in readable_headers(segment, notices, start):
            aborted = _replayed(segment, position, header, producers)
            if aborted is not None and segment in unindexed:
                segment.transaction_index.append(aborted)


def readable_headers(
    segment: Segment, notices: list[str], offset: int = 0
) -> Iterator[tuple[int, BatchHeader]]:
    """Position and header of each batch from the one that contains `offset` on, up to damage.

    Raises OSError.
    """
    segment.verify()
    try:
        yield from segment.headers(offset)
    except WireError as error:
        notices.append(f"{segment.name}: {error}; the batches after it were not read")


def find_marker(batch: Buffer, header: BatchHeader) -> Marker | None:
    """The marker in a producer's control batch; None if compaction removed it, or it is none."""
    if header.count == 0:
        return None
    try:
        return read_marker(batch)
    except WireError:
        return None


def end_transaction(
    producers: ProducerStates, header: BatchHeader, marker: Marker
) -> AbortedTransaction | None:
    """End a producer's transaction; return the entry for the transaction index."""
    return producers.end_transaction(
        header, commit=marker.commit, coordinator_epoch=marker.coordinator_epoch
    )


def find_aborted(
    home: PartitionDirectory, segments: list[Segment], segment: Segment, notices: list[str]
) -> TransactionIndex:
    """The transaction index of one of `segments`, built from the batches. Raises OSError."""
    producers = ProducerStates()
    aborted = TransactionIndex()
    # A check must change nothing, and its caller goes through the snapshots itself.
    start = _load_snapshot(home, producers, [], segment.base_offset, NEVER, removes=False)
    last = segments.index(segment)
    for each in segments[containing(segments, start) : last + 1]:
        try:
            for position, header in each.headers(start):
                entry = _replayed(each, position, header, producers)
                if entry is not None and each is segment:
                    aborted.append(entry)
        except WireError as error:
            notices.append(f"{each.name}: {error}; the batches after it were not read")
    return aborted


def _replayed(
    segment: Segment, position: int, header: BatchHeader, producers: ProducerStates
) -> AbortedTransaction | None:
    """Apply a batch; return the entry for the transaction index."""
    if header.producer_id < 0:
        return None
    if not header.attributes & CONTROL:
        producers.update(header)
        return None
    marker = find_marker(segment.file.read(position, header.size), header)
    return None if marker is None else end_transaction(producers, header, marker)


def _load_snapshot(
    home: PartitionDirectory,
    producers: ProducerStates,
    notices: list[str],
    limit: int,
    log_end: int,
    *,
    removes: bool = True,
) -> int:
    """Load the newest complete snapshot up to `limit`; return its offset, or 0. Damaged ones, and
    those above `log_end`, are removed."""
    producers.clear()
    for offset in reversed(home.find_snapshots()):
        name = home.naming.file(offset, SNAPSHOT)
        if offset > log_end:
            if removes:
                home.drop_snapshot(offset)
        elif offset <= limit:
            try:
                producers.load(home.files.read_bytes(name))
            except SnapshotError as error:
                if removes:
                    home.drop_snapshot(offset)
                    notices.append(f"{name}: {error}; removed; read from the batches")
            else:
                return offset
    return 0
