"""How a command ended that ran in this process."""

from __future__ import annotations

from typing import NamedTuple


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    output: str
    errors: str
