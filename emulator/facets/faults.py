"""Rules: what a test has the broker do wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, cast

from ...wire import Request
from .. import parameters, seen
from ..control.rules.rules import Rules
from .facet import Facet, Misbehaving
from .fault_view import FaultView, check

if TYPE_CHECKING:
    from .rule_view import RuleView
    from .when import When

_UNSAID: Any = object()
_VALUES = (str, bytes, int, float, dict, list, tuple, set, frozenset, type(None))


class Faults(Facet):
    """Rules on requests and answers."""

    _rules: Rules
    _other_faults: Sequence[Misbehaving] = ()

    def on(
        self,
        api: type[Request] | str,
        *,
        topic: Any = _UNSAID,
        partition: Any = _UNSAID,
        group: Any = _UNSAID,
        member: Any = _UNSAID,
        transactional_id: Any = _UNSAID,
        client_id: Any = _UNSAID,
        client_software: Any = _UNSAID,
        broker: Any = _UNSAID,
        version: Any = _UNSAID,
        service: Any = _UNSAID,
        where: Callable[[Any], object] = _UNSAID,
    ) -> When:
        """Requests of an API, by the class of the request (`ProduceRequest`) or its name
        ("Produce"), narrowed by what they are about, and who sends them:

            kafka.on("Produce", topic="orders").once().drop_reply()

        topic, partition, group, member (its id or static id), transactional_id
                         any of what the request asks for; a topic id is found by the topic's name
        client_id        as the request says it
        client_software  its name, as "librdkafka", or name and version, "librdkafka 2.3.0"
        broker           the id of the node that is asked
        version          of the request: a number or a range
        service          the service whose process sends them (docs/applications.md)
        where            a function of the decoded request, called in the broker's thread

        Each may be a matcher, as for records: a regular expression, a function, a class. Raises
        ValueError for an API or a broker that there is not, and for what its requests do not say;
        TypeError.
        """
        from .when import begun

        if broker is not _UNSAID:
            self._check_broker(broker)
        given = {
            name: each
            for name, each in (
                *(("topic", _name_of(topic)), ("partition", partition), ("group", group)),
                *(("member", member), ("transactional_id", transactional_id)),
                *(("client_id", client_id), ("client_software", client_software)),
                *(("broker", broker), ("version", version), ("service", service)),
                ("where", where),
            )
            if each is not _UNSAID
        }
        return begun(self, self._rules, api, given)

    @property
    def rules(self) -> list[RuleView]:
        """Those that were set since the start or the last `reset`, in this order."""
        if not self._rules.all:
            return []
        from .rule_view import RuleView

        return [RuleView(self, self._rules, rule) for rule in list(self._rules.all)]

    @property
    def faults(self) -> list[FaultView]:
        """The rules, and the faults of the network and of the disk, that were set since the start
        or the last `reset`."""
        return [*self.rules, *(each for others in self._other_faults for each in others.faults)]

    def check_faults(self, *, but: Collection[FaultView] = ()) -> None:
        """Raises NeverMatched for rules, and for faults of the network and of the disk, that have
        not taken effect, each once, saying what came nearest, and for sentences that had no verb;
        and what a function has raised that was given to a rule. The fixtures do it at the end of a
        test that has passed, and so does the end of `with Emulator()`. `but` are left out."""
        __tracebackhide__ = True
        unfinished = self._take_unfinished()
        check([each for each in self.faults if each not in but], unfinished)

    def forget_faults(self, *, but: Collection[FaultView] = ()) -> None:
        """End rules and faults, let go on what they hold, and ask nothing of them any more; `but`
        are those that stay."""
        self._take_unfinished()
        for each in self.faults:
            if each not in but:
                each._forget()

    def excuse_faults(self) -> None:
        """What `check_faults` would say now is of no interest: the test has failed already."""
        self._rules.excuse()
        for each in self._other_faults:
            each.excuse()

    def _check_broker(self, given: Any) -> None:
        """Raises TypeError for what no id can be, ValueError for an id that no broker has."""
        if isinstance(given, _VALUES):  # and no matcher
            node_id, ids = parameters.broker_id(cast(int, given)), self._broker_ids()
            if ids is not None and node_id not in ids:
                raise ValueError(f"there is no broker {node_id}, but {', '.join(map(str, ids))}")

    def _broker_ids(self) -> Collection[int] | None:
        """Which brokers there are; None if it is not known."""
        return None

    def _take_unfinished(self) -> list[str]:
        found = []
        for unfinished in (self._rules.unfinished, *(e.unfinished for e in self._other_faults)):
            found += unfinished
            unfinished.clear()
        return found


def _name_of(topic: Any) -> Any:
    if topic is _UNSAID or isinstance(topic, str):
        return topic
    return topic.name if isinstance(topic, seen.TopicView) else topic
