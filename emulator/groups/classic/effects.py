"""What a call to a classic group leads to, in the order in which it has to happen.

1. The records in `appends` are written, as one batch.
2. `then`, if set, is called with the result of the write (Error.NONE, or the error to answer) and
   returns further effects. Whatever depends on the write is decided there and only there, so a
   refused write loses nothing.
3. `answers` are sent, those of the first effects before those of the further ones. An answer in the
   first effects does not depend on the write.

What is `told` goes into the journal, of the first effects before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....wire.errors import Error
from ..records import Record
from .members import Member
from .messages import JoinAnswer, LeaveAnswer, SyncAnswer

Token = Any
"""Any object that the caller wants back with the answer; the group never reads it."""

Answer = JoinAnswer | SyncAnswer | LeaveAnswer


class Told(NamedTuple):
    """An event of a group (base/event.py)."""

    kind: str
    member: Member | None
    reason: str
    details: dict[str, Any]


@dataclass(slots=True)
class Effects:
    """Records to write, answers to send, and events to tell."""

    answers: list[tuple[Token, Answer]] = field(default_factory=list)
    appends: list[Record] = field(default_factory=list)
    then: Callable[[Error], Effects] | None = None
    told: list[Told] = field(default_factory=list)

    def answer(self, token: Token, answer: Answer) -> None:
        """Add one answer."""
        self.answers.append((token, answer))

    def tell(
        self, kind: str, member: Member | None = None, reason: str = "", **details: Any
    ) -> None:
        """Something has happened to the group, or to one of its members."""
        self.told.append(Told(kind, member, reason, details))
