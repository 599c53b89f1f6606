"""What each misfortune does to a broker: it is a rule, which need not take effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...wire import Refused
from ..base.clock import SystemClock
from .legal import NOT_LEADER
from .misfortune import STALL_S

if TYPE_CHECKING:
    from ..emulator import Emulator
    from ..facets.rule_view import RuleView
    from ..facets.when import When
    from .misfortune import Misfortune

_A_PART = 6
"""Bytes of an answer that is cut short."""


def set_rule(kafka: Emulator, misfortune: Misfortune, client_id: Any = None) -> RuleView:
    """Have it happen, at the so-manieth request of clients with this id, or of all. Returns its
    rule, whose `str` is the misfortune's code, but for the id. Raises ValueError."""
    name = "service" if hasattr(client_id, "owns") else "client_id"
    narrowed = {} if client_id is None else {name: client_id}
    if misfortune.what == "lag":
        narrowed["partition"] = misfortune.partition
    when = kafka.on(misfortune.api, **narrowed)
    if misfortune.number > 1:
        when = when.after(misfortune.number - 1)
    when = when.times(misfortune.times) if misfortune.times > 1 else when.once()
    return _VERBS[misfortune.what](when, kafka, misfortune).optional()


def _called(when: When, kafka: Emulator, misfortune: Misfortune) -> RuleView:
    does = _DOES[misfortune.what]

    def function() -> None:
        try:
            does(kafka, misfortune.group)
        except (Refused, RuntimeError, ConnectionError):
            return  # the group, or the broker, is not there at this moment: nothing happens

    function.__name__ = misfortune.function
    return when.call(function, misfortune.when)


def _kick(kafka: Emulator, group: str) -> None:
    view = kafka.group(group)
    for member in view.members[:1]:
        view.kick(member)


def _stall(kafka: Emulator) -> None:
    if type(kafka._clock) is SystemClock:  # another one is the test's to move
        kafka.advance(seconds=STALL_S)


def _empty(kafka: Emulator) -> None:
    for each in kafka.topics():
        kafka.topic(each).empty()


_DOES: dict[str, Callable[[Emulator, str], object]] = {
    "reset": lambda kafka, _: kafka.network.down().remove(),
    "rebalance": lambda kafka, group: kafka.group(group).rebalance(),
    "kick": _kick,
    "restart": lambda kafka, _: kafka.restart(),
    "kill": lambda kafka, _: kafka.restart(clean=False),
    "timeout": lambda kafka, _: _stall(kafka),
    "overtake": lambda kafka, _: _empty(kafka),
    "grow": lambda kafka, _: [kafka.topic(each).add_partitions(1) for each in kafka.topics()],
}
_VERBS: dict[str, Callable[[Any, Any, Misfortune], RuleView]] = {
    "delay": lambda when, _, each: when.delay(each.seconds, each.when),
    "disconnect": lambda when, _, each: when.disconnect(each.when),
    "cut": lambda when, *_: when.truncate_reply(_A_PART),
    "fail": lambda when, _, each: when.fail(each.error),
    "lag": lambda when, _, each: when.fail(NOT_LEADER),
    **dict.fromkeys(_DOES, _called),
}
