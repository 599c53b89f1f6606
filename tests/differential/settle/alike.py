"""Asking both brokers for the same view again and again, until the two views are equal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from ..engine.asker import Asker

View = TypeVar("View")
_PAUSE_S = 0.003


def _always(view: object) -> bool:
    return True


def until_alike(
    askers: Sequence[Asker],
    view: Callable[[Asker], View],
    limit_s: float,
    is_ready: Callable[[View], bool] = _always,
) -> None:
    """Wait until both brokers give the same view and it is ready, for `limit_s` at most."""
    deadline = time.monotonic() + limit_s
    while True:
        views = [view(asker) for asker in askers]
        if (views[0] == views[1] and all(map(is_ready, views))) or time.monotonic() > deadline:
            return
        time.sleep(_PAUSE_S)
