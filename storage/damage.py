"""Damage: bytes of a log that had reached the disk and are no valid batches any more.

What was not flushed yet may be torn after a crash; recovery/recovery.py truncates it, as Kafka
does. Damage is the other kind: below the recovery point, or anywhere after a clean stop. Its rules:

- Nothing is truncated, deleted or overwritten automatically. A newest segment with damage takes no
  more batches: the log goes on in a new one, so that no offset is assigned twice.
- It is found when the directory is opened where that is cheap (the newest segment is read whole; of
  older ones the end, the sizes and the last index entries), else by the first read of the segment
  after opening, which checks every batch in it once. (Measured: that read takes 0.5 ms more per MiB
  in batches of 16 KiB, 2.5 ms in batches of 1 KB; later reads are as fast as before. Opening 10,000
  cleanly stopped partitions takes as long as before, with three segments each 5 % longer.)
- It is a `Damage` in `LogReader.damages` and a sentence in `notices`, once.
- Batches before and after it are served. A read at the offsets that it covers raises
  Refused(KAFKA_STORAGE_ERROR), and so does a search by time that would have to cross it.
- `odradek repair` (repairs/repair.py) sets the bytes aside, and the log goes on after them.

What happens to a directory, after a clean stop unless it says "killed":

    damage                        Kafka 4.3                     here
    ----------------------------  ----------------------------  ----------------------------------
    last batch torn               hides the whole segment,      a Damage of the lost offsets; the
                                  assigns its offsets again     log goes on after them
    last batch torn, killed       truncated                     truncated, with a notice
    bit flip, newest segment      consumers stop there          a Damage; the rest is served
    bit flip, newest, killed      truncated from there on       so above the recovery point; below
                                                                it a Damage, nothing is truncated
    bit flip, older segment       consumers stop there          a Damage at the first read
    older segment torn            consumers jump, silently      a Damage when opened
    zeros or junk after the       the process exits             truncated, with a notice
      last batch
    .log missing, or a whole      consumers jump, silently      a Damage of the missing offsets
      segment in the middle
    index missing, empty,         kept; searches may fail       rebuilt, with a notice
      of odd size
    wrong entries in an index     kept; searches may fail       rebuilt at the first read, notice
    .txnindex missing or wrong    aborted records are shown     rebuilt at the first read, notice
    .snapshot missing             producers are forgotten       read from the batches, notice
    newest .snapshot damaged      an older one and the batches  the same, with a notice
    leader-epoch-checkpoint       history lost; the process     read from the batches, notice
      missing; malformed          exits
    another checkpoint missing    deleted records come back     the log start is found from the
                                                                leader epochs, notice
    a checkpoint malformed        the process exits             kept as .malformed, as if missing
    partition.metadata missing    renamed to -stray: empty      written again, with a notice
    partition.metadata malformed  the process exits             kept as .malformed, written again
    partition.metadata of         renamed to -stray             the same, with a notice
      another topic
    partition's directory gone    a new empty partition         the same, with a notice
    directory of no partition     the process exits             left alone, with a notice
    directory of unknown topic    renamed to -stray             left alone, with a notice; `repair`
                                                                brings the topic back
    metadata log torn             truncated                     truncated, with a notice
    metadata log, bit flip        truncated there; later        a Damage; the batches after it
                                  topics become -stray          count, so do topics in them

Left out: damage that is consistent in itself (a whole file replaced by an older one), the leader
epoch in a batch (not under its CRC), the offset of a log's very last batch (not under its CRC
either, and no batch follows that would show it), and a time index whose last entry is too low.
Source: damaged copies given to Kafka 4.3.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from errno import EIO
from typing import NamedTuple

from .disk.directory import Directory
from .naming import DAMAGED


class Damage(NamedTuple):
    """Bytes of a segment that cannot be read, and the offsets that are lost with them."""

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
    """The offset after the last lost one; `first_offset` if none is lost."""
    problem: str

    @property
    def end(self) -> int:
        """The position of the first byte after it."""
        return self.position + self.size

    @property
    def offsets(self) -> str:
        lost = self.next_offset - self.first_offset
        if lost <= 0:
            return "no offsets"
        last = self.next_offset - 1
        return f"offsets {self.first_offset} to {last}" if lost > 1 else f"offset {last}"

    def __str__(self) -> str:
        return f"{self.partition}/{self.file}: {self.sentence}"

    @property
    def sentence(self) -> str:
        """A sentence that says what is wrong, without the file's name."""
        return (
            f"damaged at byte {self.position} ({self.size} bytes, {self.offsets}): {self.problem}"
        )


def read_error(damage: Damage) -> OSError:
    """The error of a read of the damaged offsets: that of a disk that cannot read a block."""
    return OSError(EIO, damage.sentence, damage.file)


class ValidRun(NamedTuple):
    """Consecutive bytes without damage, [start, end)."""

    start: int
    end: int


def valid_run_at(damages: list[Damage], offset: int, size: int) -> ValidRun:
    """The run of valid batches that contains `offset`, or would contain it.

    Raises OSError if the offset is lost.
    """
    start = 0
    for damage in damages:
        if offset < damage.first_offset:
            return ValidRun(start, damage.position)
        if offset < damage.next_offset:
            raise read_error(damage)
        start = damage.end
    return ValidRun(start, size)


def valid_runs(damages: list[Damage], size: int) -> Iterator[ValidRun]:
    """All runs of valid batches of a segment, in order."""
    start = 0
    for damage in damages:
        yield ValidRun(start, damage.position)
        start = damage.end
    yield ValidRun(start, size)


# A `.damaged` file holds what a repair set aside: for each piece a line of JSON, then its bytes and
# a newline.


def damaged_piece(damage: Damage, data: bytes) -> bytes:
    """One entry of a `.damaged` file."""
    head = {
        "file": damage.file,
        "position": damage.position,
        "bytes": len(data),
        "first_offset": damage.first_offset,
        "next_offset": damage.next_offset,
        "problem": damage.problem,
    }
    return json.dumps(head).encode() + b"\n" + data + b"\n"


def read_damaged_file(data: bytes) -> Iterator[tuple[dict[str, object], bytes]]:
    """Header and bytes of each entry of a `.damaged` file. Raises ValueError for other bytes."""
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        head = json.loads(data[at:end])
        size = int(head["bytes"])
        yield head, data[end + 1 : end + 1 + size]
        at = end + 1 + size + 1


def repaired_gaps(directory: Directory, names: list[str]) -> list[tuple[int, int]]:
    """The lost offsets that earlier repairs have recorded: (first, next) each. Raises OSError."""
    gaps = []
    for name in names:
        if name.endswith(DAMAGED):
            pieces = list(read_damaged_file(directory.read_bytes(name)))
            gaps += [(int(str(h["first_offset"])), int(str(h["next_offset"]))) for h, _ in pieces]
    return gaps


def after_gaps(gaps: list[tuple[int, int]], offset: int) -> int:
    """The first offset from `offset` on that is in none of these gaps."""
    for first, after in sorted(gaps):
        if first <= offset < after:
            offset = after
    return offset
