"""A sequence as text: what was sent, what came back, and where the answers differ.

    produce_twice (B14), seed 7
    1  CreateTopics v7 (topics=[(name='~t', num_partitions=1)])
       both: {'topics': [...]}
    2  Produce v9 (acks=1, topic_data=[...])
       real: {...}
       ours: {...}
       differs: responses[0].partition_responses[0].error_code: real 87, ours 2

Fields that have their default are left out of requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from odradek.wire.codec.source import default_of
from odradek.wire.schema import MISSING, Struct

from .results import Result, StepLog, api_name
from .steps import MAIN, Ask

_LONGEST = 1500
_MOST = 20


def transcript(result: Result) -> str:
    """The whole sequence as it was run."""
    return "\n".join(_lines(result))


def _lines(result: Result) -> Iterator[str]:
    sequence = result.sequence
    yield f"{sequence.name} ({sequence.rule})" if sequence.rule else sequence.name
    for number, log in enumerate(result.log, 1):
        yield f"{number:<3}{_step(log)}"
        for label in log.real:
            real, ours = log.real[label], log.ours[label]
            if real == ours:
                yield f"   {label}, both: {_cut(real)}"
            else:
                yield f"   {label}, real: {_cut(real)}"
                yield f"   {label}, ours: {_cut(ours)}"
        differs = [each.difference for each in result.findings if each.step == number - 1]
        for difference in differs[:_MOST]:
            yield f"   differs: {_cut(difference, str)}"
        if len(differs) > _MOST:
            yield f"   and {len(differs) - _MOST} more"


def _step(log: StepLog) -> str:
    step = log.step
    if not isinstance(step, Ask):
        return repr(step)
    name = api_name(type(step.request))
    extras = [] if step.at is None else [f"at broker {step.at}"]
    extras += [f"on {step.on}"] if step.on != MAIN else []
    extras += [] if step.claim is None else [f"claiming v{step.claim}"]
    extras += [] if step.damage is None else [repr(step.damage)]
    extras += [] if step.waits else ["not waiting"]
    extras += [] if step.client_id == "differential" else [f"client id {step.client_id!r}"]
    return " ".join([name, f"v{log.version}", *extras, shown(step.request)])


def shown(value: Any) -> str:
    """A request, or a part of it, without what has its default."""
    if isinstance(value, Struct):
        parts = []
        for field, type_ in type(value).fields():
            content = getattr(value, field.name)
            has_default = field.default is not MISSING or not type_.nullable
            if has_default and content == default_of(field, type_):
                continue
            parts.append(f"{field.name}={shown(content)}")
        return f"({', '.join(parts)})"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    return repr(value)


def _cut(tree: Any, written: Callable[[Any], str] = repr) -> str:
    text = written(tree)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + f"... ({len(text)} characters)"
