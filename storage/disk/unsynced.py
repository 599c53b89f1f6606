"""The contents of a disk after a power cut: files and folders that know what was not synced.

The model, which loses more than any file system in use:

- A write is volatile until a sync of its file that began after it. A power cut keeps any
  combination of the volatile writes: each whole, truncated at any byte, without its beginning, as
  zeros (the size reached the disk, the bytes did not) or not at all, which leaves a hole of zeros
  if a later one is kept.
- Truncations of a file keep their order: if one is lost, what was written after it is lost too.
  (File systems journal sizes in order.)
- New, removed and changed names are volatile until their folder is synced; a sync of the file is
  not enough. Of the changes of one folder a power cut keeps the first few, or all; folders are
  independent of each other. A rename does not wait for what was written to the file: afterwards a
  small file that was replaced without a sync may have its new name and no content.
- A sync that fails makes nothing durable.

To be undone, each volatile change stores what was there before it; so a file that only grows takes
no more memory than its bytes.
Left out: dates, which are durable at once, and damage to what was synced.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple, TypeAlias

from ...wire.primitives import Buffer


class _Change(NamedTuple):
    """`length` bytes were written over `before` at `position`; a length of 0 is a truncation."""

    position: int
    length: int
    before: bytes
    size_before: int


class Content:
    """A file's bytes, and the changes that no sync has covered."""

    __slots__ = ("_unsynced", "data", "modified_ms")

    def __init__(self, modified_ms: int = 0, data: Buffer = b"") -> None:
        self.data = bytearray(data)
        self.modified_ms = modified_ms
        self._unsynced: list[_Change] = []

    def write(self, data: Buffer, position: int) -> None:
        """Write bytes at `position`; a gap before them is filled with zeros."""
        if not len(data):
            return
        size = len(self.data)
        before = b"" if position >= size else bytes(self.data[position : position + len(data)])
        self._unsynced.append(_Change(position, len(data), before, size))
        _put(self.data, data, position)

    def truncate(self, size: int) -> None:
        """Truncate the file to `size` bytes; no effect if it is shorter."""
        if size < len(self.data):
            change = _Change(size, 0, bytes(self.data[size:]), len(self.data))
            self._unsynced.append(change)
            del self.data[size:]

    @property
    def unsynced(self) -> int:
        """How many changes a power cut may undo."""
        return len(self._unsynced)

    def synced(self, changes: int) -> None:
        """The first that many of the unsynced changes are durable now."""
        del self._unsynced[:changes]

    def surviving(self, random: Random | None) -> Content:
        """The file after a power cut; without `random` nothing that was not synced is left."""
        data = bytearray(self.data)
        redo: list[tuple[_Change, bytes]] = []
        for change in reversed(self._unsynced):
            redo.append((change, bytes(data[change.position : change.position + change.length])))
            _undo(data, change)
        if random is not None:
            _redo(data, redo[::-1], random)
        return Content(self.modified_ms, data)

    def copied(self) -> Content:
        """The same file, to be changed independently."""
        copy = Content(self.modified_ms, self.data)
        copy._unsynced = list(self._unsynced)
        return copy


def _put(content: bytearray, data: Buffer, position: int) -> None:
    if position > len(content):
        content += bytes(position - len(content))
    content[position : position + len(data)] = data


def _undo(content: bytearray, change: _Change) -> None:
    del content[change.size_before :]
    content[change.position : change.position + len(change.before)] = change.before


def _redo(content: bytearray, changes: list[tuple[_Change, bytes]], random: Random) -> None:
    """Redo some of the changes, as a power cut leaves them."""
    style = random.choice(("all", "first", "first", "any", "any"))
    kept_first = random.randint(0, len(changes))
    for index, (change, data) in enumerate(changes):
        fate = "kept"
        if style == "any":
            fate = random.choice(("kept", "kept", "head", "tail", "zeros", "lost"))
        elif style == "first" and index >= kept_first:
            fate = "head" if index == kept_first else "lost"
        if change.length == 0:
            if fate == "lost":
                return
            del content[change.position :]
        elif fate == "zeros":
            _put(content, bytes(change.length), change.position)
        elif fate != "lost":
            at = random.randint(0, change.length)
            first = at if fate == "tail" else 0
            end = at if fate == "head" else change.length
            if first < end:
                _put(content, data[first:end], change.position + first)


Node: TypeAlias = "Content | Folder"


class Folder:
    """Names with their files and folders, and the changes that no sync has covered."""

    __slots__ = ("_unsynced", "entries")

    def __init__(self) -> None:
        self.entries: dict[str, Node] = {}
        self._unsynced: list[dict[str, Node | None]] = []

    def change(self, names: dict[str, Node | None]) -> None:
        """Set or remove each of these names, in one step."""
        self._unsynced.append({name: self.entries.get(name) for name in names})
        _enter(self.entries, names)

    @property
    def unsynced(self) -> int:
        """How many changes a power cut may undo."""
        return len(self._unsynced)

    def synced(self, changes: int) -> None:
        """The first that many of the unsynced changes are durable now."""
        del self._unsynced[:changes]

    def sync_all(self) -> None:
        """It is durable with all below it."""
        self.synced(self.unsynced)
        for node in self.entries.values():
            if isinstance(node, Folder):
                node.sync_all()
            else:
                node.synced(node.unsynced)

    def surviving(self, random: Random | None) -> Folder:
        """The folder and all below it after a power cut; `random` as for files."""
        kept = 0 if random is None else random.choice((random.randint(0, self.unsynced), 1 << 62))
        entries = dict(self.entries)
        for before in reversed(self._unsynced[kept:]):
            _enter(entries, before)
        survivor = Folder()
        survivor.entries = {name: node.surviving(random) for name, node in entries.items()}
        return survivor

    def copied(self) -> Folder:
        """The same folder with all below it, to be changed independently."""
        copies: dict[int, Node] = {}  # a node may be in `entries` and in earlier changes

        def copy_of(node: Node | None) -> Node | None:
            if node is None:
                return None
            if id(node) not in copies:
                copies[id(node)] = node.copied()
            return copies[id(node)]

        copy = Folder()
        _enter(copy.entries, {name: copy_of(node) for name, node in self.entries.items()})
        copy._unsynced = [
            {name: copy_of(node) for name, node in before.items()} for before in self._unsynced
        ]
        return copy


def _enter(entries: dict[str, Node], names: dict[str, Node | None]) -> None:
    for name, node in names.items():
        if node is None:
            entries.pop(name, None)
        else:
            entries[name] = node
