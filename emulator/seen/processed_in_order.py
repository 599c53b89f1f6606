"""assert_processed_in_order: the records of each key took effect in the order in which they came.

A group that rebalances reads again from what it has committed, so effects may be repeated: 1 2 3 2
3 is in order, for each came first when all before it had come, and the last one is the last. It is
not in order that one overtakes another (1 3 2), nor that an old one comes last (1 2 3 2): so writes
a member that was put out of its group and does not know it yet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from ..base.fitting import shown
from .processed_once import (
    Fault,
    Identities,
    Seen,
    Views,
    identities_of,
    place_of,
    raise_for,
    views_of,
)
from .verbs import Records


def assert_processed_in_order(
    inputs: Views,
    outputs: Views,
    *,
    key: Callable[[Seen], Any] | None = None,
    into: Callable[[Seen], Any] | None = None,
    per: Callable[[Seen], Any] | None = None,
) -> None:
    """In each topic of `outputs`, the committed records of `inputs` took effect in their order, key
    by key, under read_committed. Whether all did is what `assert_processed_at_least_once` asks.

    key, into   as for `assert_processed_once`: one of them is needed, and tells inputs of one key
                apart
    per         a function of an input: what is to stay in order with what; its key by default

    Raises AssertionError that names what was overtaken, and what came last but is old; TypeError;
    ValueError for inputs that cannot be told apart.
    """
    __tracebackhide__ = True
    if key is None and into is None:
        raise TypeError("give key or into: what tells the inputs of one key apart")
    identities = identities_of(key, into)
    sources, sinks = views_of("inputs", inputs), views_of("outputs", outputs)
    read = [each for view in sources for each in view.records()]
    order = _Order(read, identities, per or (lambda each: each.key))
    faults = [each for view in sinks for each in order.faults(view)]
    raise_for(faults, "in order", read, sources, sinks)


class _Order:
    """Which input each output is about, and where that stands among those of its key."""

    def __init__(
        self, read: list[Seen], identities: Identities, per: Callable[[Seen], Any]
    ) -> None:
        self._identities = identities
        self._inputs: dict[Any, Seen] = {}
        self._lines: dict[Any, tuple[Any, ...]] = {}
        for each in read:
            line = each.topic, each.partition, per(each)
            for identity in identities.of_input(each):
                before = self._inputs.setdefault(identity, each)
                if before is not each:
                    both = f"{place_of(before)} and {place_of(each)}"
                    raise ValueError(f"{both} cannot be told apart: both are {identity!r}")
                self._lines[identity] = line

    def faults(self, view: Records[Any, Any]) -> Iterator[Fault]:
        """What is out of order there."""
        lines: dict[tuple[Any, ...], list[tuple[Seen, Seen]]] = defaultdict(list)
        for output in view.records():
            for identity in self._identities.of_output(output):
                if identity in self._inputs:
                    lines[self._lines[identity]].append((self._inputs[identity], output))
                    break
        for line, effects in lines.items():
            partitions = {output.partition for _, output in effects}
            if len(partitions) > 1:
                places = ", ".join(shown(output) for _, output in effects)
                text = f"no order: those of {line[2]!r} lie in {len(partitions)} partitions"
                yield Fault(f"{text}: {places}", tuple(output for _, output in effects))
            else:
                yield from _of_line(effects)


def _of_line(effects: list[tuple[Seen, Seen]]) -> Iterator[Fault]:
    """Inputs of one key, and where each took effect, in the order of the outputs."""
    firsts: dict[int, tuple[Seen, Seen]] = {}
    for source, output in effects:
        firsts.setdefault(source.offset, (source, output))
    furthest: tuple[Seen, Seen] | None = None
    for source, output in firsts.values():
        if furthest is not None and source.offset < furthest[0].offset:
            text = f"{place_of(furthest[0])} ({shown(furthest[1])}) overtook {place_of(source)}"
            yield Fault(f"overtaken: {text} ({shown(output)})", (source, output, *furthest))
        else:
            furthest = source, output
    last = effects[-1]
    if furthest is not None and last[0].offset < furthest[0].offset and _is_again(effects):
        text = f"{place_of(last[0])} came again ({shown(last[1])}) after {place_of(furthest[0])}"
        yield Fault(f"an old one is the last: {text} ({shown(furthest[1])})", (*last, *furthest))


def _is_again(effects: list[tuple[Seen, Seen]]) -> bool:
    """Whether the last effect is one that was there before: else it was overtaken, and is told."""
    return any(source is effects[-1][0] for source, _ in effects[:-1])
