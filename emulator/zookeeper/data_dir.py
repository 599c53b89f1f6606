"""A ZooKeeper's dataDir in use: nobody else's meanwhile, and it has at any time what was answered.

Each transaction is in the log before it is answered; at the first start and at each stop there is a
snapshot. Where the log cannot be written (a full disk, say), that is logged, and the next
transaction begins with a snapshot of everything. Old snapshots and logs stay, as in a ZooKeeper
without `autopurge`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ...storage import Directory
from ...storage.disk.directory import Locked
from ..base.logger import log
from .files import DirectoryError, home_of, load, save
from .transactions import TransactionLog
from .tree import Delete, Step, Transaction, Tree

LOCK = ".lock"


class DataDir:
    """Opened: `tree` has the nodes that it has kept, None if it has never kept any. `now` is in ms.
    Raises DirectoryError if it is another one's, cannot be read or written, or is in use."""

    def __init__(self, directory: Path, now: Callable[[], int]) -> None:
        self._directory, self._now = directory, now
        try:
            self._home = home_of(directory)
            home = Directory(str(self._home))
            home.make()
            self._lock = home.lock(LOCK)
        except Locked:
            raise DirectoryError(f"{directory} is in use by another ZooKeeper") from None
        except OSError as error:
            raise DirectoryError(f"{directory} cannot be used: {error}") from error
        try:
            self.tree = load(directory, now)
        except BaseException:
            self._lock.release()
            raise
        self._log = TransactionLog(self._home)
        self._followed: Tree | None = None
        self._is_behind = self._is_closed = False

    def follow(self, tree: Tree) -> None:
        """Keep what this tree, which began with the nodes that there were, does from now on. Raises
        OSError."""
        if self.tree is None:
            save(tree, self._directory)  # ZooKeeper refuses logs without one
        self._followed = tree
        lost = [] if self.tree is None else self.tree.lost
        if lost:  # which the logs still have
            steps = [Step(Delete(path)) for path in lost]
            tree.zxid += 1
            self._append(Transaction(tree.zxid, 0, self._now(), steps))
        tree.logged = self._append

    def close(self) -> None:
        """Write a snapshot of the tree, the sessions' nodes gone, and unlock it."""
        if self._is_closed:
            return
        self._is_closed = True
        tree = self._followed
        if tree is not None:
            for session in [*tree.owned]:
                tree.end_session(session)
            tree.logged = None
            self._save(tree)
        with suppress(OSError):  # it was logged
            self._log.close()
        self._lock.release()

    def _append(self, transaction: Transaction) -> None:
        if self._is_behind:
            assert self._followed is not None
            self._save(self._followed)
            return
        try:
            self._log.append(transaction)
        except OSError as error:
            log.error("ZooKeeper: a transaction is not kept in %s: %s", self._directory, error)
            self._begin_anew()

    def _save(self, tree: Tree) -> None:
        try:
            save(tree, self._directory)
        except OSError as error:
            log.error("ZooKeeper: no snapshot is written in %s: %s", self._directory, error)
        else:
            self._is_behind = False

    def _begin_anew(self) -> None:
        """What comes next is in a snapshot, and then in another log."""
        self._is_behind = True
        with suppress(OSError):
            self._log.close()
        self._log = TransactionLog(self._home)
