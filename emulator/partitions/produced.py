"""The data of a produce request for one partition, its first bytes parsed once.

Checked before the log is: the data must begin with one whole batch of magic 2, and contain no other
one; an incomplete batch after it is dropped. A size or magic that no batch has is damage, which
refuses more than this partition (handlers/produce.py). The order of the checks decides which error
a client sees when several apply (semantics, B3-B6).
"""

from __future__ import annotations

from struct import Struct

from ...wire import Buffer, Error, Refused
from ...wire.batch import (
    CODEC_MASK,
    HEADER_SIZE,
    MAGIC,
    OVERHEAD,
    TRANSACTIONAL,
    BatchHeader,
    read_header,
)
from ...wire.compression import Codec
from .produced_batches import Checked

_SIZE_AND_MAGIC = Struct(">8xi4xb")
_ATTRIBUTES = Struct(">h")
_ATTRIBUTES_AT = 21
_SMALLEST_ENTRY = 14
ZSTD_SINCE = 7
PRODUCER_ID_END = 51
"""How many bytes of a batch there are up to its producer id."""


class Produced:
    __slots__ = (
        "batch",
        "checked",
        "damage",
        "data",
        "header",
        "is_transactional",
        "problem",
    )

    def __init__(self, data: Buffer | None, version: int) -> None:
        self.data = data
        """As it was sent."""
        self.batch: memoryview | None = None
        """The first batch, if it is whole and of magic 2."""
        self.header: BatchHeader | None = None
        """Its header, if it has room for one."""
        self.is_transactional = False
        """Whether it is a transactional batch."""
        self.checked: list[Checked] | Refused = []
        """The result of the checks of what is to be appended; None also if nothing is to be."""
        self.damage: Refused | None = None
        """CORRUPT_MESSAGE: the data begins with a size or magic that no batch has."""
        self.problem: Refused | None = None
        """Why the data is not one whole batch that is valid in this version: INVALID_RECORD,
        CORRUPT_MESSAGE, UNSUPPORTED_COMPRESSION_TYPE, or UNKNOWN_SERVER_ERROR for a codec that does
        not exist."""
        # A real broker never answers null records; here they are an invalid batch.
        view = memoryview(data if data is not None else b"")
        try:
            size, magic = _entry(view, 0)
        except Refused as refused:
            self.damage = self.problem = refused
            return
        if size is None or magic != 2:
            self.problem = Refused(Error.INVALID_RECORD)
            return
        self.batch = view[:size]
        if size >= HEADER_SIZE:
            self.header = read_header(self.batch)
        (attributes,) = _ATTRIBUTES.unpack_from(view, _ATTRIBUTES_AT)
        self.is_transactional = bool(attributes & TRANSACTIONAL)
        try:
            _check_codec(attributes & CODEC_MASK, version)
            if size < len(view) and _entry(view, size)[0] is not None:
                raise Refused(Error.INVALID_RECORD)
        except Refused as refused:
            self.problem = refused

    def begins(self) -> bool:
        """Whether there is a first entry, whole and of a magic that is known, with room for a
        producer id if that has one."""
        view = memoryview(self.data if self.data is not None else b"")
        size, magic = (None, 0) if self.damage is not None else _entry(view, 0)
        return size is not None and (magic != MAGIC or size >= PRODUCER_ID_END)

    def is_lone(self, *, magic_first: bool = True) -> bool:
        """Whether there is one whole batch of magic 2 with room for a producer id, and no other
        entry. `magic_first`: a wrong magic counts also where an entry is not whole."""
        if self.batch is None or len(self.batch) < PRODUCER_ID_END:
            return False
        assert self.data is not None
        if not magic_first and _is_cut(memoryview(self.data)[len(self.batch) :]):
            return True
        try:
            return _entry(memoryview(self.data), len(self.batch))[0] is None
        except Refused:
            return False


def _is_cut(entry: memoryview) -> bool:
    """Whether an entry is not whole, and has a size that may be."""
    size = int.from_bytes(entry[8:OVERHEAD], "big", signed=True)
    return len(entry) < OVERHEAD or len(entry) - OVERHEAD < size >= _SMALLEST_ENTRY


def _check_codec(codec: int, version: int) -> None:
    """Versions before zstd refuse it here. Raises Refused."""
    if version < ZSTD_SINCE and codec >= Codec.ZSTD:
        if codec == Codec.ZSTD:
            raise Refused(Error.UNSUPPORTED_COMPRESSION_TYPE)
        raise Refused(Error.UNKNOWN_SERVER_ERROR)


def _entry(view: memoryview, pos: int) -> tuple[int | None, int]:
    """Size and magic of the entry at `pos`; the size is None when the entry is incomplete."""
    left = len(view) - pos
    if left < OVERHEAD:
        return None, 0
    length = int.from_bytes(view[pos + 8 : pos + 12], "big", signed=True)
    if length < _SMALLEST_ENTRY:
        text = f"Record size {length} is less than the minimum record overhead ({_SMALLEST_ENTRY})"
        raise Refused(Error.CORRUPT_MESSAGE, text if pos == 0 else None)
    if left < _SIZE_AND_MAGIC.size:
        return None, 0
    magic = _SIZE_AND_MAGIC.unpack_from(view, pos)[1]
    if magic not in (0, 1, 2):
        text = f"Invalid magic found in record: {magic}"
        raise Refused(Error.CORRUPT_MESSAGE, text if pos == 0 else None)
    return (OVERHEAD + length if OVERHEAD + length <= left else None), magic
