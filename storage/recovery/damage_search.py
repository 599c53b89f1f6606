"""Looking at every batch of a segment: which are valid, and where the damage between them lies.

A batch is valid if it is whole, its CRC right, and its offsets lie behind those of the
batch before it, in front of the next segment's base, and within an index entry's 31 bits of the
segment's own. Offsets are not under the CRC. Where one jumps, and the batch behind it does not
follow the jump, the jump is the damage. Messages of magic 0 and 1 are batches too (batch_walk.py).

Behind damage the next valid batch is looked for: first where the damaged one says that it ends,
then byte by byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from ...wire.batch import HEADER_SIZE, MAGIC, OVERHEAD, BatchHeader, checksum, read_header
from ...wire.errors import WireError
from ...wire.legacy.as_batches import MAGIC_END, is_intact
from ...wire.primitives import Buffer
from ..batch_walk import header_at, walk
from ..damage import Damage
from ..segment import RELATIVE_OFFSET_MAX, Segment

NOWHERE = (1 << 63) - 1
"""An offset that no log reaches."""
_CHUNK = 1 << 20


class _Found(NamedTuple):
    """Where a search for the next valid batch ended."""

    position: int
    base_offset: int | None


class Inspection:
    """One walk through a segment's file: `batches` yields the valid ones.

    `limit`: all offsets are below it. Damage that begins at or behind the offset `flushed_to` ends
    the walk, with `torn_only` only if no valid batch follows: then `problem` says what it is, and
    `end` where. All other damage is in `damages`, and `holes` tells whether the batches have the
    gaps that only compaction makes.
    """

    def __init__(
        self,
        partition: str,
        segment: Segment,
        size: int,
        *,
        limit: int = NOWHERE,
        flushed_to: int = NOWHERE,
        torn_only: bool = False,
    ) -> None:
        self.damages: list[Damage] = []
        self.problem: str | None = None
        self.end = size
        self.next_offset = segment.base_offset
        """Behind the last valid batch."""
        self.holes = False
        self._partition = partition
        self._segment = segment
        self._limit = limit
        self._flushed_to = flushed_to
        self._torn_only = torn_only

    def batches(self) -> Iterator[tuple[int, BatchHeader, Buffer, int]]:
        """Position, header, buffer and place in the buffer of each valid batch.

        Raises OSError.
        """
        position = 0
        while position < self.end:
            try:
                for found in walk(self._segment.file, position, self.end, _CHUNK, whole=True):
                    header = found[1]
                    self._judge(found)
                    self.holes |= header.count <= header.last_offset_delta
                    self.next_offset = header.last_offset + 1
                    yield found
                    position = found[0] + header.size
                return
            except WireError as error:
                flushed = self.next_offset < self._flushed_to
                behind = self._next_valid(position) if flushed or self._torn_only else None
                if behind is None or not (flushed or behind.base_offset is not None):
                    self.problem, self.end = str(error), position
                    return
                position = self._pass_over(position, behind, str(error))

    def _judge(self, found: tuple[int, BatchHeader, Buffer, int]) -> None:
        """Raise WireError if a batch is not valid where it stands."""
        position, header, chunk, at = found
        if checksum(chunk, at, header.size) != header.crc and (
            header.magic == MAGIC or not is_intact(chunk, at, header)  # which has a sum of its own
        ):
            raise WireError(f"the batch at byte {position} has a wrong checksum")
        base = header.base_offset
        last = header.last_offset
        if base < self.next_offset or not 0 <= last - base <= RELATIVE_OFFSET_MAX:
            raise WireError(f"the batch at byte {position} has offsets out of order")
        if last >= self._limit or last - self._segment.base_offset > RELATIVE_OFFSET_MAX:
            raise WireError(f"the batch at byte {position} has offsets too high to be here")
        if base > self.next_offset:
            follower = self._header(position + header.size)
            if follower is not None and self.next_offset <= follower.base_offset <= last:
                raise WireError(f"the batch at byte {position} has offsets out of order")
            if position:
                self.holes = True

    def _header(self, position: int) -> BatchHeader | None:
        return header_at(self._segment.file, position, self.end)

    def _pass_over(self, position: int, found: _Found, problem: str) -> int:
        """Note the damage at `position`; return where to go on."""
        first = self.next_offset
        if found.base_offset is not None:
            after = found.base_offset
        elif self._limit < NOWHERE:
            after = self._limit
        else:
            after = max(first, self._claimed_end(position))
        self.damages.append(
            Damage(
                *(self._partition, self._segment.name, position, found.position - position),
                *(first, after, problem),
            )
        )
        self.next_offset = after
        return found.position

    def _claimed_end(self, position: int) -> int:
        """Behind the offsets that a torn last batch says it has, if it is to be believed."""
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
        least = self.next_offset + 1  # for it has had an offset at least
        behind = position + damaged.size
        if behind == self.end:
            return _Found(behind, None)
        base = self._valid_at(behind, least)
        return self._search(position + 1, least) if base is None else _Found(behind, base)

    def _search(self, position: int, least: int) -> _Found:
        """The next byte at which a valid batch begins, of the offset `least` or above."""
        pattern = _beginning(self.next_offset, min(self._limit, self.next_offset + _REACH))
        overlap = MAGIC_END
        while position + MAGIC_END <= self.end:
            chunk = bytes(self._segment.file.read(position, min(_CHUNK, self.end - position)))
            for match in pattern.finditer(chunk):
                if not _adds_up(chunk, match.start()):
                    continue
                base = self._valid_at(position + match.start(), least)
                if base is not None:
                    return _Found(position + match.start(), base)
            if position + len(chunk) >= self.end:
                break
            position += len(chunk) - overlap
        return _Found(self.end, None)

    def _valid_at(self, position: int, least: int) -> int | None:
        """The base offset of the batch that begins there, if it is a valid one."""
        header = self._header(position)
        if header is None or header.base_offset < least:
            return None
        data = self._segment.file.read(position, header.size)
        try:
            self._judge((position, header, data, 0))
        except WireError:
            return None
        if header.base_offset == self.next_offset and not self.holes:
            # Then nothing was lost in front of it, only nonsense found; unless it is the next one
            # that is damaged, in its offset: then the one behind that leaves a gap.
            follower = self._header(position + header.size)
            if follower is not None and follower.base_offset > header.last_offset + 1:
                return None
        return header.base_offset


_MAGIC_AT = 16
_REACH = 1 << 40
_LENGTH_AT = 8
_LENGTH = Struct(">i")
_KEYS_AT = (18, 26)
"""Where the length of the key stands, by magic."""


def _adds_up(chunk: bytes, at: int) -> bool:
    """Whether key and value fill a message of magic 0 or 1, as far as the chunk shows it.

    To be looked for in data that is full of zeros, such a message is too much like them.
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


def _beginning(low: int, high: int) -> re.Pattern[bytes]:
    """Matches where a batch may begin whose base offset lies in [low, high), overlaps included.

    Of a message of magic 0 or 1 neither size nor CRC are zero, lest zeros look like many of them,
    and of its attributes only four bits are used.
    """
    first, last = low.to_bytes(8, "big"), high.to_bytes(8, "big")
    same = next((i for i in range(8) if first[i] != last[i]), _LENGTH_AT)
    rest = _LENGTH_AT - same
    old = rb"(?!\0{4})[\0-\x7f].{3}(?!\0{4}).{4}[\0\x01][\0-\x0f]"
    pattern = rb"(?=%s.{%d}(?:.{8}\x02|%s))" % (re.escape(first[:same]), rest, old)
    return re.compile(pattern, re.DOTALL)
