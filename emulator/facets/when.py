"""When: the beginning of a rule's sentence, `kafka.on("Produce", topic="orders").once()`.

Each qualifier returns a new one; a verb ends the sentence, and sets the rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...wire import Error, Response
from ..control.rules import Counting, Narrowing, Rule, Rules
from ..control.rules.checks import (
    a_function,
    a_number,
    a_whole_number,
    an_error,
    an_int,
    before_or_after,
    check_throttle,
    name_of,
    one_of,
)
from ..control.rules.counting import Event, new_seed
from ..control.rules.possible import check_possible
from ..control.rules.verbs.answering import Answer, Edit, Throttle
from ..control.rules.verbs.damaging import WAYS, CorruptRecords, RepeatReply, TruncateReply
from ..control.rules.verbs.failing import Fail
from ..control.rules.verbs.losing import (
    DisconnectAfter,
    DisconnectBefore,
    DropReply,
    DropRequest,
)
from ..control.rules.verbs.verb import Verb
from ..control.rules.verbs.waiting import Waits
from .facet import Facet
from .rule_view import RuleView

_LONGEST_S = 1_000_000


class When:
    """Requests of an API, as far as they are meant. Nothing is set before a verb was called."""

    def __init__(
        self,
        kafka: Facet,
        rules: Rules,
        narrowing: Narrowing,
        sentence: str,
        counting: Counting | None = None,
        *,
        is_optional: bool = False,
    ) -> None:
        self._kafka = kafka
        self._rules = rules
        self._narrowing = narrowing
        self._sentence = sentence
        self._counting = counting or Counting()
        self._is_optional = is_optional

    def __repr__(self) -> str:
        return self._sentence

    # How often

    def once(self) -> When:
        """Only for the first of these requests."""
        return self._counted("once()", times=1)

    def times(self, count: int) -> When:
        """Only for so many of these requests, from the first on."""
        return self._counted(f"times({count})", times=a_whole_number("times", count))

    def after(self, count: int) -> When:
        """So many of these requests are let through first."""
        return self._counted(f"after({count})", after=a_whole_number("after", count, least=0))

    def every(self, count: int) -> When:
        """For each so-manieth of these requests: with 3, the third, the sixth, ..."""
        return self._counted(f"every({count})", every=a_whole_number("every", count))

    def with_probability(self, probability: float, seed: int | None = None) -> When:
        """For some of these requests, by chance. The same seed makes the same choices; without one
        it is drawn, and stands in the rule's sentence."""
        chance = a_number("probability", probability, most=1)
        drawn = new_seed() if seed is None else a_whole_number("seed", seed, least=0)
        said = f"with_probability({probability}, seed={drawn})"
        return self._counted(said, probability=chance, seed=drawn)

    def until(self, event: Event | Callable[[], object]) -> When:
        """Until an event of threading, asyncio or anyio is set, or a function returns something
        true, which is called in the broker's thread when a request comes."""
        if not hasattr(event, "is_set"):
            a_function("until", event, "of nothing, or a threading.Event")
        return self._counted(f"until({name_of(event)})", until=event)

    def during(self, seconds: float) -> When:
        """For so many seconds by the broker's clock, from when it is set."""
        length = a_number("seconds", seconds, most=_LONGEST_S) * 1000
        return self._counted(f"during({seconds})", during_ms=length)

    def optional(self) -> When:
        """It is no failure of the test if the rule never takes effect."""
        when = self._counted("optional()")
        when._is_optional = True
        return when

    def _counted(self, said: str, **counting: Any) -> When:
        return When(
            *(self._kafka, self._rules, self._narrowing, f"{self._sentence}.{said}"),
            replace(self._counting, **counting),
            is_optional=self._is_optional,
        )

    # What

    def drop_request(self) -> RuleView:
        """It is never carried out, and never answered. Nothing that comes after it on the same
        connection is answered either: Kafka answers in order."""
        return self._set("drop_request()", DropRequest())

    def drop_reply(self) -> RuleView:
        """It is carried out, and never answered; on that connection nothing is any more."""
        return self._set("drop_reply()", DropReply())

    def disconnect(self, when: str = "before") -> RuleView:
        """The connection is closed, "before" the request is carried out or "after" that."""
        verb = DisconnectAfter() if before_or_after(when) else DisconnectBefore()
        return self._set(f"disconnect({when!r})", verb)

    def delay(self, seconds: float, when: str = "before") -> RuleView:
        """It waits so many real seconds "before" it is carried out, or its answer "after" that.
        What comes after it on the same connection waits too."""
        milliseconds = round(a_number("seconds", seconds, most=_LONGEST_S) * 1000)
        said = f"{seconds}" if when == "before" else f"{seconds}, {when!r}"
        verb = Waits(milliseconds, is_after=before_or_after(when))
        return self._set(f"delay({said})", verb)

    def hold(self, when: str = "before") -> RuleView:
        """It waits until `release()`, "before" it is carried out, or its answer "after" that."""
        said = "" if when == "before" else repr(when)
        return self._set(f"hold({said})", Waits(None, is_after=before_or_after(when)))

    def answer(self, function: Callable[[Any], Response | None]) -> RuleView:
        """A function of the request makes the response, in the broker's thread, and the request is
        not carried out. If it returns None, the broker answers as ever."""
        verb = Answer(a_function("answer", function, "of the request"))
        return self._set(f"answer({name_of(function)})", verb)

    def edit(self, function: Callable[[Any], Response | None]) -> RuleView:
        """A function changes the real response, in the broker's thread, or returns another."""
        verb = Edit(a_function("edit", function, "of the response"))
        return self._set(f"edit({name_of(function)})", verb)

    def fail(
        self, error: Error | str, message: str | None = None, *, anyway: bool = False
    ) -> RuleView:
        """It is refused with an error: where the API and its version carry one, for each entry that
        is meant (a partition, a topic, a group, ...), else as a whole. What is refused is not
        carried out; the other entries are. `message` goes with it where there is a place for one.

        Raises ValueError where there is no place for an error, and for one that brokers do not
        answer to this API, unless `anyway`.
        """
        wanted = an_error(error)
        check_possible(self._narrowing.request, wanted, anyway=anyway)
        verb = Fail(self._narrowing, wanted, message)
        said = f"fail(Error.{wanted.name}{'' if message is None else f', {message!r}'}"
        return self._set(f"{said}{', anyway=True' if anyway else ''})", verb)

    def throttle(self, milliseconds: int) -> RuleView:
        """The answer tells the client to wait so long. The broker does not hold it to that.
        Raises ValueError where the API or the versions have no place for it."""
        verb = Throttle(a_whole_number("milliseconds", milliseconds, least=0))
        check_throttle(self._narrowing)
        return self._set(f"throttle({milliseconds})", verb)

    def truncate_reply(self, length: int) -> RuleView:
        """Only so many bytes of the answer are sent, its 4 bytes of size not counted, then the
        connection is closed. A negative number is how many are missing."""
        return self._set(f"truncate_reply({length})", TruncateReply(an_int("length", length)))

    def repeat_reply(self) -> RuleView:
        """The answer is sent twice."""
        return self._set("repeat_reply()", RepeatReply())

    def corrupt_records(self, how: str = "crc") -> RuleView:
        """Records of a Fetch are damaged on their way, in each partition that is meant: its first
        batch has a wrong checksum ("crc"), or its second half is missing with all that follows
        ("cut"). An answer without records does not count. Raises ValueError for another API."""
        verb = CorruptRecords(self._narrowing, one_of("how", how, WAYS))
        return self._set(f"corrupt_records({how!r})", verb)

    def _set(self, said: str, verb: Verb) -> RuleView:
        rule = Rule(
            *(f"{self._sentence}.{said}", self._narrowing, self._counting, verb),
            is_optional=self._is_optional,
        )
        self._kafka.run(lambda _: self._rules.add(rule))
        return RuleView(self._kafka, self._rules, rule)
