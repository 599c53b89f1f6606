"""Situations: what goes wrong in production, each one verb."""

from .situation import Situation
from .situations import Situations

__all__ = ["Situation", "Situations"]
