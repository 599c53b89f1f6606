"""What may be wrong with a state."""

from __future__ import annotations


class StateError(Exception):
    """A state cannot be used. The text says which, why, and what to do."""
