"""Damage: bytes of a log that had reached the disk and are no valid batches any more.

What was not yet flushed may be torn after a crash; recovery/recovery.py cuts it off, as Kafka does.
Damage is the other kind: below the recovery point, or anywhere after a clean stop. The rules for
it:

- Nothing is cut, deleted or overwritten by itself. A newest segment with damage takes no more
  batches: the log goes on in a new one, so offsets are not given twice.
- It is noticed when the directory is opened where that is cheap (the newest segment is read whole;
  of older ones the end, the sizes and the last index entries), else by the first read of the
  segment after opening, which checks every batch in it once. (Measured: that read takes 0.5 ms
  more per MiB in batches of 16 KiB, 2.5 ms in batches of 1 KB; later ones take what they took.
  Opening 10,000 cleanly stopped partitions takes as long as before, with three segments each 5 %
  longer.)
- It is a `Damage` in `Log.damages` and a sentence in `notices`, once.
- Batches in front of it are read, and those behind it. A read at the offsets that it covers raises
  Refused(KAFKA_STORAGE_ERROR), and so does a search by time that would have to cross it.
- `odradek repair` (repairs/repair.py) sets the bytes aside and lets the log go on behind them.

What becomes of a directory, after a clean stop unless it says "killed":

    damage                        Kafka 4.3                     here
    ----------------------------  ----------------------------  ----------------------------------
    last batch torn               hides the whole segment,      a Damage of the offsets that are
                                  gives its offsets again       lost; the log goes on behind them
    last batch torn, killed       cut off                       cut off, said
    bit flip, newest segment      consumers stop there          a Damage; the rest is served
    bit flip, newest, killed      cut off, all behind it too    so above the recovery point; below
                                                                it a Damage, nothing is cut
    bit flip, older segment       consumers stop there          a Damage at the first read
    older segment torn            consumers jump, silently      a Damage when opened
    zeros or nonsense behind      the process ends              cut off, said
      the last batch
    .log missing, or a whole      consumers jump, silently      a Damage of the missing offsets
      segment in the middle
    index missing, empty,         kept; look-ups may fail       made again, said
      of odd size
    wrong entries in an index     kept; look-ups may fail       made again at the first read, said
    .txnindex missing or wrong    aborted records are shown     made again at the first read, said
    .snapshot missing             producers are forgotten       taken from the batches, said
    newest .snapshot damaged      an older one and the batches  the same, said
    leader-epoch-checkpoint       history lost; the process     taken from the batches, said
      missing; malformed          ends
    another checkpoint missing    deleted records come back     the log start is taken from the
                                                                leader epochs; said
    a checkpoint malformed        the process ends              kept as .malformed, as if missing
    partition.metadata missing    set aside as -stray: empty    written anew, said
    partition.metadata malformed  the process ends              kept as .malformed, written anew
    partition.metadata of         set aside as -stray           the same, said
      another topic
    partition's directory gone    a new empty partition         the same, said
    directory of no partition     the process ends              left alone, said
    directory of no known topic   set aside as -stray           left alone, said; `repair` brings
                                                                the topic back
    metadata log torn             cut off                       cut off, said
    metadata log, bit flip        cut there; later topics are   a Damage; the batches behind it
                                  gone, as -stray               count, so do topics in them

Left out: damage that is consistent in itself (a whole file replaced by an older one), a leader
epoch in a batch (not under its CRC), the offset of a log's very last batch (nor is that, and no
batch behind it tells), and a time index whose last entry is too low.
Source: damaged copies given to Kafka 4.3.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from errno import EIO
from typing import NamedTuple

from .disk.directory import Directory
from .naming import ASIDE


class Damage(NamedTuple):
    """Bytes of a segment that cannot be read, and the offsets that they stood for."""

    partition: str
    """The partition's directory."""
    file: str
    """The segment's `.log` file."""
    position: int
    """The first damaged byte."""
    size: int
    """Bytes up to the next valid batch or the end of the file; 0 if bytes are missing there."""
    first_offset: int
    next_offset: int
    """Behind the last offset that is lost; `first_offset` if none is."""
    problem: str

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.position + self.size

    @property
    def offsets(self) -> str:
        """The offsets in words."""
        lost = self.next_offset - self.first_offset
        if lost <= 0:
            return "no offsets"
        last = self.next_offset - 1
        return f"offsets {self.first_offset} to {last}" if lost > 1 else f"offset {last}"

    def __str__(self) -> str:
        return f"{self.partition}/{self.file}: {self.sentence}"

    @property
    def sentence(self) -> str:
        """What is wrong, without the file's name."""
        return (
            f"damaged at byte {self.position} ({self.size} bytes, {self.offsets}): {self.problem}"
        )


def unreadable(damage: Damage) -> OSError:
    """What a read of the damaged offsets raises: a disk that does not give back what it got."""
    return OSError(EIO, damage.sentence, damage.file)


class Around(NamedTuple):
    """A run of bytes without damage."""

    start: int
    end: int


def around(damages: list[Damage], offset: int, size: int) -> Around:
    """The run of valid batches that holds `offset`, or in which it would lie.

    Raises OSError if the offset is lost.
    """
    start = 0
    for damage in damages:
        if offset < damage.first_offset:
            return Around(start, damage.position)
        if offset < damage.next_offset:
            raise unreadable(damage)
        start = damage.end
    return Around(start, size)


def runs(damages: list[Damage], size: int) -> Iterator[Around]:
    """All runs of valid batches of a segment, in order."""
    start = 0
    for damage in damages:
        yield Around(start, damage.position)
        start = damage.end
    yield Around(start, size)


# What a repair set aside: a line of JSON for each piece, its bytes, and a newline.


def aside_piece(damage: Damage, data: bytes) -> bytes:
    """One piece of a `.damaged` file."""
    head = {
        "file": damage.file,
        "position": damage.position,
        "bytes": len(data),
        "first_offset": damage.first_offset,
        "next_offset": damage.next_offset,
        "problem": damage.problem,
    }
    return json.dumps(head).encode() + b"\n" + data + b"\n"


def read_aside(data: bytes) -> Iterator[tuple[dict[str, object], bytes]]:
    """Head and bytes of each piece of a `.damaged` file. Raises ValueError if it is none."""
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        head = json.loads(data[at:end])
        size = int(head["bytes"])
        yield head, data[end + 1 : end + 1 + size]
        at = end + 1 + size + 1


def known_gaps(directory: Directory, names: list[str]) -> list[tuple[int, int]]:
    """The offsets that earlier repairs have given up: (first, next) each. Raises OSError."""
    gaps = []
    for name in names:
        if name.endswith(ASIDE):
            pieces = list(read_aside(directory.read_bytes(name)))
            gaps += [(int(str(h["first_offset"])), int(str(h["next_offset"]))) for h, _ in pieces]
    return gaps


def given_up_to(gaps: list[tuple[int, int]], offset: int) -> int:
    """The first offset from `offset` on that no repair has given up."""
    for first, after in sorted(gaps):
        if first <= offset < after:
            offset = after
    return offset
