"""What an object holds, counted: where something stays that should have gone, a number rises."""

from __future__ import annotations

import gc
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

_PRODUCT = "odradek."
_FLAT = (list, tuple, set, frozenset, deque)


def held(root: object) -> Counter[str]:
    """How many things each attribute's containers have, of all that is reachable from `root`, by
    class and attribute; contents of files and of functions' closures are not counted."""
    counts: Counter[str] = Counter()
    seen: set[int] = set()
    kept: list[object] = []  # so that no id is used twice
    waiting: list[tuple[str, object]] = [("", root)]
    while waiting:
        name, thing = waiting.pop()
        if isinstance(thing, tuple | frozenset):  # may be shared: each has its own, as it were
            counts[name] += len(thing)
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        kept.append(thing)
        if isinstance(thing, dict):
            counts[name] += len(thing)
            waiting += [(f"{name}[]", each) for pair in thing.items() for each in pair]
        elif isinstance(thing, _FLAT):
            if not isinstance(thing, tuple | frozenset):
                counts[name] += len(thing)
            waiting += [(f"{name}[]", each) for each in thing]
        elif type(thing).__module__.startswith(_PRODUCT):
            waiting += [(f"{type(thing).__name__}.{key}", each) for key, each in _fields(thing)]
    return counts


def _fields(thing: object) -> Iterator[tuple[str, Any]]:
    """Its attributes. None is made by being looked at, as a partition's log is."""
    yield from getattr(thing, "__dict__", {}).items()
    for cls in type(thing).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            with suppress(AttributeError):
                yield name, object.__getattribute__(thing, name)


def alive(kind: type) -> int:
    """How many objects of a class there are. They are asked nothing: some of other libraries do
    work when they are asked for their `__class__`, as `isinstance` does."""
    return sum(issubclass(type(each), kind) for each in gc.get_objects())
