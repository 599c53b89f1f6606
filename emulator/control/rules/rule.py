"""Rule: one sentence of a test, set in the broker, and what came of it.

What a request asks for, by entries: a fetch also for what is in its session.

The report of a rule that never took effect.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from ....wire import NO_ID, Request
from ....wire.api import request_class
from ....wire.api.fetch import FetchRequest
from ....wire.api.share_fetch import ShareFetchRequest
from ...base.call import Call
from ...base.chain import Route
from ...base.never_matched import TestFault
from ...base.words import number_of
from ...division.entries import Entry, entries, own_values
from ...division.places import PARTITION, TOPIC
from ...partitions.fetch_sessions import Wanted
from ...share.share_partition_manager import ShareSessionKey, TopicIdPartition
from ..request_matcher import RequestMatcher, name_of
from .counting import Count, Counting
from .rules import Rules

if TYPE_CHECKING:
    from .interception import Interception
    from .verb import Verb


def asked_for(rules: Rules, call: Call, request: Request) -> Iterable[Entry]:
    """What a request asks for; a fetch also for what is in its session."""
    found = entries(request, call.version, rules.topic_name)
    if isinstance(request, FetchRequest) and request.session_epoch > 0:
        return chain(found, (_entry_of(rules, each) for each in _session(rules, call, request)))
    if isinstance(request, ShareFetchRequest) and request.share_session_epoch > 0:
        return chain(found, _share_session(rules, call, request))
    return found


def _share_session(rules: Rules, call: Call, request: ShareFetchRequest) -> Iterator[Entry]:
    """What a share fetch asks for without naming it."""
    key = ShareSessionKey(request.group_id or "", request.member_id or "")
    session = rules.cluster.share_partition_managers.at(call.node_id).sessions.find(key)
    own = own_values(request, call.version)
    forgotten = {
        TopicIdPartition(topic.topic_id, index)
        for topic in request.forgotten_topics_data
        for index in topic.partitions
    }
    for part in [] if session is None else session.parts:
        if part not in forgotten:
            name = rules.topic_name(part.topic_id)
            yield {**own, TOPIC: name, PARTITION: part.partition}


def _session(rules: Rules, call: Call, request: FetchRequest) -> Iterator[Wanted]:
    """What a fetch asks for without naming it."""
    sessions = rules.cluster.brokers[call.node_id].fetch_sessions
    forgotten = {
        (topic.topic_id, topic.topic, index)
        for topic in request.forgotten_topics_data
        for index in topic.partitions
    }
    for wanted in sessions.wanted(request.session_id):
        topic = wanted.topic
        if (topic.topic_id, topic.name, wanted.partition) not in forgotten:
            yield wanted


def _entry_of(rules: Rules, wanted: Wanted) -> Entry:
    """A partition of a fetch session as an entry."""
    topic = wanted.topic
    name = topic.name if topic.topic_id == NO_ID else rules.topic_name(topic.topic_id)
    return {TOPIC: name, PARTITION: wanted.partition}


MOST_REQUESTS = 100
"""So many of the last requests are kept; each may have a megabyte of records."""
_MOST_NEAR = 100


class Rule(TestFault):
    """A rule. Everything but its numbers is the broker's thread's."""

    def __init__(
        self,
        sentence: str,
        matcher: RequestMatcher,
        counting: Counting,
        verb: Verb,
        *,
        is_optional: bool = False,
    ) -> None:
        super().__init__(sentence, is_optional=is_optional)
        self.matcher = matcher
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
        return self.count.hits

    def begin(self, now: int) -> None:
        self.count = Count(self.counting, now)

    @property
    def others(self) -> Counter[int]:
        """Requests of other APIs that came meanwhile, by their keys."""
        found = self._others.copy()
        for key, route in self._routes.items():
            found[key] += route.requests - self._before.get(key, 0)
        del found[self.matcher.request.api_key]
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
            different = self.matcher.differences(call, meeting.request, found)
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
            if not self.matcher.differences(call, request, found):
                self._nearly([f"{other.sentence} came first"])
        except Exception as error:
            self.failed(error)

    def _nearly(self, different: list[str]) -> None:
        key = tuple(different)
        if key in self.near or len(self.near) < _MOST_NEAR:
            self.near[key] += 1

    @property
    def api(self) -> str:
        return name_of(self.matcher.request)


_NEAREST = 3


def never_matched(rule: Rule) -> str:
    """A rule, or those of its situation, has not taken effect: what came nearest to it, in
    sentences."""
    lines = [f"{rule.sentence} never took effect."]
    rules = [each for each in rule.together if isinstance(each, Rule)]
    came = [each for each in rules if each.count.matched or each.expected or each.near]
    for each in came or rules[:1]:
        lines += _nearest(each)
    if not came and len(rules) > 1:
        others = ", ".join(each.api for each in rules[1:])
        lines.append(f"  Nor was there a request of {others}.")
    return "\n".join(lines)


def _nearest(rule: Rule) -> list[str]:
    lines: list[str] = []
    matched, seen = rule.count.matched, rule.near.total()
    if matched:
        lines.append(f"  It matched {number_of(matched, 'request')}, but counted none of them.")
    elif rule.expected:
        requests = number_of(rule.expected, "request")
        lines.append(f"  It matched {requests}, without an answer that it could do something to.")
    elif not seen:
        lines.append(f"  There was no {rule.api} request{_others(rule)}.")
    if seen:
        were = "was" if seen == 1 else "were"
        others = number_of(seen, f"other {rule.api} request")
        lines.append(f"  There {were} {others}; the nearest:")
        near = sorted(rule.near.items(), key=lambda each: (len(each[0]), -each[1]))
        for different, count in near[:_NEAREST]:
            times = f" ({count} times)" if count > 1 else ""
            lines.append(f"    {', '.join(different)}{times}")
    return lines


def _others(rule: Rule) -> str:
    if not rule.others:
        return ", nor any other"
    named = [
        f"{name_of(request_class(key))} ({count})" for key, count in rule.others.most_common(5)
    ]
    return f"; there were {', '.join(named)}"
