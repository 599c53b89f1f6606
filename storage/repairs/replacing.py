"""Several files in the place of others, so that a repair which is killed can be repeated.

Each new file is first written whole beside the old one, as `<name>.repaired`; `<name>.gone` tells
of an old one that none replaces. Once all are there, the old ones are renamed to `<name>.replaced`,
the new ones get their names, and the old ones are removed. As soon as one `.replaced` is there, all
new ones are whole: the next repair, or a broker that is started before it, ends what was begun
(recovery/unfinished.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..disk.directory import Directory
from ..recovery.unfinished import GONE, REPAIRED, REPLACED, finish_replacing


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
