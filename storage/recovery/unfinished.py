"""What a stop interrupted in a partition's directory is finished at the next start.

`.deleted` and `.cleaned` files go; a `.log.swap` takes the place of all segments whose base lies in
its range, for it was written from them.
"""

from __future__ import annotations

from ...wire.errors import WireError
from ..batch_walk import walk
from ..disk.directory import Directory, File
from ..naming import CLEANED, DELETED, OFFSET_INDEX, SWAP, TIME_INDEX, TRANSACTION_INDEX, Naming

_INDEXES = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)


def finish_interrupted(directory: Directory, naming: Naming, notices: list[str]) -> dict[str, int]:
    """Remove and rename what a stop left behind; return the files and sizes that are left.

    Raises OSError.
    """
    files = directory.files()
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
        notices.append(f"{swap}: put into its place")
    for swap in swaps:
        name = swap.removesuffix(SWAP)
        directory.rename(swap, name)
        files[name] = files.pop(swap)
    return files


def _is_swapped(name: str, files: dict[str, int], naming: Naming) -> bool:
    """Whether the log beside this `.cleaned` file is a `.swap` already: then it was complete."""
    parsed = naming.parse_file(name)
    return parsed is not None and naming.log(parsed[0]) + SWAP in files


def _end_offset(file: File, size: int, base: int) -> int:
    """The offset behind the last batch of a file; at least the one behind `base`."""
    end = base + 1
    try:
        for _, header, _, _ in walk(file, 0, size):
            end = max(end, header.last_offset + 1)
    except WireError:
        return end
    finally:
        file.close()
    return end
