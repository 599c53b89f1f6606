"""What a test is told of rules that never took effect, and of functions of its own that failed."""

from __future__ import annotations

from collections.abc import Iterable

from ....wire.api import request_class
from ...base.never_matched import NeverMatched
from ...base.words import number_of
from .apis import name_of
from .rule import Rule

_NEAREST = 3


def check(rules: Iterable[Rule]) -> None:
    """Each rule is told of once. Raises NeverMatched for those that never took effect; what a
    function has raised that was given to a rule."""
    unmatched = []
    for rule in rules:
        if rule.is_checked:
            continue
        rule.is_checked = True
        if rule.failure is not None:
            rule.failure.add_note(f"raised within {rule.sentence}")
            raise rule.failure
        if not rule.hits and not rule.is_optional:
            unmatched.append(never_matched(rule))
    if unmatched:
        raise NeverMatched("\n".join(unmatched))


def never_matched(rule: Rule) -> str:
    """A rule has not taken effect: what came nearest to it, in sentences."""
    lines = [f"{rule.sentence} never took effect."]
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
    return "\n".join(lines)


def _others(rule: Rule) -> str:
    """What has come instead."""
    if not rule.others:
        return ", nor any other"
    named = [
        f"{name_of(request_class(key))} ({count})" for key, count in rule.others.most_common(5)
    ]
    return f"; there were {', '.join(named)}"
