"""Watches: who wants to hear once of the next change of a node's data, or of its children.

- An `exists` on a node that is not there waits among those of data.
- One that rings is gone. A connection that watches both data and children of a node that is deleted
  hears of it once.
- Bounded: a connection that sets more than MOST watches is closed by who asks `add`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from .tree import Change, Event, parent_of

MOST = 100_000
"""Watches of one connection."""


class Watcher(Protocol):
    watching: set[tuple[bool, str]]
    """Whether for children, and the path."""

    def notify(self, event: Event, path: str) -> None:
        """Tell it."""


class Watches:
    def __init__(self) -> None:
        self.data: dict[str, dict[Watcher, None]] = {}
        self.child: dict[str, dict[Watcher, None]] = {}

    def add(self, path: str, watcher: Watcher, *, is_child: bool = False) -> bool:
        """Returns False if the watcher has too many."""
        self._of(is_child).setdefault(path, {})[watcher] = None
        watcher.watching.add((is_child, path))
        return len(watcher.watching) <= MOST

    def has(self, path: str, watcher: Watcher, *, is_child: bool) -> bool:
        return watcher in self._of(is_child).get(path, ())

    def remove(self, path: str, watcher: Watcher, *, is_child: bool) -> None:
        table = self._of(is_child)
        watchers = table.get(path, {})
        watchers.pop(watcher, None)
        if not watchers:
            table.pop(path, None)
        watcher.watching.discard((is_child, path))

    def forget(self, watcher: Watcher) -> None:
        for is_child, path in [*watcher.watching]:
            self.remove(path, watcher, is_child=is_child)

    def tell(self, changes: Sequence[Change]) -> None:
        """Ring those of what has changed."""
        for event, path in changes:
            notified = self._ring(self.data, path, event, ())
            if event is Event.DELETED:
                self._ring(self.child, path, event, notified)
            if event is not Event.DATA_CHANGED:
                self._ring(self.child, parent_of(path), Event.CHILDREN_CHANGED, ())

    def _of(self, is_child: bool) -> dict[str, dict[Watcher, None]]:
        return self.child if is_child else self.data

    def _ring(
        self,
        table: dict[str, dict[Watcher, None]],
        path: str,
        event: Event,
        notified: Iterable[Watcher],
    ) -> Iterable[Watcher]:
        watchers = table.pop(path, {})
        is_child = table is self.child
        for watcher in watchers:
            watcher.watching.discard((is_child, path))
            if watcher not in notified:
                watcher.notify(event, path)
        return watchers
