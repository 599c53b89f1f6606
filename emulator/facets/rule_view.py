"""RuleView: a rule that a test has set, as the test sees it."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from ...wire import Request
from ..base.words import number_of
from ..control.rules import Rule, Rules, check
from ..control.rules.told import never_matched
from ..control.rules.verbs.waiting import Waits
from ..seen.waiting import Wait, count_of
from .facet import Facet


class RuleView:
    """A rule. `str` is the sentence that made it. At the end of a `with` it is removed."""

    def __init__(self, kafka: Facet, rules: Rules, rule: Rule) -> None:
        self._kafka = kafka
        self._rules = rules
        self._rule = rule

    def __repr__(self) -> str:
        return self._rule.sentence

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleView) and other._rule is self._rule

    def __hash__(self) -> int:
        return hash(self._rule)

    @property
    def hits(self) -> int:
        """For how many requests it has taken effect."""
        return self._rule.hits

    @property
    def requests(self) -> list[Request]:
        """The last of these, decoded: 100 at most."""
        return list(self._rule.requests)

    @property
    def held(self) -> int:
        """How many requests or answers wait at it: of `hold` and `delay`."""
        verb = self._rule.verb
        return len(verb.held) if isinstance(verb, Waits) else 0

    def optional(self) -> Self:
        """It is no failure of the test if it never takes effect."""
        self._rule.is_optional = True
        return self

    def release(self) -> None:
        """Open the gate of `hold`: what is held goes on, in the order in which it came, and what
        comes later does not wait. What is delayed goes on at once."""
        self._kafka.run(lambda _: self._rule.verb.release())

    def remove(self) -> None:
        """Take it away, and let go on what it holds. Numbers and requests stay."""
        if self._kafka._is_running():
            self._kafka.run(lambda _: self._rules.remove(self._rule))
        else:
            self._rules.remove(self._rule)

    def wait_hit(self, count: int = 1, *, timeout: float | None = None) -> list[Request]:
        """Wait until it has taken effect so many times; return the requests. Raises
        WaitTimeout."""
        __tracebackhide__ = True
        return self._kafka._inside.wait(self._hit(count), timeout)

    async def await_hit(self, count: int = 1, *, timeout: float | None = None) -> list[Request]:
        """`wait_hit` in a coroutine."""
        __tracebackhide__ = True
        return await self._kafka._inside.wait_async(self._hit(count), timeout)

    def _hit(self, count: int) -> Wait[list[Request]]:
        wanted = count_of("count", count)

        def look() -> list[Request] | None:
            return self.requests if self.hits >= wanted else None

        def there() -> str:
            if not self.hits:
                return self._kafka.run(lambda _: never_matched(self._rule))
            return f"It has taken effect {number_of(self.hits, 'time')}."

        return Wait(f"{self} to take effect {number_of(wanted, 'time')}", look, there)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Raises NeverMatched if it has never taken effect, unless something else is raised."""
        self.remove()
        if error is None:
            check([self._rule])
        else:
            self._rule.is_checked = True
