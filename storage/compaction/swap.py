"""Replacing segments by the compacted one that was written from them.

A stop may interrupt this after each step, and nothing is lost, because recovery/unfinished.py
finishes what was begun:

1. the new files are complete, and end in `.cleaned`: the next start removes them;
2. they are renamed to end in `.swap`, the log first: from now on the next start gives them their
   final names, the rest of the `.cleaned` ones included, and removes all segments in their range;
3. the old files are renamed to end in `.deleted`, as are the producer snapshots at bases that no
   segment has any more;
4. the new files get their final names, and the old ones are unlinked after `file.delete.delay.ms`.

Where a power cut counts, names are synced after 2 and 4. Everything here raises OSError. A failure
in 3 or 4 leaves the log as it was: it still reads the old files under their new names.
"""

from __future__ import annotations

from contextlib import suppress

from ..naming import CLEANED, OFFSET_INDEX, SWAP, TIME_INDEX, TRANSACTION_INDEX
from ..partition_directory import PartitionDirectory
from ..segment import Segment
from .run import CleanedSegment


def swap_in(
    home: PartitionDirectory, cleaned: CleanedSegment, unlink_ms: int, *, synced: bool
) -> Segment:
    """Carry out steps 2 to 4 and return the segment, to be searched in its files."""
    sources, written = cleaned
    names = [name for name in names_of(home, written.base_offset) if _is_there(home, name)]
    try:
        _rename(home, names, CLEANED, SWAP, synced=synced)
    except OSError:  # the log goes on without them, so the next start must not use them
        with suppress(OSError):
            for name in names:
                home.files.remove(name + SWAP)
        raise
    for source in sources:
        source.retire()
    for source in sources[1:]:
        home.retire_snapshot(source.base_offset)
    _rename(home, names, SWAP, "", synced=synced)
    for source in sources:
        home.unlink_later(source, unlink_ms)
    return _adopted(home, written)


def discard(home: PartitionDirectory, cleaned: CleanedSegment) -> None:
    """Remove files that were not swapped in. The next start removes what is left."""
    with suppress(OSError):
        for name in names_of(home, cleaned.segment.base_offset):
            home.files.remove(name + CLEANED)


def names_of(home: PartitionDirectory, base_offset: int) -> list[str]:
    """The names of a segment's files, the `.log` first."""
    suffixes = (home.naming.log_suffix, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)
    return [home.naming.file(base_offset, suffix) for suffix in suffixes]


def _is_there(home: PartitionDirectory, name: str) -> bool:
    return home.files.exists(name + CLEANED)


def _rename(
    home: PartitionDirectory, names: list[str], old: str, new: str, *, synced: bool
) -> None:
    for name in names:
        home.files.rename(name + old, name + new)
    if synced:
        home.files.sync()


def _adopted(home: PartitionDirectory, written: Segment) -> Segment:
    segment = home.segment(
        written.base_offset,
        now_ms=written.created_ms,
        index_interval_bytes=written.index_interval_bytes,
    )
    segment.on_disk = True
    segment.modified_ms = written.modified_ms
    segment.first_timestamp = written.first_timestamp
    segment.transaction_index = written.transaction_index
    counts = written.offset_index.count, written.time_index.count
    segment.take_over_files(written.size, written.next_offset, *counts)
    return segment
