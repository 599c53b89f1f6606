"""RuleView: a rule that a test has set, as the test sees it."""

from __future__ import annotations

from ...wire import Request
from .. import seen
from ..base.words import number_of
from ..control.rules.rule import Rule
from ..control.rules.rules import Rules
from ..control.rules.told import never_matched
from ..control.rules.verbs.waiting import Waits
from .facet import Facet
from .fault_view import FaultView


class RuleView(FaultView):
    """A rule."""

    _fault: Rule

    def __init__(self, kafka: Facet, rules: Rules, rule: Rule) -> None:
        super().__init__(_Holder(kafka, rules), rule)
        self._kafka = kafka

    @property
    def requests(self) -> list[Request]:
        """The last ones for which it has taken effect, decoded: 100 at most."""
        return list(self._fault.requests)

    @property
    def held(self) -> int:
        """How many requests or answers wait at it: of `hold` and `delay`."""
        verb = self._fault.verb
        return len(verb.held) if isinstance(verb, Waits) else 0

    def release(self) -> None:
        """Open the gate of `hold`: what is held goes on, in the order in which it came, and what
        comes later does not wait. What is delayed goes on at once."""
        self._kafka.run(lambda _: self._fault.verb.release())

    def wait_hit(self, count: int = 1, *, timeout: float | None = None) -> list[Request]:
        """Wait until it has taken effect so many times; return the requests. Raises
        WaitTimeout."""
        __tracebackhide__ = True
        return self._kafka._inside.wait(self._hit(count), timeout)

    async def await_hit(self, count: int = 1, *, timeout: float | None = None) -> list[Request]:
        """`wait_hit` in a coroutine."""
        __tracebackhide__ = True
        return await self._kafka._inside.wait_async(self._hit(count), timeout)

    def _hit(self, count: int) -> seen.Wait[list[Request]]:
        wanted = seen.count_of("count", count)

        def look() -> list[Request] | None:
            return self.requests if self.hits >= wanted else None

        def there() -> str:
            if not self.hits:
                return self._holder.never(self._fault)
            return f"It has taken effect {number_of(self.hits, 'time')}."

        return seen.Wait(f"{self} to take effect {number_of(wanted, 'time')}", look, there)


class _Holder:
    """The rules of a broker, which are its thread's while it runs."""

    def __init__(self, kafka: Facet, rules: Rules) -> None:
        self._kafka = kafka
        self._rules = rules

    def remove(self, rule: Rule) -> None:
        if self._kafka._is_running():
            self._kafka.run(lambda _: self._rules.remove(rule))
        else:
            self._rules.remove(rule)

    def forget(self, rule: Rule) -> None:
        self._rules.forget(rule)

    def never(self, rule: Rule) -> str:
        if self._kafka._is_running():
            return self._kafka.run(lambda _: never_matched(rule))
        return never_matched(rule)
