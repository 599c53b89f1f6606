"""Faults of a registry: it is slow, refuses, has forgotten what it knew, or is of another
release."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import Refused, named
from .releases import Release

if TYPE_CHECKING:
    from starlette.requests import Request


@dataclass
class Fault:
    """A fault that requests meet, as long as `left` is not over; None for ever."""

    meets: Callable[[str, str], bool]
    seconds: float = 0.0
    error: str | None = None
    left: int | None = None
    hits: int = 0
    """How many requests it has met."""

    def end(self) -> None:
        """Requests go well again."""
        self.left = 0


class Faults:
    """The faults of one registry; any thread may add one."""

    def __init__(self) -> None:
        self._all: list[Fault] = []
        self.release: Release | None = None
        """As which it answers; None for the newest."""

    def add(
        self,
        *,
        method: str | None = None,
        path: str = "",
        seconds: float = 0.0,
        error: str | None = None,
        times: int | None = None,
    ) -> Fault:
        """A fault of the requests of a method, whose path begins so. Raises ValueError."""
        if error is not None:
            named(error)
        fault = Fault(
            lambda asked, where: method in (None, asked) and where.startswith(path),
            seconds,
            error,
            times,
        )
        self._all = [*self._living(), fault]
        return fault

    def clear(self) -> None:
        self._all = []
        self.release = None

    async def meet(self, request: Request) -> None:
        """Let this request meet the faults. Raises Refused."""
        for each in self._living():
            if each.meets(request.method, request.url.path):
                each.hits += 1
                if each.left is not None:
                    each.left -= 1
                await asyncio.sleep(each.seconds)
                if each.error is not None:
                    raise _refused(each.error)

    def _living(self) -> list[Fault]:
        return [each for each in self._all if each.left is None or each.left > 0]


def _refused(error: str) -> Refused:
    return named(error)
