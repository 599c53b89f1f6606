"""What a step of a transactional id begins or ends, told to the journal."""

from __future__ import annotations

from ..base.journal import Journal
from .states import State
from .transaction import Transaction

OVERDUE = "open for longer than its timeout"

_ENDS = {
    State.PREPARE_COMMIT: "transaction committed",
    State.PREPARE_ABORT: "transaction aborted",
}


def tell_step(journal: Journal, before: Transaction | None, after: Transaction, why: str) -> None:
    """The state after a step, and before it: a begin, or an end when it is decided. `why` it is
    aborted, if not by its producer."""
    was = State.EMPTY if before is None else before.state
    if after.state is State.ONGOING and was is not State.ONGOING:
        kind = "transaction begun"
    elif after.state in _ENDS and was is State.ONGOING:
        kind = "transaction timed out" if why.startswith(OVERDUE) else _ENDS[after.state]
    else:
        return
    journal.add(kind, transactional_id=after.transactional_id, reason=why)
