"""One test for many values: where each of a thousand takes less time than pytest's bookkeeping."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any


def for_each(
    name: str, values: Iterable[Any], say: Callable[[Any], object] = str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator: a test is called with each value as this argument, its others are fixtures.

    The first that fails fails the test; `say` names it in a note below the traceback.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def loop(**fixtures: Any) -> None:
            for value in values:
                try:
                    test(**{name: value}, **fixtures)
                except Exception as error:
                    error.add_note(f"{name}: {say(value)}")
                    raise

        own = inspect.signature(test)
        others = [each for each in own.parameters.values() if each.name != name]
        loop.__signature__ = own.replace(parameters=others)  # type: ignore[attr-defined]
        loop.__name__, loop.__qualname__ = test.__name__, test.__qualname__
        loop.__module__, loop.__doc__ = test.__module__, test.__doc__
        loop.pytestmark = list(getattr(test, "pytestmark", ()))  # type: ignore[attr-defined]
        return loop

    return decorate
