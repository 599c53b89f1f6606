"""How a new answer differs from the recorded one: in its errors, and in what they are about.

Ids, times, offsets and records differ for good reasons and are not compared; that a fetch finds
fewer records or more is told by the exchange that comes after it.
"""

from __future__ import annotations

from collections import Counter

from ...emulator.control.refusals import refusals
from ...wire import Response


def difference(was: Response | None, now: Response | None) -> str:
    """What is different, "" if nothing is. None is no answer."""
    if was is None or now is None:
        return "" if was is now else f"{_named(was)} then, {_named(now)} now"
    before, after = _errors(was), _errors(now)
    if before == after:
        return ""
    return f"{_listed(before)} then, {_listed(after)} now"


def _named(response: Response | None) -> str:
    return "no answer" if response is None else "an answer"


def _errors(response: Response) -> Counter[str]:
    return Counter(
        each.error.name + (f" for {each.topic}-{each.partition}" if each.topic else "")
        for each in refusals(response)
    )


def _listed(errors: Counter[str]) -> str:
    return ", ".join(sorted(errors)) or "no error"
