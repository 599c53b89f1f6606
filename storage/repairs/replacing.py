"""Several files in the place of others, so that a repair which is killed can be repeated.

Each new file is first written whole beside the old one, as `<name>.repaired`. Once all are there,
the old ones are renamed to `<name>.replaced`, the new ones get their names, and the old ones are
removed. As soon as one `.replaced` is there, all new ones are whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..disk.directory import Directory

REPAIRED = ".repaired"
_REPLACED = ".replaced"


def replace_files(files: Directory, names: Sequence[str], gone: Sequence[str]) -> None:
    """Give the `.repaired` files their names; the files `gone` are in none of them. One file takes
    the other's place at once. Raises OSError."""
    if len(names) == 1 and not gone:
        files.rename(names[0] + REPAIRED, names[0])
        return
    for name in [*gone, *names]:
        if files.exists(name):
            files.rename(name, name + _REPLACED)
    _end(files)


def finish_replacing(files: Directory) -> None:
    """End what a repair that was killed has begun, or forget what it had not. Raises OSError."""
    names = files.names()
    if any(name.endswith(_REPLACED) for name in names):
        for name in names:
            new = name.removesuffix(REPAIRED)
            if new != name and files.exists(new):
                files.rename(new, new + _REPLACED)
        _end(files)
        return
    for name in names:
        if name.endswith(REPAIRED):
            files.remove(name)


def _end(files: Directory) -> None:
    for name in files.names():
        if name.endswith(REPAIRED):
            files.rename(name, name.removesuffix(REPAIRED))
    files.sync()
    for name in files.names():
        if name.endswith(_REPLACED):
            files.remove(name)
