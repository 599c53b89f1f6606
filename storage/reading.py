"""What can be read of a log: batches by offset, times, aborted transactions.

Rules:

- Reads begin with the batch that contains the offset and never cross a segment's end.
- The list of segments is taken once, and never changed by anyone: so who reads sees one state.
- The first read of a segment after opening checks all of it. Reads end in front of damage, and one
  at the offsets that it covers is KAFKA_STORAGE_ERROR, as a failing disk is (damage.py).

Left out: how the segments come to be (log.py). Source: the documentation's chapter "Log", "Reads".
"""

from __future__ import annotations

from collections.abc import Iterator

from ..wire.batch import BatchHeader
from ..wire.errors import Error, Refused, WireError
from ..wire.legacy.as_batches import logged_batches
from ..wire.primitives import Buffer
from .damage import Damage
from .lookup import Found, aborted_transactions, find_max_timestamp, find_timestamp
from .partition_directory import PartitionDirectory
from .producers import AbortedTransaction
from .segment import Segment, containing

_CHUNK = 1 << 20


class ReadableLog:
    """One partition's segments, oldest first, and the offsets between which they may be read."""

    segments: list[Segment]
    log_start_offset: int
    log_end_offset: int
    _active: Segment
    _home: PartitionDirectory

    def read(
        self, offset: int, max_bytes: int, *, upto: int | None = None, whole_first: bool = True
    ) -> Buffer:
        """Up to `max_bytes` of batches, from the one that contains `offset` on.

        The last may be cut off; the first is whole, however large, unless `whole_first` is False.
        Only batches that begin before `upto` (default: the log end) are given, and only from one
        segment. Nothing there is b"". Raises Refused (OFFSET_OUT_OF_RANGE, CORRUPT_MESSAGE,
        KAFKA_STORAGE_ERROR).
        """
        end = self.log_end_offset
        if not self.log_start_offset <= offset <= end:
            raise Refused(Error.OFFSET_OUT_OF_RANGE)
        if upto is None or upto > end:
            upto = end
        if offset >= upto:
            return b""
        try:
            if offset >= self._active.base_offset:
                return self._active.read(offset, max_bytes, upto, whole_first) or b""
            for segment in self.segments[containing(self.segments, offset) :]:
                segment.verify()
                data = segment.read(offset, max_bytes, upto, whole_first)
                if data is not None:  # else compaction has left nothing at or behind the offset
                    return data
        except WireError as error:
            raise Refused(Error.CORRUPT_MESSAGE, f"{self._home.name}: {error}") from error
        except OSError as error:
            raise self._home.storage_error(error) from error
        return b""

    def batches_from(
        self, offset: int, *, over_damage: bool = True
    ) -> Iterator[tuple[BatchHeader, Buffer, int]]:
        """Each batch from the one that contains `offset` on, to the log end: its header, a buffer,
        and where in that it begins.

        What is damaged is passed over; without `over_damage` it raises Refused, as `read` does.
        """
        while offset < self.log_end_offset:
            if over_damage:
                offset = self.behind_damage(offset)
            chunk = self.read(offset, _CHUNK)
            if not chunk:  # compaction or a repair has left nothing more
                return
            for position, header in logged_batches(chunk):
                yield header, chunk, position
                offset = max(offset, header.last_offset + 1)

    @property
    def damages(self) -> list[Damage]:
        """The damage known so far: what opening and reads have found."""
        return [damage for segment in self.segments for damage in segment.damages]

    def behind_damage(self, offset: int) -> int:
        """The first offset from `offset` on that is not lost, the log end if no batch is left
        there. Raises Refused as `read` does."""
        segment = self.segments[containing(self.segments, offset)]
        with self._home.disk():
            segment.verify()
        for damage in segment.damages:
            if damage.first_offset <= offset < damage.next_offset:
                offset = damage.next_offset
        end = self.log_end_offset
        # Compaction and repairs leave gaps, also in front of the log end.
        is_left = offset < end and self.read(offset, 1, whole_first=False)
        return offset if is_left else end

    def aborted_transactions(self, offset: int, size: int) -> list[AbortedTransaction]:
        """Those a read_committed consumer must know for the `size` bytes read from `offset` on.

        May list some that begin behind these bytes, as Kafka does. Raises Refused as `read` does.
        """
        with self._home.disk():
            return aborted_transactions(self.segments, offset, size)

    def find_timestamp(self, timestamp: int) -> Found | None:
        """The first record from the log start on that is as late as `timestamp` (ms), or None.

        Raises Refused as `read` does.
        """
        with self._home.disk():
            return find_timestamp(self.segments, timestamp, self.log_start_offset)

    def max_timestamp(self) -> Found | None:
        """The first record with the largest timestamp, even below the log start; or None.

        Raises Refused as `read` does.
        """
        with self._home.disk():
            return find_max_timestamp(self.segments)
