"""The broker's disk, as a test makes it fail."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from types import TracebackType
from typing import Any, Self

from .. import parameters
from ..base.fitting import fits
from ..base.never_matched import KNOWN, NeverMatched
from ..control.disk_rules import OPERATIONS, Counted, DiskRule, DiskRules, Failure, Place
from ..seen import TopicView
from .facet import Facet


class DiskFault:
    """A rule that was set: it lasts until `remove` (or `heal`, which is the same), or until the end
    of its `with` block. One that never took effect fails the test, unless it is `optional`."""

    def __init__(self, disk: Disk, rule: DiskRule) -> None:
        self._disk = disk
        self._rule = rule

    def __repr__(self) -> str:
        return self._rule.sentence

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Raises NeverMatched if it never took effect, unless something else is raised."""
        self.remove()
        if error is None:
            self._disk.check([self._rule])
        self._rule.is_checked = True

    @property
    def hits(self) -> int:
        """For how many operations it took effect."""
        return self._rule.hits

    def remove(self) -> None:
        """End it. What it has done stays."""
        self._disk.remove(self._rule)

    heal = remove

    def optional(self) -> Self:
        """It may be that it never takes effect."""
        self._rule.is_optional = True
        return self


class Operations:
    """Operations on files, as far as they are meant. Nothing is set before a verb was called."""

    def __init__(
        self, disk: Disk, sentence: str, place: Place, counted: Counted | None = None
    ) -> None:
        self._disk = disk
        self._sentence = sentence
        self._place = place
        self._said = counted or Counted()

    def __repr__(self) -> str:
        return self._sentence

    # How often

    def once(self) -> Operations:
        """Only for the first of them."""
        return self._counted("once()", times=1)

    def times(self, count: int) -> Operations:
        """Only for so many of them, from the first on."""
        return self._counted(f"times({count})", times=_whole("times", count, 1))

    def after(self, count: int) -> Operations:
        """So many of them succeed first."""
        return self._counted(f"after({count})", after=_whole("after", count, 0))

    def every(self, count: int) -> Operations:
        """For each so-manieth of them: with 3, the third, the sixth, ..."""
        return self._counted(f"every({count})", every=_whole("every", count, 1))

    def with_probability(self, probability: float, seed: int = 0) -> Operations:
        """For some of them, by chance; the same seed makes the same choices."""
        if _number("probability", probability) > 1:
            raise ValueError(f"probability is a number from 0 to 1, not {probability}")
        said = f"with_probability({probability}, seed={seed})"
        return self._counted(said, probability=probability, seed=_whole("seed", seed, 0))

    def _counted(self, said: str, **counted: Any) -> Operations:
        new = replace(self._said, **counted)
        return Operations(self._disk, f"{self._sentence}.{said}", self._place, new)

    # What happens then

    def fail(self, code: int = errno.EIO) -> DiskFault:
        """They fail with this errno: errno.EIO, errno.ENOSPC, errno.EACCES, ..."""
        if code not in errno.errorcode:
            raise ValueError(f"there is no errno {code!r}")
        said = "" if code == errno.EIO else f"errno.{errno.errorcode[code]}"
        return self._set(f"fail({said})", Failure(code))

    def delay(self, seconds: float) -> DiskFault:
        """They take so many real seconds longer. The broker waits with whatever thread it is: one
        thread serves all clients, and another one syncs."""
        return self._set(f"delay({seconds})", Failure(seconds=_number("seconds", seconds)))

    def torn(self, keep: int = 1) -> DiskFault:
        """Writes fail with errno.EIO when only their first `keep` bytes are done. Raises ValueError
        for other operations."""
        if self._place.operation not in ("append", "write"):
            raise ValueError(f"only an append or a write is torn, not a {self._place.operation}")
        return self._set(f"torn({keep})", Failure(errno.EIO, keep=_whole("keep", keep, 1)))

    def _set(self, said: str, failure: Failure) -> DiskFault:
        rule = DiskRule(f"{self._sentence}.{said}", [self._place], self._said, failure)
        return self._disk.add(rule)


class Disk:
    """The disk of a broker, in memory or not."""

    def __init__(self, rules: DiskRules) -> None:
        KNOWN.add(self)
        self._rules = rules
        self._set: list[DiskRule] = []

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
            _whole("partition", partition, 0)
        name = topic.name if isinstance(topic, TopicView) else topic
        takes: Callable[[str], bool] | None = None if name is None else lambda it: fits(name, it)
        given = {"topic": name, "partition": partition, "file": file}
        said = [repr(operation), *(f"{k}={v!r}" for k, v in given.items() if v is not None)]
        place = Place(operation, takes, partition, file)
        return Operations(self, f"kafka.disk.on({', '.join(said)})", place)

    def full(self, *, after_bytes: int = 0) -> DiskFault:
        """The disk is full once so many bytes more were written, until this is removed: what needs
        room then fails with errno.ENOSPC, a write perhaps half done."""
        said = f"after_bytes={after_bytes}" if after_bytes else ""
        failure = Failure(errno.ENOSPC, room=_whole("after_bytes", after_bytes, 0))
        places = [Place("write"), Place("create")]
        return self.add(DiskRule(f"kafka.disk.full({said})", places, Counted(), failure))

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

    def check(self, rules: list[DiskRule] | None = None) -> None:
        """Raises NeverMatched for a rule that never took effect, by default for any; each once."""
        for rule in self._set if rules is None else rules:
            if not (rule.hits or rule.is_optional or rule.is_checked):
                rule.is_checked = True
                matched = f"it matched {rule.matched} operations" if rule.matched else "none came"
                text = f"{rule.sentence} never took effect: {matched}."
                raise NeverMatched(f"{text} If that may be so: .optional()")

    def excuse(self) -> None:
        """The test has failed: it is not told of rules that never took effect."""
        for rule in self._set:
            rule.is_checked = True

    def forget(self) -> None:
        """The broker is as new: no rule was ever set."""
        self._rules.clear()
        self._set.clear()


class DiskFaults(Facet):
    """Faults of the disk."""

    _disk_faults: Disk

    @property
    def disk(self) -> Disk:
        """How its disk fails: `kafka.disk.on("append").once().fail()`."""
        return self._disk_faults


def _whole(name: str, given: int, least: int) -> int:
    if not isinstance(given, int) or isinstance(given, bool):
        raise TypeError(f"{name} is a whole number, not {given!r}")
    if given < least:
        raise ValueError(f"{name} is a whole number from {least} on, not {given}")
    return given


def _number(name: str, given: float) -> float:
    if not isinstance(given, int | float) or isinstance(given, bool):
        raise TypeError(f"{name} is a number, not {given!r}")
    if not isfinite(given) or given < 0:
        raise ValueError(f"{name} is a number from 0 on, not {given}")
    return float(given)
