"""The result of running a sequence: its steps with the answers, the differences, and the counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from odradek.wire import Request

from .compare import Difference
from .steps import Sequence, Step

Signature: TypeAlias = tuple[str, str, str, str]
"""What makes two findings the same: the API, the place, and the kinds of both values."""


@dataclass(frozen=True)
class Finding:
    """A difference, the step during which it was found, and the request it is about."""

    step: int
    request: Request | None
    version: int
    difference: Difference

    @property
    def signature(self) -> Signature:
        """API, place, and the kinds of the real and of our value."""
        api = "" if self.request is None else api_name(type(self.request))
        values = (_kind(self.difference.real), _kind(self.difference.ours))
        return api, self.difference.place, *values


@dataclass
class StepLog:
    """A step and the answers that arrived during it, by connection and request."""

    step: Step
    version: int | None
    real: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)


@dataclass
class Result:
    sequence: Sequence
    log: list[StepLog] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    allowed: list[tuple[str, Finding]] = field(default_factory=list)
    requests: int = 0
    fields: int = 0


def api_name(request: type[Request]) -> str:
    """The name of an API, as Kafka writes it: "ListOffsets"."""
    return request.__name__.removesuffix("Request")


def _kind(value: Any) -> str:
    """The value itself if it is an error code or the like, else its type."""
    is_code = value is None or (isinstance(value, int) and -2 <= value <= 200)
    return repr(value) if is_code else type(value).__name__
