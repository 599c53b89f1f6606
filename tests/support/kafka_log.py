"""What a real Kafka says in its log."""

from __future__ import annotations

from itertools import pairwise


def errors_in(log: str) -> list[str]:
    """Errors, but for one of its own that any directory brings about where the machine is busy: its
    controller is registered while it claims to lead, is refused, and is registered a moment later.
    """
    return [
        line
        for line, cause in pairwise([*log.splitlines(), ""])
        if "ERROR" in line
        and not ("apiKey=CONTROLLER_REGISTRATION" in line and "NotControllerException" in cause)
    ]
