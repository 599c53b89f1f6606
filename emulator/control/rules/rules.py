"""Rules: the step of the chain in which requests meet the rules that a test has set.

It is in the chain only while there are rules. All that happens here happens in the broker's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....wire import Request, Response
from ...base.call import Call
from ...base.chain import Onward, Outcome, Step
from ...base.never_matched import KNOWN
from ...base.timers import Timer

if TYPE_CHECKING:
    from ...cluster import Cluster
    from ...share.state import SharePartitionKey
    from .interception import Interception
    from .rule import Rule


class Rules(Step):
    """The rules of a broker. `all` has those that are over, too."""

    def __init__(self) -> None:
        KNOWN.add(self)
        self.all: list[Rule] = []
        self.unfinished: list[str] = []
        """Sentences that were given up before they had a verb."""
        self._active: list[Rule] = []
        self._meetings: dict[Call, Interception] = {}
        self.poison: dict[SharePartitionKey, set[int]] = {}
        """The offsets that a test has made poison to share groups."""
        self._cluster: Cluster | None = None

    # What is set

    def excuse(self) -> None:
        """Report none of those that never took effect so far."""
        self.unfinished.clear()
        for rule in list(self.all):
            rule.is_checked = True

    def attach(self, cluster: Cluster) -> None:
        """Take effect at a cluster, which has just been opened, and no more at another."""
        self._cluster = cluster
        self._meetings.clear()
        for rule in self._active:
            rule.follow(cluster.chain.routes)
        if self._active:
            cluster.chain.append(self)

    def add(self, rule: Rule) -> None:
        """Set a rule; those set before come first."""
        rule.begin(self.now())
        rule.follow(self.cluster.chain.routes)
        self.all.append(rule)
        self._active.append(rule)
        if self in self.cluster.chain:
            self.cluster.chain.changed()
        else:
            self.cluster.chain.append(self)

    def retire(self, rule: Rule) -> None:
        """A rule never takes effect again; what it holds stays held."""
        if rule not in self._active:
            return
        self._active.remove(rule)
        rule.follow({})
        if self._active:
            self.cluster.chain.changed()
        elif self in self.cluster.chain:
            self.cluster.chain.remove(self)

    def remove(self, rule: Rule) -> None:
        """Take a rule away, and let go on what it holds."""
        self.retire(rule)
        rule.verb.release()

    def forget(self, rule: Rule) -> None:
        if rule in self.all:
            self.all.remove(rule)

    def clear(self) -> None:
        """Forget all rules: what they hold is the matter of whoever ends this cluster."""
        for rule in tuple(self._active):
            self.retire(rule)
        self.all.clear()
        self.unfinished.clear()
        self.poison.clear()
        self._meetings.clear()

    @property
    def cluster(self) -> Cluster:
        assert self._cluster is not None, "there is no cluster yet"
        return self._cluster

    # The step

    def concerns(self, api_key: int) -> bool:
        """Requests of the APIs of the rules; all, while one of these ends by itself."""
        return any(
            rule.matcher.request.api_key == api_key or rule.counting.ends_by_itself
            for rule in self._active
        )

    def before(self, call: Call, request: Request) -> Onward:
        ahead = []
        now = self.now()
        for rule in tuple(self._active):
            if rule.is_over(now):
                self.retire(rule)
            elif rule.matcher.request.api_key == call.api_key:
                ahead.append(rule)
        if not ahead:
            return None
        from .interception import Interception

        meeting = self._meetings[call] = Interception(self, call, request, ahead)
        return meeting.begin()

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        meeting = self._meetings.pop(call, None)
        if meeting is None:
            return None
        if not call.is_open:
            meeting.lost()
            return None
        return meeting.end(response)

    # For rules

    def now(self) -> int:
        """The broker's time."""
        return self.cluster.clock.now()

    def later(self, milliseconds: int, callback: Callable[[], None]) -> Timer:
        """Call back after so much real time."""
        return self.cluster.after(milliseconds, callback)

    def topic_name(self, topic_id: bytes) -> str | None:
        topic = self.cluster.topics.by_id(topic_id)
        return None if topic is None else topic.name

    def tell(self, rule: Rule, call: Call) -> None:
        call.note(rule.sentence)
        client = call.connection.name or call.client_id
        at = self.cluster.node_label(call.node_id)
        self.cluster.journal.rule(client, rule.api, rule.sentence, at)
