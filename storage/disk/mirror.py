"""Directories that share their files: made of hard links, so that megabytes take no time.

Rules:

- A file that is shared never changes: who would write to it or truncate it gives its own name a new
  file first (directory.py), and small files are replaced whole. So the same inode is the same
  content, and what two directories have in common follows from their names and inodes alone.
- Where links are impossible (another file system, or too many links) a file is copied, with
  its date.
- A tree here is what a log directory is: files, and directories of files.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping


def link_image(source: str, files: Mapping[str, Mapping[str, bytes | None]], target: str) -> None:
    """Make the image (image.py) of the directory `source` in the empty directory `target`. Raises
    OSError."""
    made: dict[bytes, str] = {}
    for directory, names in files.items():
        here, there = os.path.join(source, directory), os.path.join(target, directory)
        if directory:
            os.mkdir(there)
        for name, data in names.items():
            path = os.path.join(there, name)
            if data is None:
                _share(os.path.join(here, name), path)
            elif data in made:  # many are alike: empty indexes, say
                _share(made[data], path)
            else:
                made[data] = path
                with open(path, "xb") as file:
                    file.write(data)


def mirror(source: str | None, target: str, *, keep: Collection[str] = ()) -> None:
    """Make `target` have what `source` has (None: nothing), and nothing else but what it is to
    keep at its top. Done again after an interruption, it goes on. Raises OSError."""
    wanted, there = {} if source is None else _entries(source), _entries(target)
    for name in there.keys() - wanted.keys() - set(keep):
        _remove(os.path.join(target, name))
    if source is None:
        return
    same_system = os.stat(source).st_dev == os.stat(target).st_dev
    for name, inode in wanted.items():
        here, path = os.path.join(source, name), os.path.join(target, name)
        if inode is None:
            if there.get(name, inode) is not None:
                os.unlink(path)
            os.makedirs(path, exist_ok=True)
            mirror(here, path)
        elif name not in there or there[name] != inode or not same_system:
            if name in there:
                _remove(path)
            _share(here, path)


def _entries(path: str) -> dict[str, int | None]:
    """The inode of each file by its name; None for a directory."""
    with os.scandir(path) as entries:
        return {
            each.name: None if each.is_dir(follow_symlinks=False) else each.inode()
            for each in entries
        }


def _share(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copy2(source, target)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
