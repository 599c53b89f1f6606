"""What a test is told of a rule that never took effect."""

from __future__ import annotations

from ....wire.api import request_class
from ...base.words import number_of
from .apis import name_of
from .rule import Rule

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
    """What has come instead."""
    if not rule.others:
        return ", nor any other"
    named = [
        f"{name_of(request_class(key))} ({count})" for key, count in rule.others.most_common(5)
    ]
    return f"; there were {', '.join(named)}"
