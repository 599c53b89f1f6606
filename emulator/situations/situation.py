"""Situation: one that lasts, made of rules and faults, as a test holds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Protocol, Self

from ..base.fitting import told
from ..base.words import number_of
from ..control.rules.told import never_matched
from ..facets.facet import Facet
from ..facets.rule_view import RuleView
from ..seen import GroupView, ShareGroupView, StreamsGroupView, TopicView
from ..seen.waiting import Wait, count_of


class Part(Protocol):
    """A rule, or a fault of the network or the disk."""

    @property
    def hits(self) -> int: ...

    def remove(self) -> None: ...

    def called(self, name: str) -> Any: ...

    def optional(self) -> Any: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


class Situation:
    """It lasts until its time is over, until `remove`, or until the end of its `with` block. One
    that no client has met fails the test, unless it is `optional`. `str` is the sentence that made
    it."""

    def __init__(
        self,
        kafka: Facet,
        sentence: str,
        parts: Sequence[Part],
        undo: Callable[[], object] | None = None,
    ) -> None:
        self._kafka = kafka
        self._sentence = sentence
        self._parts = parts
        self._undo = undo
        rules = tuple(each._fault for each in parts if isinstance(each, RuleView))
        for rule in rules:
            rule.together = rules
        for part in parts:
            part.called(sentence)

    def __repr__(self) -> str:
        return self._sentence

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Raises NeverMatched if no client has met it, unless something else is raised."""
        self.remove()
        for part in self._parts:
            part.__exit__(kind, error, traceback)

    @property
    def hits(self) -> int:
        """How many requests have met it; of `slow_broker` how many connections, of `disk_full` how
        many operations of the disk."""
        return sum(each.hits for each in self._parts)

    def remove(self) -> None:
        """End it. What it has done stays."""
        for part in self._parts:
            part.remove()
        undo, self._undo = self._undo, None
        if undo is not None and self._kafka._is_running():
            undo()

    heal = remove

    def optional(self) -> Self:
        """It is no failure of the test if no client meets it."""
        for part in self._parts:
            part.optional()
        return self

    def wait_hit(self, count: int = 1, *, timeout: float | None = None) -> int:
        """Wait until it was met so many times; return how many it were. Raises WaitTimeout."""
        __tracebackhide__ = True
        return self._kafka._inside.wait(self._hit(count), timeout)

    async def await_hit(self, count: int = 1, *, timeout: float | None = None) -> int:
        """`wait_hit` in a coroutine."""
        __tracebackhide__ = True
        return await self._kafka._inside.wait_async(self._hit(count), timeout)

    def _hit(self, count: int) -> Wait[int]:
        wanted = count_of("count", count)

        def look() -> int | None:
            hits = self.hits
            return hits if hits >= wanted else None

        def there() -> str:
            first = self._parts[0]
            if not self.hits and isinstance(first, RuleView):
                rule = first._fault
                return self._kafka.run(lambda _: never_matched(rule))
            return f"It was met {number_of(self.hits, 'time')}."

        return Wait(f"{self} to be met {number_of(wanted, 'time')}", look, there)


def said(verb: str, *given: object, **more: object) -> str:
    """The sentence of a verb with these arguments; those that are None go without saying."""
    arguments = [_written(each) for each in given]
    arguments += [f"{name}={_written(each)}" for name, each in more.items() if each is not None]
    return f"kafka.situations.{verb}({', '.join(arguments)})"


def _written(given: object) -> str:
    if isinstance(given, TopicView):
        return repr(given.name)
    if isinstance(given, GroupView | ShareGroupView | StreamsGroupView):
        return repr(given.group_id)
    return told(given) if callable(given) else repr(given)
