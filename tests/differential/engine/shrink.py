"""Shrinking a sequence: it is made as short as it can be while it shows the same difference.

First steps are taken out (delta debugging: large pieces, then smaller ones), then values in the
requests that are left: entries of lists, damage and edits are removed, fields become their
defaults. A shorter sequence is kept when it shows the same difference: same API, same place, same
kinds of values. Both brokers are asked each time, under fresh names.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from odradek.wire import Request, WireError
from odradek.wire.codec.source import default_of
from odradek.wire.schema import Struct

from ..ask.batches import Batch
from .engine import Engine
from .results import Result
from .steps import Ask, Step

RUNS_MAX = 150
SECONDS_MAX = 60.0

Shows = Callable[[tuple[Step, ...]], bool]


def shrink(engine: Engine, found: Result, runs_max: int = RUNS_MAX) -> Result:
    """The result of the shortest sequence found within `runs_max` runs and a minute. It is
    `found` itself when the difference does not appear again."""
    search = _Search(engine, found, runs_max)
    steps = found.sequence.steps[: found.findings[0].step + 1]
    if not search.shows(steps):
        return found
    before: tuple[Step, ...] = ()
    while steps != before and not search.is_over:
        before = steps
        steps = fewer_steps(steps, search.shows)
        steps = smaller_values(steps, search.shows)
    return search.best


class _Search:
    """Runs candidates, and remembers the last one that showed the difference."""

    def __init__(self, engine: Engine, found: Result, runs_max: int) -> None:
        self.best = found
        self._engine = engine
        self._signature = found.findings[0].signature
        self._runs_left = runs_max
        self._end = time.monotonic() + SECONDS_MAX

    @property
    def is_over(self) -> bool:
        return self._runs_left <= 0 or time.monotonic() > self._end

    def shows(self, steps: tuple[Step, ...]) -> bool:
        if self.is_over:
            return False
        self._runs_left -= 1
        try:
            result = self._engine.run(replace(self.best.sequence, steps=steps))
        except WireError:  # a value was made that cannot be encoded
            return False
        if not any(f.signature == self._signature for f in result.findings):
            return False
        self.best = result
        return True


def fewer_steps(steps: tuple[Step, ...], shows: Shows) -> tuple[Step, ...]:
    """Take out pieces of half, a quarter, ... of the steps, down to single ones."""
    size = max(1, len(steps) // 2)
    while True:
        start = 0
        while start < len(steps):
            shorter = steps[:start] + steps[start + size :]
            if shorter and shows(shorter):
                steps = shorter
            else:
                start += size
        if size == 1:
            return steps
        size //= 2


def smaller_values(steps: tuple[Step, ...], shows: Shows) -> tuple[Step, ...]:
    """Make the requests of the steps simpler, one change at a time."""
    for index in range(len(steps)):
        progress = True
        while progress:
            progress = False
            for simpler in simpler_steps(steps[index]):
                candidate = (*steps[:index], simpler, *steps[index + 1 :])
                if shows(candidate):
                    steps, progress = candidate, True
                    break
    return steps


def simpler_steps(step: Step) -> Iterator[Step]:
    if not isinstance(step, Ask):
        return
    if step.damage is not None:
        yield replace(step, damage=None)
    for edit in _edits(step.request):
        request: Request = copy.deepcopy(step.request)
        edit(request)
        yield replace(step, request=request)


Edit = Callable[[Any], None]


def _edits(value: Struct) -> Iterator[Edit]:
    """The changes to a struct that make it simpler, each to be applied to a copy of it."""
    for field, type_ in type(value).fields():
        name, content = field.name, getattr(value, field.name)
        if isinstance(content, list):
            for index, entry in enumerate(content):
                yield _removal(name, index)
                if isinstance(entry, Struct):
                    for edit in _edits(entry):
                        yield _below(name, index, edit)
        elif isinstance(content, Batch):
            for simpler in _simpler_batches(content):
                yield _setting(name, simpler)
        elif not isinstance(content, Struct) and content != default_of(field, type_):
            yield _setting(name, default_of(field, type_))


def _removal(name: str, index: int) -> Edit:
    return lambda struct: getattr(struct, name).__delitem__(index)


def _below(name: str, index: int, edit: Edit) -> Edit:
    return lambda struct: edit(getattr(struct, name)[index])


def _setting(name: str, value: Any) -> Edit:
    return lambda struct: setattr(struct, name, value)


def _simpler_batches(batch: Batch) -> Iterator[Batch]:
    if len(batch.records) > 1:
        yield replace(batch, records=batch.records[:1])
    for name in batch.edits:
        yield replace(batch, edits={n: x for n, x in batch.edits.items() if n != name})
    for name in batch.options:
        yield replace(batch, options={n: x for n, x in batch.options.items() if n != name})
    plain: dict[str, Any] = {"cut": 0, "extra": b"", "payload": None, "checked": True}
    for name, value in plain.items():
        if getattr(batch, name) != value:
            yield replace(batch, **{name: value})
