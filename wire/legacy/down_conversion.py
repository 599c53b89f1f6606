"""What a broker of 0.11 to 3.9 answers to Fetch v0-3: stored batches as messages of magic 0 or 1.

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

from collections.abc import Iterator, Sequence
from itertools import pairwise
from struct import Struct

from ..batch import HEADER_SIZE, MAGIC, NO_TIMESTAMP, read_header
from ..compression import LIMIT, Codec
from ..errors import Error, Refused, WireError
from ..primitives import Buffer
from ..records import read_records
from .message_sets import Entry, Message, build_set, entries, read_entry, read_head

_CHUNK = 128 << 10
_FILLER = Struct(">qi")


def down_convert(stored: Buffer, magic: int, fetch_offset: int, limit: int = LIMIT) -> bytearray:
    """Answer the stored bytes of a read from `fetch_offset` as a set of magic 0 or 1.

    The last batch in `stored` may be incomplete. `limit` is how many bytes a batch may decompress
    to.
    Raises Refused(UNSUPPORTED_COMPRESSION_TYPE) for zstd and Refused(UNKNOWN_SERVER_ERROR) for
    damage, in what has to be converted first.
    """
    try:
        found = list(entries(stored))
        out = bytearray()
        for entry in found:
            out += _converted(stored, [entry], magic, fetch_offset, limit)
            if out:
                break
    except WireError:
        raise Refused(Error.UNKNOWN_SERVER_ERROR) from None
    if not found:
        return out
    length = max(len(stored), len(out)) if out else _FILLER.size
    for chunk in _chunks(found[1:]) if out else ():
        if len(out) >= length:
            break
        try:
            out += _converted(stored, chunk, magic, fetch_offset, limit)
        except (Refused, WireError):
            break
    del out[length:]
    _fill(out, length)
    return out


def _chunks(found: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Group the batches that are converted together."""
    chunk: list[Entry] = []
    size = 0
    for entry in found:
        if chunk and size + entry.size > _CHUNK:
            yield chunk
            chunk, size = [], 0
        chunk.append(entry)
        size += entry.size
    if chunk:
        yield chunk


def _fill(out: bytearray, length: int) -> None:
    while len(out) < length:
        left = length - len(out)
        piece = _FILLER.pack(-1, max(left + 1, HEADER_SIZE)).ljust(min(left, _CHUNK), b"\0")
        out += piece[:left]


def _converted(
    stored: Buffer, chunk: Sequence[Entry], magic: int, fetch_offset: int, limit: int
) -> bytes:
    """Convert some batches. Raises WireError, or Refused for zstd."""
    return b"".join([_convert(stored, entry, magic, fetch_offset, limit) for entry in chunk])


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
