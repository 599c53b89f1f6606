"""FaultView: a rule or a fault that a test has set, as the test sees it."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any, Protocol, Self

from .. import parameters
from ..base.never_matched import NeverMatched, Standing


class Holder(Protocol):
    """Where it was set."""

    def remove(self, fault: Any) -> None:
        """End it."""

    def forget(self, fault: Any) -> None:
        """Know nothing more of it."""

    def never(self, fault: Any) -> str:
        """It never took effect: what came instead."""
        ...


class FaultView:
    """It lasts until `remove` (or `heal`, which is the same), or until the end of its `with` block.
    One that never took effect fails the test, unless it is `optional`. `str` is the sentence that
    made it."""

    def __init__(self, holder: Holder, fault: Standing) -> None:
        self._holder = holder
        self._fault = fault

    def __repr__(self) -> str:
        return self._fault.sentence

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FaultView) and other._fault is self._fault

    def __hash__(self) -> int:
        return hash(self._fault)

    @property
    def hits(self) -> int:
        """How often it took effect: for requests, operations or connections."""
        return self._fault.hits

    def optional(self) -> Self:
        """It is no failure of the test if it never takes effect."""
        self._fault.is_optional = True
        return self

    def called(self, name: str) -> Self:
        """Be shown by this name, in messages and in the timeline, instead of as a sentence."""
        self._fault.sentence = parameters.words(name, "name")
        return self

    def remove(self) -> None:
        """End it, and let go on what it holds. What it has done stays, numbers too. Does nothing if
        it has ended."""
        self._holder.remove(self._fault)

    def heal(self) -> None:
        """The same as `remove`."""
        self.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Raises NeverMatched if it has never taken effect, unless something else is raised."""
        __tracebackhide__ = True
        self.remove()
        if error is None:
            check([self])
        self._fault.is_checked = True

    def _forget(self) -> None:
        self.remove()
        self._holder.forget(self._fault)


def check(these: Iterable[FaultView], unfinished: Iterable[str] = ()) -> None:
    """Each is told of once, with sentences that had no verb. Raises NeverMatched for what never
    took effect; what a function has raised that was given to a rule."""
    __tracebackhide__ = True
    lines = [f"{each} has no verb: nothing was set." for each in unfinished]
    for each in these:
        fault = each._fault
        if fault.is_checked:
            continue
        fault.is_checked = True
        if fault.failure is not None:
            fault.failure.add_note(f"raised within {fault.sentence}")
            raise fault.failure
        if fault.is_optional or any(part.hits for part in fault.together):
            continue
        for part in fault.together:  # they are told of once
            part.is_checked = part.failure is None
        lines.append(each._holder.never(fault))
    if lines:
        raise NeverMatched("\n".join(lines))
