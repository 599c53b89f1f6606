"""The broker's disk, as a test makes it fail."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

from .. import parameters
from ..base.fitting import fits
from ..base.never_matched import KNOWN
from ..base.words import Guessable, number_of
from ..control.disk_rules import OPERATIONS, DiskRule, DiskRules, Failure, Place
from ..control.rules.checks import a_time, a_whole_number
from ..control.rules.counting import Counting
from .facet import Facet
from .fault_view import FaultView
from .how_often import HowOften, goes_on


class DiskFault(FaultView):
    """A rule on the disk."""


class Operations(HowOften):
    """Operations on files, as far as they are meant. Nothing is set before a verb was called."""

    def __init__(self, disk: Disk, sentence: str, place: Place) -> None:
        super().__init__(sentence, disk.unfinished)
        self._disk = disk
        self._place = place

    @goes_on
    def fail(self, code: int = errno.EIO) -> DiskFault:
        """They fail with this errno: errno.EIO, errno.ENOSPC, errno.EACCES, ..."""
        if code not in errno.errorcode:
            raise ValueError(f"there is no errno {code!r}")
        said = "" if code == errno.EIO else f"errno.{errno.errorcode[code]}"
        return self._set(f"fail({said})", Failure(code))

    @goes_on
    def delay(self, seconds: float) -> DiskFault:
        """They take so many real seconds longer. The broker waits with whatever thread it is: one
        thread serves all clients, and another one syncs."""
        return self._set(f"delay({seconds})", Failure(seconds=a_time("seconds", seconds)))

    @goes_on
    def torn(self, keep: int = 1) -> DiskFault:
        """Writes fail with errno.EIO when only their first `keep` bytes are done. Raises ValueError
        for other operations."""
        if self._place.operation not in ("append", "write"):
            raise ValueError(f"only an append or a write is torn, not a {self._place.operation}")
        return self._set(f"torn({keep})", Failure(errno.EIO, keep=a_whole_number("keep", keep)))

    def _set(self, said: str, failure: Failure) -> DiskFault:
        rule = DiskRule(
            *(f"{self._sentence}.{said}", [self._place], self._counting, failure),
            is_optional=self._is_optional,
        )
        return self._disk.add(rule)


class Disk(Guessable):
    """The disk of a broker, in memory or not."""

    def __init__(self, rules: DiskRules) -> None:
        KNOWN.add(self)
        self._rules = rules
        self._set: list[DiskRule] = []
        self.unfinished: list[str] = []
        """Sentences that were given up before they had a verb."""

    @property
    def faults(self) -> list[DiskFault]:
        """Those that were set since the start or the last `reset`, in this order."""
        return [DiskFault(self, each) for each in self._set]

    def on(
        self,
        operation: str,
        *,
        topic: Any = None,
        partition: int | None = None,
        file: str | None = None,
    ) -> Operations:
        """Operations on files:

            kafka.disk.on("append", topic="orders").once().fail()

        operation   "append" (records to a segment), "write" (any bytes to any file), "read",
                    "sync", "create", "rename", "delete", "list"
        topic       whose file it is: a name, a view, or a matcher as for records
        partition   its number
        file        a pattern of the file's name, as "*.index"

        Raises ValueError, TypeError.
        """
        parameters.one_of("operation", operation, OPERATIONS)
        if partition is not None:
            a_whole_number("partition", partition, least=0)
        name = topic if topic is None or isinstance(topic, str) else topic.name
        takes: Callable[[str], bool] | None = None if name is None else lambda it: fits(name, it)
        given = {"topic": name, "partition": partition, "file": file}
        said = [repr(operation), *(f"{k}={v!r}" for k, v in given.items() if v is not None)]
        place = Place(operation, takes, partition, file)
        return Operations(self, f"kafka.disk.on({', '.join(said)})", place)

    def full(
        self, *, after_bytes: int = 0, seconds: float | None = None, spares_test: bool = False
    ) -> DiskFault:
        """The disk is full once so many bytes more were written, until this is removed, or for so
        many seconds of the broker's clock from now on: what needs room then fails with
        errno.ENOSPC, a write perhaps half done. With `spares_test` there is room for what the test
        does itself, without a client."""
        words = [f"after_bytes={after_bytes}"] if after_bytes else []
        words += [] if seconds is None else [f"seconds={seconds}"]
        words += ["spares_test=True"] if spares_test else []
        during_ms = None if seconds is None else a_time("seconds", seconds) * 1000
        failure = Failure(errno.ENOSPC, room=a_whole_number("after_bytes", after_bytes, least=0))
        places = [Place("write"), Place("create")]
        sentence = f"kafka.disk.full({', '.join(words)})"
        counting = Counting(during_ms=during_ms)
        return self.add(DiskRule(sentence, places, counting, failure, spares_test=spares_test))

    def heal(self) -> None:
        """End every rule. What was done stays: a log whose sync has failed takes no more records
        until a restart, as Kafka's."""
        self._rules.clear()

    # Within

    def add(self, rule: DiskRule) -> DiskFault:
        """Called by operations."""
        self._rules.set(rule)
        self._set.append(rule)
        return DiskFault(self, rule)

    def remove(self, rule: DiskRule) -> None:
        """Called by faults."""
        self._rules.remove(rule)

    def forget(self, rule: DiskRule) -> None:
        """Know nothing more of a rule that has ended."""
        if rule in self._set:
            self._set.remove(rule)

    def never(self, rule: DiskRule) -> str:
        """It never took effect: what came instead."""
        matched = (
            f"it matched {number_of(rule.matched, 'operation')}" if rule.matched else "none came"
        )
        return f"{rule.sentence} never took effect: {matched}. If that may be so: .optional()"

    def excuse(self) -> None:
        """The test has failed: it is not told of rules that never took effect."""
        self.unfinished.clear()
        for rule in self._set:
            rule.is_checked = True

    def forget_all(self) -> None:
        """The broker is as new: no rule was ever set."""
        self._rules.clear()
        self._set.clear()
        self.unfinished.clear()


class DiskFaults(Facet):
    """Faults of the disk."""

    _disk_faults: Disk

    @property
    def disk(self) -> Disk:
        """How its disk fails: `kafka.disk.on("append").once().fail()`."""
        return self._disk_faults
