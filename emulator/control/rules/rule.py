"""Rule: one sentence of a test, set in the broker, and what came of it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ....wire import Request
from ...base.chain import Route
from ...base.never_matched import TestFault
from .apis import name_of
from .asked_for import asked_for
from .counting import Count, Counting
from .narrowing import Narrowing

if TYPE_CHECKING:
    from .interception import Interception
    from .verbs.verb import Verb

MOST_REQUESTS = 100
"""So many of the last requests are kept; each may have a megabyte of records."""
_MOST_NEAR = 100


class Rule(TestFault):
    """A rule. Everything but its numbers is the broker's thread's."""

    def __init__(
        self,
        sentence: str,
        narrowing: Narrowing,
        counting: Counting,
        verb: Verb,
        *,
        is_optional: bool = False,
    ) -> None:
        super().__init__(sentence, is_optional=is_optional)
        self.narrowing = narrowing
        self.counting = counting
        self.verb = verb
        verb.rule = self
        self.count = Count(counting, 0)
        self.requests: deque[Request] = deque(maxlen=MOST_REQUESTS)
        self.near: Counter[tuple[str, ...]] = Counter()
        """Why requests of its API were not meant, and how many."""
        self.expected = 0
        """Requests that match, where it is the answer that counts."""
        self._others: Counter[int] = Counter()
        self._routes: Mapping[int, Route] = {}
        self._before: dict[int, int] = {}

    @property
    def hits(self) -> int:
        """For how many requests it took effect."""
        return self.count.hits

    def begin(self, now: int) -> None:
        """It is set."""
        self.count = Count(self.counting, now)

    @property
    def others(self) -> Counter[int]:
        """Requests of other APIs that came meanwhile, by their keys."""
        found = self._others.copy()
        for key, route in self._routes.items():
            found[key] += route.requests - self._before.get(key, 0)
        del found[self.narrowing.request.api_key]
        return +found

    def follow(self, routes: Mapping[int, Route]) -> None:
        """Count the requests that come by these from now on, and no more by others."""
        self._others = self.others
        self._routes = routes
        self._before = {key: route.requests for key, route in routes.items()}

    def is_over(self, now: int) -> bool:
        """Whether it never takes effect again."""
        try:
            return self.count.is_over(now)
        except Exception as error:
            self.failed(error)
            return True

    def takes(self, meeting: Interception) -> bool:
        """Whether it takes effect for a request, which counts then."""
        call, rules = meeting.call, meeting.rules
        try:
            found = asked_for(rules, call, meeting.request)
            different = self.narrowing.differences(call, meeting.request, found)
            if not different:
                different = self.verb.no_place(meeting)
            if different:
                self._nearly(different)
                return False
            if self.verb.is_late:
                self.expected += 1
                return True
            return self.counts(meeting, meeting.request)
        except Exception as error:
            self.failed(error)
            return False

    def counts(self, meeting: Interception, request: Request) -> bool:
        """Whether a request that matches is one of those for which it takes effect; counts it."""
        rules = meeting.rules
        if not self.count.takes(rules.now()):
            return False
        self.requests.append(request)
        rules.tell(self, meeting.call)
        if self.count.is_over(rules.now()):
            rules.retire(self)
        return True

    def passed_by(self, meeting: Interception, other: Rule) -> None:
        """Another rule has ended the request before this one was asked."""
        call, request = meeting.call, meeting.request
        try:
            found = asked_for(meeting.rules, call, request)
            if not self.narrowing.differences(call, request, found):
                self._nearly([f"{other.sentence} came first"])
        except Exception as error:
            self.failed(error)

    def _nearly(self, different: list[str]) -> None:
        key = tuple(different)
        if key in self.near or len(self.near) < _MOST_NEAR:
            self.near[key] += 1

    @property
    def api(self) -> str:
        """As in "Produce"."""
        return name_of(self.narrowing.request)
