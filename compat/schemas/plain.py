"""What JSON has of a value: times in ISO 8601, decimals as text, bytes as the characters 0 to
255."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID


def plain(value: Any) -> Any:
    """A value without what JSON has not."""
    match value:
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value]
        case bytes():
            return value.decode("latin-1")
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal() | UUID():
            return str(value)
    return value
