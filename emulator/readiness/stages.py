"""Stages: what is refused with one error until some time, then with the next, then not at all."""

from __future__ import annotations

from ...wire import Error


class ReadinessSteps:
    """The stages of a topic, or of a coordinator, in the order of time (real ms)."""

    def __init__(self, *stages: tuple[float, Error]) -> None:
        self._stages = stages

    def error(self, now: float) -> Error:
        """What a request is refused with now; NONE when all is ready."""
        return next((error for until, error in self._stages if now < until), Error.NONE)


READY = ReadinessSteps()
