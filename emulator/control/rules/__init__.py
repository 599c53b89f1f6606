"""Rules: what a test has the broker do to requests that match, and to their answers."""

from .counting import Counting
from .narrowing import Narrowing
from .rule import Rule
from .rules import Rules

__all__ = ["Counting", "Narrowing", "Rule", "Rules"]
