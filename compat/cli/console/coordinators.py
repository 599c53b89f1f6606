"""Where a transaction's coordinator is."""

from __future__ import annotations

from ....wire import Error, Refused
from ....wire.api.find_coordinator import FindCoordinatorRequest
from .client import Brokers

_ONE_KEY_UP_TO = 3
_TRANSACTION = 1
_SOON = (Error.COORDINATOR_NOT_AVAILABLE, Error.COORDINATOR_LOAD_IN_PROGRESS)


def transaction_coordinator(brokers: Brokers, transactional_id: str) -> int:
    """The id of the broker, once there is one. Raises ConsoleError."""
    request = FindCoordinatorRequest(key=transactional_id, key_type=_TRANSACTION)

    def look() -> int:
        answer = brokers.ask(request, most=_ONE_KEY_UP_TO)
        if answer.error_code:
            raise Refused(Error(answer.error_code))
        return int(answer.node_id)

    return brokers.patiently(look, f"transactional id {transactional_id}", _SOON)
