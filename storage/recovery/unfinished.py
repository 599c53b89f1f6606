"""Finishing what a stop interrupted in a partition's directory.

`.deleted` and `.cleaned` files are removed; a `.log.swap` replaces all segments whose base is in
its range, since it was written from them. A `.replaced` file tells that a repair was killed while
it put its new files in the place of the old ones (repairs/putting_back.py).
"""

from __future__ import annotations

from ...wire.errors import WireError
from ..batch_walk import walk_batches
from ..disk.directory import Directory, File
from ..naming import CLEANED, DELETED, OFFSET_INDEX, SWAP, TIME_INDEX, TRANSACTION_INDEX, Naming

_INDEXES = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)
REPAIRED = ".repaired"
"""The file that a repair has written to take another's place."""
GONE = ".gone"
"""Beside a file whose place nothing takes."""
REPLACED = ".replaced"
"""A file whose place is taken; all that take one are whole then."""


def finish_interrupted(directory: Directory, naming: Naming, notices: list[str]) -> dict[str, int]:
    """Finish removals and renames; return the remaining files and their sizes.

    Raises OSError.
    """
    files = directory.files()
    if any(name.endswith(REPLACED) for name in files):
        finish_replacing(directory)
        for name in files:
            if name.endswith((OFFSET_INDEX, TIME_INDEX)):  # they are those of the old files
                directory.remove(name)
        files = directory.files()
        notices.append("a repair was killed while it replaced files: ended")
    for name in list(files):
        if name.endswith(CLEANED) and _is_swapped(name, files, naming):
            directory.rename(name, name.removesuffix(CLEANED) + SWAP)
            files[name.removesuffix(CLEANED) + SWAP] = files.pop(name)
        elif name.endswith((DELETED, CLEANED)):
            directory.remove(name)
            del files[name]
    swaps = [name for name in files if name.endswith(SWAP)]
    for swap in swaps:
        parsed = naming.parse_file(swap)
        if parsed is None or parsed[1] != naming.log_suffix + SWAP:
            continue
        base = parsed[0]
        end = _end_offset(directory.file(swap), files[swap], base)
        for name in list(files):
            other = naming.parse_file(name)
            if (
                other
                and other[1] in (naming.log_suffix, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)
                and base <= other[0] < end
            ):
                directory.remove(name)
                del files[name]
        notices.append(f"{swap}: renamed to replace the segments it was written from")
    for swap in swaps:
        name = swap.removesuffix(SWAP)
        directory.rename(swap, name)
        files[name] = files.pop(swap)
    return files


def finish_replacing(directory: Directory) -> None:
    """Give the `.repaired` files their names, and remove what they replace. Raises OSError."""
    for name in directory.names():
        final = name.removesuffix(REPAIRED).removesuffix(GONE)
        if final != name and directory.exists(final):
            directory.rename(final, final + REPLACED)
        if name.endswith(REPAIRED):
            directory.rename(name, final)
    directory.sync()
    for suffix in (GONE, REPLACED):  # while one of these is there, it is not ended
        for name in directory.names():
            if name.endswith(suffix):
                directory.remove(name)


def _is_swapped(name: str, files: dict[str, int], naming: Naming) -> bool:
    """Whether the `.log` of this `.cleaned` file is a `.swap` already: then it was complete."""
    parsed = naming.parse_file(name)
    return parsed is not None and naming.log(parsed[0]) + SWAP in files


def _end_offset(file: File, size: int, base: int) -> int:
    """The offset after the last batch of a file; at least `base` + 1."""
    end = base + 1
    try:
        for _, header, _, _ in walk_batches(file, 0, size):
            end = max(end, header.last_offset + 1)
    except WireError:
        return end
    finally:
        file.close()
    return end
