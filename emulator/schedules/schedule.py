"""Schedule: some misfortunes, and what has become of them at a broker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .misfortune import Misfortune
from .sorts import set_rule

if TYPE_CHECKING:
    from ..emulator import Emulator
    from ..facets.rule_view import RuleView

_BETWEEN = ";"


@dataclass(frozen=True)
class Schedule:
    """Misfortunes of one run. `str` can be typed, and `Schedule.parse` reads it again."""

    misfortunes: tuple[Misfortune, ...] = ()

    def __str__(self) -> str:
        return f"{_BETWEEN} ".join(map(str, self.misfortunes))

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """From what `str` makes of one; lines are as good as semicolons. Raises ValueError."""
        parts = text.replace("\n", _BETWEEN).split(_BETWEEN)
        return cls(tuple(Misfortune.parse(each) for each in parts if each.strip()))

    @property
    def code(self) -> str:
        """The rules that do the same by hand, one a line."""
        return "\n".join(each.code for each in self.misfortunes)

    def begin(self, kafka: Emulator, client_id: Any = None) -> Begun:
        """Have them happen at a broker, from now on, at the requests of clients with this id (a
        name, or a matcher as for rules). Raises ValueError."""
        return Begun(self, [set_rule(kafka, each, client_id) for each in self.misfortunes])

    @contextmanager
    def on(self, kafka: Emulator, client_id: Any = None) -> Iterator[Begun]:
        """Have them happen at a broker until the end of this block."""
        begun = self.begin(kafka, client_id)
        try:
            yield begun
        finally:
            for rule in begun.rules:
                rule.remove()


class Begun:
    """A schedule at a broker."""

    def __init__(self, schedule: Schedule, rules: list[RuleView]) -> None:
        self.schedule = schedule
        self.rules = rules
        """One for each misfortune."""

    @property
    def happened(self) -> tuple[Misfortune, ...]:
        """The misfortunes that have happened so far."""
        both = zip(self.schedule.misfortunes, self.rules, strict=True)
        return tuple(misfortune for misfortune, rule in both if rule.hits)
