"""When: the beginning of a rule's sentence, `kafka.on("Produce", topic="orders").once()`.

A verb ends the sentence, and sets the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ...wire import Error, Request, Response
from ..base.words import Guessable
from ..control.rules.apis import api_of
from ..control.rules.checks import (
    a_function,
    a_time,
    a_whole_number,
    an_error,
    an_int,
    before_or_after,
    check_throttle,
    name_of,
    one_of,
)
from ..control.rules.narrowing import Narrowing
from ..control.rules.possible import check_possible
from ..control.rules.rule import Rule
from ..control.rules.rules import Rules
from ..control.rules.verbs.answering import Answer, Edit, Throttle
from ..control.rules.verbs.calling import Calls
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
from .how_often import HowOften, goes_on
from .rule_view import RuleView


def begun(kafka: Facet, rules: Rules, api: type[Request] | str, given: Mapping[str, Any]) -> When:
    """A sentence about requests of an API that are narrowed by these keywords. Raises TypeError,
    ValueError."""
    narrowing = Narrowing(api_of(api), given)
    said = api.__name__ if isinstance(api, type) else repr(api)
    sentence = f"kafka.on({', '.join(filter(None, (said, str(narrowing))))})"
    return When(kafka, rules, narrowing, sentence)


class When(HowOften, Guessable):
    """Requests of an API, as far as they are meant. Nothing is set before a verb was called."""

    def __init__(self, kafka: Facet, rules: Rules, narrowing: Narrowing, sentence: str) -> None:
        super().__init__(sentence, rules.unfinished)
        self._kafka = kafka
        self._rules = rules
        self._narrowing = narrowing

    @goes_on
    def drop_request(self) -> RuleView:
        """It is never carried out, and never answered. Nothing that comes after it on the same
        connection is answered either: Kafka answers in order."""
        return self._set("drop_request()", DropRequest())

    @goes_on
    def drop_reply(self) -> RuleView:
        """It is carried out, and never answered; on that connection nothing is any more."""
        return self._set("drop_reply()", DropReply())

    @goes_on
    def disconnect(self, when: str = "before") -> RuleView:
        """The connection is closed, "before" the request is carried out or "after" that."""
        verb = DisconnectAfter() if before_or_after(when) else DisconnectBefore()
        return self._set(f"disconnect({when!r})", verb)

    @goes_on
    def delay(self, seconds: float, when: str = "before") -> RuleView:
        """It waits so many real seconds "before" it is carried out, or its answer "after" that.
        What comes after it on the same connection waits too."""
        milliseconds = round(a_time("seconds", seconds) * 1000)
        said = f"{seconds}" if when == "before" else f"{seconds}, {when!r}"
        verb = Waits(milliseconds, is_after=before_or_after(when))
        return self._set(f"delay({said})", verb)

    @goes_on
    def hold(self, when: str = "before") -> RuleView:
        """It waits until `release()`, "before" it is carried out, or its answer "after" that."""
        said = "" if when == "before" else repr(when)
        return self._set(f"hold({said})", Waits(None, is_after=before_or_after(when)))

    @goes_on
    def call(self, function: Callable[[], object], when: str = "before") -> RuleView:
        """A function of nothing is called in a thread of its own, "before" the request is carried
        out or "after" that, and the request or its answer waits until it has returned. It may use
        every verb of the broker: `call(lambda: kafka.restart(clean=False))` kills it there."""
        is_after = before_or_after(when)

        def in_its_thread(action: Callable[[], None]) -> None:
            with suppress(RuntimeError):  # the broker has ended, and what was held with it
                self._kafka.run(lambda _: action())

        said = name_of(function) if when == "before" else f"{name_of(function)}, {when!r}"
        given = a_function("call", function, "of nothing")
        return self._set(f"call({said})", Calls(given, in_its_thread, is_after=is_after))

    @goes_on
    def answer(self, function: Callable[[Any], Response | None]) -> RuleView:
        """A function of the request makes the response, in the broker's thread, and the request is
        not carried out. If it returns None, the broker answers as ever."""
        verb = Answer(a_function("answer", function, "of the request"))
        return self._set(f"answer({name_of(function)})", verb)

    @goes_on
    def edit(self, function: Callable[[Any], Response | None]) -> RuleView:
        """A function changes the real response, in the broker's thread, or returns another."""
        verb = Edit(a_function("edit", function, "of the response"))
        return self._set(f"edit({name_of(function)})", verb)

    @goes_on
    def fail(
        self,
        error: Error | str,
        message: str | None = None,
        *,
        when: str = "before",
        anyway: bool = False,
    ) -> RuleView:
        """It is refused with an error: where the API and its version carry one, for each entry that
        is meant (a partition, a topic, a group, ...), else as a whole. What is refused is not
        carried out; the other entries are. `message` goes with it where there is a place for one.
        With `when="after"` all of it is carried out, and answered with the error all the same.

        Raises ValueError where there is no place for an error, and for one that brokers do not
        answer to this API, unless `anyway`.
        """
        wanted = an_error(error)
        check_possible(self._narrowing.request, wanted, anyway=anyway)
        verb = Fail(self._narrowing, wanted, message, is_after=before_or_after(when))
        said = f"fail(Error.{wanted.name}{'' if message is None else f', {message!r}'}"
        said += f", when={when!r}" if when != "before" else ""
        return self._set(f"{said}{', anyway=True' if anyway else ''})", verb)

    @goes_on
    def throttle(self, milliseconds: int, *, mute: bool = True) -> RuleView:
        """The answer tells the client to wait so long, and the broker takes up nothing more on that
        connection meanwhile (KIP-219), unless `mute` is False: then a client that does not wait is
        served. Raises ValueError where the API or the versions have no place for it."""
        verb = Throttle(a_whole_number("milliseconds", milliseconds, least=0), mutes=mute)
        check_throttle(self._narrowing)
        return self._set(f"throttle({milliseconds}{'' if mute else ', mute=False'})", verb)

    @goes_on
    def truncate_reply(self, length: int) -> RuleView:
        """Only so many bytes of the answer are sent, its 4 bytes of size not counted, then the
        connection is closed. A negative number is how many are missing."""
        return self._set(f"truncate_reply({length})", TruncateReply(an_int("length", length)))

    @goes_on
    def repeat_reply(self) -> RuleView:
        """The answer is sent twice."""
        return self._set("repeat_reply()", RepeatReply())

    @goes_on
    def corrupt_records(self, how: str = "crc") -> RuleView:
        """Records of a Fetch are damaged on their way, in each partition that is meant: its first
        batch has a wrong checksum ("crc"), or its second half is missing with all that follows
        ("cut"). An answer without records does not count. Raises ValueError for another API."""
        verb = CorruptRecords(self._narrowing, one_of("how", how, WAYS))
        return self._set(f"corrupt_records({how!r})", verb)

    @goes_on
    def _set(self, said: str, verb: Verb) -> RuleView:
        rule = Rule(
            *(f"{self._sentence}.{said}", self._narrowing, self._counting, verb),
            is_optional=self._is_optional,
        )
        self._kafka.run(lambda _: self._rules.add(rule))
        return RuleView(self._kafka, self._rules, rule)
