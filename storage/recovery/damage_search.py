"""Reading every batch of a segment: which are valid, and where there is damage between them.

A batch is valid if it is complete, its CRC is right, and its offsets are above those of the batch
before it, below the next segment's base, and within an index entry's 31 bits of the segment's own.
Offsets are not under the CRC: where one jumps, and the next batch does not follow the jump, the
jump is damage. Messages of magic 0 and 1 are batches too (batch_walk.py).

After damage, the next valid batch is searched for: first where the damaged one says that it ends,
then byte by byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple, Protocol

from ...wire.batch import HEADER_SIZE, MAGIC, OVERHEAD, BatchHeader, checksum, read_header
from ...wire.errors import WireError
from ...wire.legacy.as_batches import MAGIC_END, is_intact
from ...wire.primitives import Buffer
from ..batch_walk import ReadableFile, header_at, walk_batches
from ..damage import Damage
from ..segment import RELATIVE_OFFSET_MAX

NO_LIMIT = (1 << 63) - 1
"""An offset that no log reaches: no limit."""
_CHUNK = 1 << 20


class _Found(NamedTuple):
    """Where the search for the next valid batch ended; without one there is no base offset."""

    position: int
    base_offset: int | None


class Searched(Protocol):
    """A segment as far as this module reads it."""

    @property
    def name(self) -> str: ...
    @property
    def base_offset(self) -> int: ...
    @property
    def file(self) -> ReadableFile: ...


class DamageSearch:
    """One pass over a segment's file: `batches` yields the valid ones.

    `limit`: all offsets are below it. Damage that begins at or above the offset `flushed_to` ends
    the pass, with `torn_only` only if no valid batch follows: then `problem` says what is wrong and
    `end` where. All other damage is in `damages`. `has_gaps`: whether the batches have gaps that
    only compaction makes. Without `in_order` offsets may be any: batches may be of another place.
    """

    def __init__(
        self,
        partition: str,
        segment: Searched,
        size: int,
        *,
        limit: int = NO_LIMIT,
        flushed_to: int = NO_LIMIT,
        torn_only: bool = False,
        in_order: bool = True,
    ) -> None:
        self.damages: list[Damage] = []
        self.problem: str | None = None
        self.end = size
        self.next_offset = segment.base_offset
        """The offset after the last valid batch."""
        self.has_gaps = False
        self._partition = partition
        self._segment = segment
        self._limit = limit
        self._flushed_to = flushed_to
        self._torn_only = torn_only
        self._in_order = in_order

    def batches(self) -> Iterator[tuple[int, BatchHeader, Buffer, int]]:
        """Position, header, buffer and index into the buffer of each valid batch.

        Raises OSError.
        """
        position = 0
        while position < self.end:
            try:
                for found in walk_batches(
                    self._segment.file, position, self.end, _CHUNK, whole=True
                ):
                    header = found[1]
                    self._check_valid(found)
                    self.has_gaps |= header.count <= header.last_offset_delta
                    if self._in_order:
                        self.next_offset = header.last_offset + 1
                    yield found
                    position = found[0] + header.size
                return
            except WireError as error:
                flushed = self.next_offset < self._flushed_to
                found_next = self._next_valid(position) if flushed or self._torn_only else None
                if found_next is None or not (flushed or found_next.base_offset is not None):
                    self.problem, self.end = str(error), position
                    return
                position = self._skip_damage(position, found_next, str(error))

    def _check_valid(self, found: tuple[int, BatchHeader, Buffer, int]) -> None:
        """Raise WireError if a batch is not valid at its position."""
        position, header, chunk, at = found
        if checksum(chunk, at, header.size) != header.crc and (
            header.magic == MAGIC or not is_intact(chunk, at, header)  # has a checksum of its own
        ):
            raise WireError(f"the batch at byte {position} has a wrong checksum")
        base = header.base_offset
        last = header.last_offset
        if not self._in_order:
            return
        if base < self.next_offset or not 0 <= last - base <= RELATIVE_OFFSET_MAX:
            raise WireError(f"the batch at byte {position} has offsets out of order")
        if last >= self._limit or last - self._segment.base_offset > RELATIVE_OFFSET_MAX:
            raise WireError(f"the batch at byte {position} has offsets too high to be here")
        if base > self.next_offset:
            follower = self._header(position + header.size)
            if follower is not None and self.next_offset <= follower.base_offset <= last:
                raise WireError(f"the batch at byte {position} has offsets out of order")
            if position:
                self.has_gaps = True

    def _header(self, position: int) -> BatchHeader | None:
        return header_at(self._segment.file, position, self.end)

    def _skip_damage(self, position: int, found: _Found, problem: str) -> int:
        """Record the damage at `position`; return where to go on."""
        first = self.next_offset
        if found.base_offset is not None:
            after = found.base_offset
        elif self._limit < NO_LIMIT:
            after = self._limit
        else:
            after = max(first, self._claimed_end(position))
        self.damages.append(
            Damage(
                *(self._partition, self._segment.name, position, found.position - position),
                *(first, after, problem),
            )
        )
        if self._in_order:
            self.next_offset = after
        return found.position

    def _claimed_end(self, position: int) -> int:
        """The end of the offsets in a torn last batch, if its header is plausible; else 0."""
        if position + HEADER_SIZE > self.end:
            return 0
        header = read_header(self._segment.file.read(position, HEADER_SIZE))
        fits = header.magic == MAGIC and header.base_offset == self.next_offset
        return (
            header.last_offset + 1 if fits and header.last_offset_delta == header.count - 1 else 0
        )

    def _next_valid(self, position: int) -> _Found:
        damaged = self._header(position)
        if damaged is None:
            return self._search(position + 1, self.next_offset)
        # If it is where it belongs, the damaged batch had at least one offset.
        least = self.next_offset + (self._in_order and damaged.base_offset == self.next_offset)
        next_position = position + damaged.size
        if next_position == self.end:
            return _Found(next_position, None)
        base = self._valid_at(next_position, least)
        return self._search(position + 1, least) if base is None else _Found(next_position, base)

    def _search(self, position: int, least: int) -> _Found:
        """The next byte at which a valid batch of offset `least` or above begins."""
        pattern = _start_pattern(
            self.next_offset, min(self._limit, self.next_offset + _SEARCH_OFFSETS)
        )
        overlap = MAGIC_END
        while position + MAGIC_END <= self.end:
            chunk = bytes(self._segment.file.read(position, min(_CHUNK, self.end - position)))
            for match in pattern.finditer(chunk):
                if not _has_right_size(chunk, match.start()):
                    continue
                base = self._valid_at(position + match.start(), least)
                if base is not None:
                    return _Found(position + match.start(), base)
            if position + len(chunk) >= self.end:
                break
            position += len(chunk) - overlap
        return _Found(self.end, None)

    def _valid_at(self, position: int, least: int) -> int | None:
        """The base offset of the valid batch at `position`, or None."""
        header = self._header(position)
        if header is None or header.base_offset < least:
            return None
        data = self._segment.file.read(position, header.size)
        try:
            self._check_valid((position, header, data, 0))
        except WireError:
            return None
        if header.base_offset == self.next_offset and self._in_order and not self.has_gaps:
            # Then nothing was lost before it, there was only junk; unless the offset of this batch
            # is what is damaged: then the batch after it leaves a gap.
            follower = self._header(position + header.size)
            if follower is not None and follower.base_offset > header.last_offset + 1:
                return None
        return header.base_offset


_MAGIC_AT = 16
_SEARCH_OFFSETS = 1 << 40
_LENGTH_AT = 8
_LENGTH = Struct(">i")
_KEYS_AT = (18, 26)
"""The position of the key's length, by magic."""


def _has_right_size(chunk: bytes, at: int) -> bool:
    """Whether key and value fill a message of magic 0 or 1, as far as it is in the chunk.

    Without this check, data full of zeros looks like such messages.
    """
    magic = chunk[at + _MAGIC_AT]
    if magic == MAGIC:
        return True
    end: int = at + OVERHEAD + _LENGTH.unpack_from(chunk, at + _LENGTH_AT)[0]
    pos = at + _KEYS_AT[magic]
    for _ in ("key", "value"):
        if pos + _LENGTH.size > min(end, len(chunk)):
            return end > len(chunk)
        pos += _LENGTH.size + max(0, _LENGTH.unpack_from(chunk, pos)[0])
    return bool(pos == end)


def _start_pattern(low: int, high: int) -> re.Pattern[bytes]:
    """Matches where a batch with a base offset in [low, high) may begin, overlaps included.

    Messages of magic 0 or 1 must have a size and a CRC other than zero, so that zeros do not look
    like them, and use only four bits of their attributes.
    """
    first, last = low.to_bytes(8, "big"), high.to_bytes(8, "big")
    same = next((i for i in range(8) if first[i] != last[i]), _LENGTH_AT)
    rest = _LENGTH_AT - same
    old = rb"(?!\0{4})[\0-\x7f].{3}(?!\0{4}).{4}[\0\x01][\0-\x0f]"
    pattern = rb"(?=%s.{%d}(?:.{8}\x02|%s))" % (re.escape(first[:same]), rest, old)
    return re.compile(pattern, re.DOTALL)
