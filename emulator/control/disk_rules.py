"""Rules on the disk: which operations on files fail, and how.

Storage calls for each operation (storage/disk/watch.py), in the broker's thread, the flusher's or
the cleaner's. Rules are asked in the order in which they were set; the first that takes effect is
the only one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from threading import RLock

from ...storage.disk.watch import Torn, Watch
from ...storage.naming import Naming
from ..base.never_matched import TestFault
from ..base.real_time import sleep
from .rules.counting import Count, Counting

OPERATIONS = ("append", "write", "read", "sync", "create", "rename", "delete", "list")


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure: an error, after a while, with some bytes done."""

    code: int = 0
    """The errno; 0 is none."""
    seconds: float = 0.0
    keep: int | None = None
    """So many bytes of a write are done before it fails."""
    room: int | None = None
    """Writes of so many bytes in all succeed first."""


@dataclass(frozen=True, slots=True)
class Place:
    operation: str
    topic: Callable[[str], bool] | None = None
    partition: int | None = None
    file: str | None = None
    """A pattern of the file's name, as "*.index"."""

    def has(self, operation: str, path: str, size: int, naming: Naming) -> bool:
        above, _, name = path.rpartition("/")
        if operation != self.operation:
            # Of no bytes: it is truncated, as after an append that has failed.
            is_append = operation == "write" and size and name.endswith(naming.log_suffix)
            if not (self.operation == "append" and is_append):
                return False
        if self.file is not None and not fnmatchcase(name, self.file):
            return False
        if self.topic is None and self.partition is None:
            return True
        parsed = naming.parse_directory(above or name)
        if parsed is None:
            return False
        topic, partition = parsed
        is_there = self.partition is None or partition == self.partition
        return is_there and (self.topic is None or self.topic(topic))


class DiskRule(TestFault):
    def __init__(
        self,
        sentence: str,
        places: Iterable[Place],
        counting: Counting,
        what: Failure,
        *,
        is_optional: bool = False,
        spares_test: bool = False,
    ) -> None:
        super().__init__(sentence, is_optional=is_optional)
        self.what = what
        self.spares_test = spares_test
        """It is not for what the test does itself."""
        self._places = tuple(places)
        self._counting = counting
        self._count = Count(counting, 0)
        self._room = what.room

    @property
    def hits(self) -> int:
        return self._count.hits

    @property
    def matched(self) -> int:
        """How many operations were meant, counted or not."""
        return self._count.matched

    def begin(self, now: int) -> None:
        self._count = Count(self._counting, now)

    def takes(self, operation: str, path: str, size: int, naming: Naming, now: int) -> int | None:
        """Whether it takes effect: None, or how many bytes of a write are done."""
        try:
            return self._takes(operation, path, size, naming, now)
        except Exception as error:  # of a function that the test has given
            self.failed(error)
            return None

    def _takes(self, operation: str, path: str, size: int, naming: Naming, now: int) -> int | None:
        if not any(each.has(operation, path, size, naming) for each in self._places):
            return None
        if self._room is not None and self._has_room(operation, size):
            return None
        if not self._count.takes(now):
            return None
        if self._room is not None:
            done, self._room = self._room, 0
            return done
        return min(self.what.keep or 0, size)

    def _has_room(self, operation: str, size: int) -> bool:
        """Whether a full disk has room for this; takes it."""
        assert self._room is not None
        if operation == "write" and size <= self._room:
            self._room -= size
            return True
        return operation != "write" and self._room > 0


class DiskRules:
    """The rules of one broker, over all its runs. `tell` is called with a rule, an operation and a
    path, in any thread; `now` is the broker's time; `test_acts` says whether the broker does now
    what the test asks of it without a client."""

    def __init__(
        self,
        naming: Naming,
        tell: Callable[[DiskRule, str, str], None],
        now: Callable[[], int],
        test_acts: Callable[[], bool] = lambda: False,
    ) -> None:
        self.rules: list[DiskRule] = []
        self.watch = Watch()
        self.root = ""
        """The beginning of the paths in calls."""
        self._looks: Callable[[str, str, int], None] | None = None
        self._naming = naming
        self._tell = tell
        self._now = now
        self._test_acts = test_acts
        self._guard = RLock()

    def set(self, rule: DiskRule) -> None:
        rule.begin(self._now())
        with self._guard:
            self.rules.append(rule)
            self._changed()

    def remove(self, rule: DiskRule) -> None:
        with self._guard:
            if rule in self.rules:
                self.rules.remove(rule)
                self._changed()

    def clear(self) -> None:
        with self._guard:
            self.rules.clear()
            self._changed()

    def watch_by(self, looks: Callable[[str, str, int], None] | None) -> None:
        """Call this with each operation, path and size before any rule is asked; None: nobody."""
        with self._guard:
            self._looks = looks
            self._changed()

    def _changed(self) -> None:
        """Storage tells of its operations only while somebody wants to know."""
        is_wanted = bool(self.rules) or self._looks is not None
        self.watch.observer = self._operation if is_wanted else None

    def _operation(self, operation: str, path: str, size: int) -> None:
        relative = path.removeprefix(self.root).lstrip("/")
        if (looks := self._looks) is not None:
            looks(operation, relative, size)
        with self._guard:
            found = self._asked(operation, relative, size)
        if found is not None:
            rule, done = found
            self._tell(rule, operation, relative)
            _carry_out(rule.what, done, path)

    def _asked(self, operation: str, path: str, size: int) -> tuple[DiskRule, int] | None:
        now = self._now()
        for rule in self.rules:
            if rule.spares_test and self._test_acts():
                continue
            done = rule.takes(operation, path, size, self._naming, now)
            if done is not None:
                return rule, done
        return None


def _carry_out(failure: Failure, done: int, path: str) -> None:
    if failure.seconds:
        sleep(failure.seconds)
    if failure.code:
        kind = Torn if done else OSError
        error = kind(failure.code, os.strerror(failure.code), path)
        if isinstance(error, Torn):
            error.keep = done
        raise error
