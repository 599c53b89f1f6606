"""Fetched records, as batches that a producer may send: at their offsets, without holes.

A batch is passed on as its bytes, where these say everything: magic 2, an offset for each of its
records, their own times. Others are read and built again: what compaction has made holes in, what
has its times from the broker (LogAppendTime), messages of the old formats, and a batch of which
only the end is wanted. Markers are left out, and with `committed` records of aborted transactions:
they leave gaps between the offsets of what is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .....wire import WireError
from .....wire.batch import LOG_APPEND_TIME, MAGIC, BatchHeader
from .....wire.compression import Codec
from .....wire.legacy.as_batches import logged_batches, read_logged
from .....wire.records import NewRecord, Record, build_batch, read_marker
from ..broker import Fetched, Place
from ..errors import PipelineError


@dataclass(frozen=True, slots=True)
class Piece:
    """A batch of magic 2 whose records have the offsets from `offset` on, one after the other."""

    offset: int
    count: int
    batch: bytearray = field(repr=False)

    @property
    def after(self) -> int:
        """The offset after its last record."""
        return self.offset + self.count


def pieces_at_once(
    fetched: Mapping[Place, tuple[Fetched, int]], *, committed: bool
) -> Iterator[dict[Place, Piece]]:
    """The next piece of each partition, until none has any. Raises PipelineError."""
    left = {
        place: pieces(each, position, committed=committed)
        for place, (each, position) in fetched.items()
    }
    while left:
        heads = {place: piece for place in left if (piece := next(left[place], None))}
        left = {place: left[place] for place in heads}
        if heads:
            yield heads


def pieces(fetched: Fetched, position: int, *, committed: bool) -> Iterator[Piece]:
    """The pieces from the offset `position` on, in order. Raises PipelineError."""
    aborted = sorted((first, producer) for producer, first in fetched.aborted)
    open_aborts: set[int] = set()
    data = fetched.records
    try:
        for at, header in logged_batches(data):
            while aborted and aborted[0][0] <= header.last_offset:
                open_aborts.add(aborted.pop(0)[1])
            if header.magic == MAGIC and header.is_control:
                if header.count and not read_marker(data, at).commit:
                    open_aborts.discard(header.producer_id)
                continue
            is_aborted = header.is_transactional and header.producer_id in open_aborts
            if header.last_offset >= position and not (committed and is_aborted):
                yield from _of_batch(data, at, header, position)
    except WireError as error:
        raise PipelineError(
            f"{fetched.topic}-{fetched.partition}: what follows offset {position} cannot be read: "
            f"{error}"
        ) from None


def _of_batch(data: memoryview, at: int, header: BatchHeader, position: int) -> Iterator[Piece]:
    is_whole = header.magic == MAGIC and header.count == header.last_offset_delta + 1
    has_times = not header.attributes & LOG_APPEND_TIME
    if is_whole and has_times and header.base_offset >= position:
        batch = bytearray(data[at : at + header.size])
        yield Piece(header.base_offset, header.count, batch)
        return
    run: list[Record] = []
    for record in read_logged(data, at):
        if record.offset < position:
            continue
        if run and record.offset != run[-1].offset + 1:
            yield _built(run, header.codec)
            run = []
        run.append(record)
    if run:
        yield _built(run, header.codec)


def _built(run: list[Record], codec: Codec) -> Piece:
    records = [NewRecord(*record[1:]) for record in run]
    return Piece(run[0].offset, len(run), build_batch(records, codec=codec))
