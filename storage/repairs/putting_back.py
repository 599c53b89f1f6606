"""`odradek repair --put-back`: what repairs have set aside stands in the segments again.

Each piece of a `.damaged` file that has bytes goes to where its offsets belong; a batch that was
mended is as it was before. So a directory is as it was before the repair, damage included: to be
looked at, mended by hand, or repaired by another version. Segments that change lose their indexes,
which the next start builds.

Several files in the place of others, so that a repair which is killed can be repeated.

Each new file is first written whole beside the old one, as `<name>.repaired`; `<name>.gone` tells
of an old one that none replaces. Once all are there, the old ones are renamed to `<name>.replaced`,
the new ones get their names, and the old ones are removed. As soon as one `.replaced` is there, all
new ones are whole: the next repair, or a broker that is started before it, ends what was begun
(recovery/unfinished.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..damage import read_damaged_file
from ..disk.directory import Directory
from ..naming import DAMAGED, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX, Naming
from ..naming_detection import naming_in
from ..recovery.damage_search import DamageSearch
from ..recovery.unfinished import GONE, REPAIRED, REPLACED, finish_replacing
from .arranging import Piece, Planned, Searched
from .partition_check import Finding


def replace_files(files: Directory, names: Sequence[str], gone: Sequence[str]) -> None:
    """Give the `.repaired` files their names; the files `gone` are in none of them. One file takes
    the other's place at once. Raises OSError."""
    if len(names) == 1 and not gone:
        files.rename(names[0] + REPAIRED, names[0])
        return
    for name in gone:
        files.write_atomic(name + GONE, b"")
    for name in [*gone, *names]:
        if files.exists(name):
            files.rename(name, name + REPLACED)
    finish_replacing(files)


def finish_or_forget(files: Directory) -> None:
    """End what a repair that was killed has begun, or forget what it had not. Raises OSError."""
    names = files.names()
    if any(name.endswith(REPLACED) for name in names):
        finish_replacing(files)
        return
    for name in names:
        if name.endswith((REPAIRED, GONE)):
            files.remove(name)


MENDED = "mended"


def put_back(directory: Directory, topics: list[str] | None = None) -> list[Finding]:
    """Put back what was set aside of these topics, or of all. Raises OSError, ValueError for a
    `.damaged` file of something else."""
    naming, found = naming_in(directory), []
    for name in sorted(directory.directories()):
        key = naming.parse_directory(name)
        if key is not None and (topics is None or key[0] in topics):
            home = directory.child(name)
            for aside in sorted(home.files()):
                if aside.endswith(DAMAGED):
                    found += _put_back(home, name, aside, naming)
    return found


def _put_back(home: Directory, partition: str, aside: str, naming: Naming) -> list[Finding]:
    log = aside.removesuffix(DAMAGED)
    parsed = naming.parse_file(log)
    pieces = [each for each in read_damaged_file(home.read_bytes(aside)) if each[1]]
    if not pieces or parsed is None or not home.exists(log):
        return []
    file, size = home.file(log), home.files()[log]
    searched = Searched(log, parsed[0], file)
    parts: list[tuple[int, Piece]] = [
        (header.base_offset, Piece(log, position, position + header.size))
        for position, header, _, _ in DamageSearch("", searched, size, in_order=False).batches()
    ]
    file.close()
    found = []
    for head, data in pieces:
        first, problem = int(str(head["first_offset"])), str(head["problem"])
        new = first, Piece(log, 0, 0, data)
        at = [number for number, (base, _) in enumerate(parts) if base == first]
        if problem.endswith(MENDED) and at:
            parts[at[0]] = new
        else:
            behind = [number for number, (base, _) in enumerate(parts) if base >= first]
            parts.insert(behind[0] if behind else len(parts), new)
        what = f"was set aside: {problem}"
        offsets = f"offsets {first} to {int(str(head['next_offset'])) - 1}"
        lost = "" if head["next_offset"] == first else offsets
        found.append(Finding(partition, log, what, None, lost, "put back"))
    planned = Planned(home, [piece for _, piece in parts])
    home.write_atomic(log + REPAIRED, planned.read(0, planned.size))
    replace_files(home, [log], [])
    for suffix in (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX):
        if home.exists(naming.file(parsed[0], suffix)):
            home.remove(naming.file(parsed[0], suffix))
    home.rename(aside, aside + ".put-back")
    return found
