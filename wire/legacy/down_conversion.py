"""The answer of a broker of 0.11 to 3.9 to Fetch v0-3: stored batches as messages of magic 0 or 1.

A stored batch becomes single messages if it is uncompressed, else one wrapper with its codec.
Transaction markers are left out, headers dropped; batches of an old enough magic stay as they are.
Of an uncompressed batch only messages from the fetch offset on are sent.

    answered          magic 0                          magic 1
    single message    its offset                       and its time
    wrapper           last offset, no time             last offset, largest inner time
    inner message     its offset                       offset less the first one's, and its time
    log append time   nothing                          attribute bit 3 and the batch's time, on all

The length of an answer is fixed before anything but its first batch is converted: the size of the
stored bytes, or of the first conversion if that is longer. The first conversion comes first; then
the stored bytes after the first batch, in chunks of at most 128 KiB (at least a batch), truncated
at that length. If the conversions are shorter, the rest is filled with what clients read as the
beginning of an incomplete entry: offset -1, a size beyond the end, zeros; and so again every 128
KiB. If nothing is left of the leading batches, the first one with messages is sent twice: clients
skip the second.

A chunk that cannot be converted (zstd, damage) is filled, with all after it; a real broker closes
the connection there if more than 128 KiB are left, or if it is damage.

Left out: the limits of a read; the caller passes what a newer Fetch would answer.
Source: the answers of Kafka 3.9.2; KIP-31, KIP-32, KIP-98, KIP-283.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from struct import Struct

from ..batch import HEADER_SIZE, MAGIC, NO_TIMESTAMP, OVERHEAD, read_header
from ..compression import LIMIT, Codec
from ..errors import Error, Refused, WireError
from ..frames import BUFFERS, JOINED, Part, Stored
from ..primitives import Buffer
from ..records import read_records
from .message_sets import Entry, Message, build_set, entries, read_entry, read_head

_CHUNK = 128 << 10
_HEAD_SIZE = 17
_FILLER = Struct(">qi")


def down_convert(stored: Buffer, magic: int, fetch_offset: int, limit: int = LIMIT) -> bytes:
    """Answer the stored bytes of a read from `fetch_offset` as a set of magic 0 or 1.

    The last batch in `stored` may be incomplete. `limit` is how many bytes a batch may decompress
    to.
    Raises Refused(UNSUPPORTED_COMPRESSION_TYPE) for zstd and Refused(UNKNOWN_SERVER_ERROR) for
    damage, in what has to be converted first.
    """
    return b"".join(DownConverted(stored, magic, fetch_offset, limit).pieces())


def down_convert_later(
    stored: Part, magic: int, fetch_offset: int, limit: int = LIMIT, *, keeps_cut: bool = False
) -> Buffer | Stored:
    """Like `down_convert`, but of what is stored in a file only what has to be converted first is
    at once, and the rest when it is sent. `keeps_cut`: a batch that is not whole stays as it is, if
    there is no other, as before 3.0; else nothing of it is left. Raises OSError, too."""
    if keeps_cut and not _entry_at(stored, 0):
        return stored
    converted = DownConverted(stored, magic, fetch_offset, limit)
    if isinstance(stored, BUFFERS) or len(converted) <= JOINED:
        return b"".join(converted.pieces())
    return converted


def down_convert_at_once(
    stored: Part,
    magic: int,
    fetch_offset: int,
    limit: int = LIMIT,
    *,
    drops_headers: bool = True,
) -> Buffer | Stored:
    """What brokers before 2.0 answer: every whole batch converted, and nothing filled. Where none
    is whole, and from 1.0 on where none was converted, what is stored stays as it is. Without
    `drops_headers`, as before 1.0, headers are damage. Raises as `down_convert` does, and OSError.
    """
    converted: list[Buffer] = []
    position, is_any = 0, False
    try:
        while entry := _entry_at(stored, position):
            for each in entries(entry):
                if not drops_headers and _has_headers(entry, each, limit):
                    raise Refused(Error.UNKNOWN_SERVER_ERROR)
                converted.append(_convert(entry, each, magic, fetch_offset, limit))
                is_any |= each.magic > magic and bool(converted[-1])
            position += len(entry)
    except WireError:
        raise Refused(Error.UNKNOWN_SERVER_ERROR) from None
    if not position or (drops_headers and not is_any):
        return stored
    return b"".join(converted)


def _has_headers(stored: Buffer, entry: Entry, limit: int) -> bool:
    is_batch = entry.magic == MAGIC and not read_header(stored, entry.pos).is_control
    return is_batch and any(each.headers for each in read_records(stored, entry.pos, limit))


def begins_whole(stored: Part) -> bool:
    """Whether what is stored begins with a whole batch. Raises OSError."""
    return bool(_entry_at(stored, 0))


class DownConverted:
    """The answer to a read, in pieces (wire/frames.py: Stored)."""

    __slots__ = ("_arguments", "_at", "_first", "_length", "_piece", "_rest", "_second", "_stored")

    def __init__(self, stored: Part, magic: int, fetch_offset: int, limit: int) -> None:
        """Converts what comes first. Raises Refused, OSError."""
        self._stored = stored
        self._arguments = magic, fetch_offset, limit
        self._first: Buffer = b""
        self._second = 0
        try:
            position = 0
            while not self._first and (entry := _entry_at(stored, position)):
                self._first = self._converted(entry, entries(entry))
                position += len(entry)
                self._second = self._second or position
        except WireError:
            raise Refused(Error.UNKNOWN_SERVER_ERROR) from None
        self._length = max(len(stored), len(self._first)) if self._first else 0
        if self._second and not self._first:
            self._length = _FILLER.size
        self._at = 0
        self._piece: Buffer = b""
        self._rest = self.pieces()

    def __len__(self) -> int:
        return self._length

    def read(self, position: int, most: int) -> Buffer:
        """Some of it, from `position` on: at least one byte. Raises OSError."""
        if position < self._at:
            self._at, self._piece, self._rest = 0, b"", self.pieces()
        while position >= self._at + len(self._piece):
            self._at += len(self._piece)
            self._piece = next(self._rest)
        start = position - self._at
        return memoryview(self._piece)[start : start + most]

    def pieces(self) -> Iterator[Buffer]:
        """All of it, none of them empty. Raises OSError."""
        left = self._length
        for piece in self._unbounded() if self._first else ():
            if len(piece) > left:
                piece = memoryview(piece)[:left]
            left -= len(piece)
            if piece:
                yield piece
            if not left:
                return
        while left:
            filler = _FILLER.pack(-1, max(left + 1, HEADER_SIZE)).ljust(min(left, _CHUNK), b"\0")
            yield filler[:left]
            left -= min(left, len(filler))

    def _unbounded(self) -> Iterator[Buffer]:
        """The converted messages, up to the first that cannot be."""
        yield self._first
        position = self._second
        while True:
            try:
                chunk = _whole_entries(self._stored, position)
                size = sum(entry.size for entry in chunk[1])
                if not size:
                    return
                converted = self._converted(*chunk)
            except (Refused, WireError):
                return
            position += size
            yield converted

    def _converted(self, stored: Buffer, chunk: Iterable[Entry]) -> bytes:
        """Convert some batches. Raises WireError, or Refused for zstd."""
        return b"".join([_convert(stored, entry, *self._arguments) for entry in chunk])


def _entry_at(stored: Part, position: int) -> Buffer:
    """The bytes of the entry there; none of an incomplete one. Raises WireError, OSError."""
    head = taken(stored, position, _HEAD_SIZE)
    if len(head) < OVERHEAD:
        return b""
    size = OVERHEAD + int.from_bytes(head[OVERHEAD - 4 : OVERHEAD], "big", signed=True)
    if len(head) < _HEAD_SIZE or not 0 < size <= len(stored) - position:
        for _ in entries(head):  # which refuses what is none
            pass
        return b""
    entry = taken(stored, position, size)
    for _ in entries(entry):
        return entry
    return b""


def _whole_entries(stored: Part, position: int) -> tuple[Buffer, Sequence[Entry]]:
    """The batches from there on that are converted together. Raises WireError, OSError."""
    chunk = taken(stored, position, _CHUNK)
    found = list(entries(chunk))
    if not found and len(chunk) == _CHUNK:
        chunk = _entry_at(stored, position)
        found = list(entries(chunk))
    return chunk, found


def taken(stored: Part, position: int, size: int) -> Buffer:
    """So many bytes from there on, or what there is. Raises OSError."""
    if isinstance(stored, BUFFERS):
        return memoryview(stored)[position : position + size]
    size = min(size, len(stored) - position)
    data: Buffer = stored.read(position, size) if size > 0 else b""
    if len(data) == size or size <= 0:
        return data
    whole = bytearray(data)
    while len(whole) < size:
        whole += stored.read(position + len(whole), size - len(whole))
    return whole


def _convert(stored: Buffer, entry: Entry, magic: int, fetch_offset: int, limit: int) -> Buffer:
    append_time = None
    if entry.magic == MAGIC:
        header = read_header(stored, entry.pos)
        if header.is_control:
            return b""
        codec: int = header.codec
        if header.is_log_append_time:
            append_time = header.max_timestamp
    else:
        codec = read_head(stored, entry).codec
    if codec == Codec.ZSTD:
        raise Refused(Error.UNSUPPORTED_COMPRESSION_TYPE)
    if entry.magic <= magic:
        return memoryview(stored)[entry.pos : entry.pos + entry.size]
    if entry.magic == MAGIC:
        messages = [Message(*record[:4]) for record in read_records(stored, entry.pos, limit)]
    else:
        messages = read_entry(stored, entry, limit)
    if not codec:
        messages = [message for message in messages if message.offset >= fetch_offset]
    _check_writable(messages)
    return build_set(messages, magic, codec=codec, log_append_time=append_time)


def _check_writable(messages: Sequence[Message]) -> None:
    """Raises WireError for messages that a broker's writer of sets refuses."""
    if any(later.offset <= message.offset for message, later in pairwise(messages)):
        raise WireError("offsets that do not rise")
    if any(message.timestamp < NO_TIMESTAMP for message in messages):
        raise WireError("a message with a time below -1")
