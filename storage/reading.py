"""Reading a log: batches by offset, records by time, aborted transactions.

Rules:

- A read begins with the batch that contains the offset and never crosses a segment's end.
- Each read takes the log's list of segments once. Nobody changes that list (it is replaced), so a
  reader sees one consistent state.
- The first read of a segment after opening checks all of it. Reads end before damage; a read at the
  offsets it covers is refused with KAFKA_STORAGE_ERROR, as on a failing disk (damage.py).

Left out: writing segments (log.py). Source: the documentation's chapter "Log", "Reads".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol, cast

from ..wire.batch import BatchHeader
from ..wire.errors import Error, Refused, WireError
from ..wire.legacy.as_batches import logged_batches
from ..wire.primitives import Buffer
from .damage import Damage
from .disk.in_flight import StoredBytes
from .lookup import FoundRecord, aborted_transactions, find_max_timestamp, find_timestamp
from .partition_directory import PartitionDirectory
from .producers import AbortedTransaction
from .segment import Segment, containing

_CHUNK = 1 << 20


class Place(NamedTuple):
    """Where in a log something begins: the base offset of its segment, and the byte there."""

    segment: int
    position: int


class Readable(Protocol):
    segments: list[Segment]
    """Oldest first; there is at least one."""
    log_start_offset: int
    log_end_offset: int


class LogReader:
    """Reads one log. Methods raise Refused: CORRUPT_MESSAGE, KAFKA_STORAGE_ERROR."""

    __slots__ = ("_home", "_log")

    def __init__(self, log: Readable, home: PartitionDirectory) -> None:
        self._log = log
        self._home = home

    def read(
        self,
        offset: int,
        max_bytes: int,
        *,
        upto: int | None = None,
        whole_first: bool = True,
        keeps_cut: bool = True,
    ) -> Buffer:
        """Up to `max_bytes` of batches, from the one that contains `offset` on.

        The last may be cut off; the first is whole, however large, unless `whole_first` is False,
        and then left out without `keeps_cut` if it is not.
        Only batches that begin before `upto` (default: the log end) are returned, and only from one
        segment; b"" if there are none. Raises Refused: OFFSET_OUT_OF_RANGE too.
        """
        found = self._read(offset, max_bytes, upto, whole_first, keeps_cut, later=False)
        return cast(Buffer, found)

    def read_later(
        self,
        offset: int,
        max_bytes: int,
        *,
        upto: int | None = None,
        whole_first: bool = True,
        keeps_cut: bool = True,
    ) -> Buffer | StoredBytes:
        """Like `read`, but many bytes are read only when they are asked for."""
        return self._read(offset, max_bytes, upto, whole_first, keeps_cut, later=True)

    def _read(
        self,
        offset: int,
        max_bytes: int,
        upto: int | None,
        whole_first: bool,
        keeps_cut: bool,
        later: bool,
    ) -> Buffer | StoredBytes:
        log = self._log
        end = log.log_end_offset
        if not log.log_start_offset <= offset <= end:
            raise Refused(Error.OFFSET_OUT_OF_RANGE)
        if upto is None or upto > end:
            upto = end
        if offset >= upto:
            return b""
        asked = offset, max_bytes, upto, whole_first, keeps_cut, later
        segments = log.segments
        active = segments[-1]
        try:
            self._home.availability.check()
            if offset >= active.base_offset:
                return active.read(*asked) or b""
            for segment in segments[containing(segments, offset) :]:
                segment.verify()
                data = segment.read(*asked)
                if data is not None:  # else compaction left nothing at or after the offset
                    return data
        except WireError as error:
            raise Refused(Error.CORRUPT_MESSAGE, f"{self._home.name}: {error}") from error
        except OSError as error:
            raise self._home.storage_error(error) from error
        return b""

    def place_of(self, offset: int) -> Place:
        """Where the batch that contains `offset` begins; after all batches, the log's end."""
        segments = self._log.segments
        if offset < self._log.log_end_offset:
            with self._home.client_errors():
                for segment in segments[containing(segments, offset) :]:
                    segment.verify()
                    found = segment.locate(offset)
                    if found is not None:
                        return Place(segment.base_offset, found[0])
        return Place(segments[-1].base_offset, segments[-1].size)

    def batches_from(
        self, offset: int, *, over_damage: bool = True
    ) -> Iterator[tuple[BatchHeader, Buffer, int]]:
        """Each batch from the one that contains `offset` on, to the log end: its header, a buffer,
        and where in the buffer it begins.

        Damage is skipped; without `over_damage` it raises Refused, as `read` does.
        """
        while offset < self._log.log_end_offset:
            if over_damage:
                offset = self.after_damage(offset)
            chunk = self.read(offset, _CHUNK)
            if not chunk:  # compaction or a repair has left nothing more
                return
            for position, header in logged_batches(chunk):
                yield header, chunk, position
                offset = max(offset, header.last_offset + 1)

    @property
    def damages(self) -> list[Damage]:
        """The damage known so far: found when opening the log, and by reads."""
        return [damage for segment in self._log.segments for damage in segment.damages]

    def after_damage(self, offset: int) -> int:
        """The first offset from `offset` on that is not lost; the log end if no batch is left
        there."""
        segments = self._log.segments
        segment = segments[containing(segments, offset)]
        with self._home.client_errors():
            segment.verify()
        for damage in segment.damages:
            if damage.first_offset <= offset < damage.next_offset:
                offset = damage.next_offset
        end = self._log.log_end_offset
        # Compaction and repairs leave gaps, also right before the log end.
        is_left = offset < end and self.read(offset, 1, whole_first=False)
        return offset if is_left else end

    def aborted_transactions(self, offset: int, size: int) -> list[AbortedTransaction]:
        """Those that a read_committed consumer must know of in the `size` bytes read from `offset`
        on. May list some that begin after these bytes, as Kafka does."""
        with self._home.client_errors():
            return aborted_transactions(self._log.segments, offset, size)

    def find_timestamp(self, timestamp: int) -> FoundRecord | None:
        """The first record from the log start on that is as late as `timestamp` (ms), or None."""
        with self._home.client_errors():
            return find_timestamp(self._log.segments, timestamp, self._log.log_start_offset)

    def max_timestamp(self) -> FoundRecord | None:
        """The first record with the largest timestamp, even before the log start; or None."""
        with self._home.client_errors():
            return find_max_timestamp(self._log.segments)
