"""ListTransactions (66): the transactional ids there are, by state, producer, age and name.

States are named exactly, or are unknown and match nothing. The age is that of the transaction; an
Empty id has none, and counts as older than any. A pattern (RE2) must match the whole id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from ..base.call import Call
from ..groups.regex.re2 import InvalidRegex, compile_re2
from ..transactions.states import KNOWN_NAMES
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..transactions.transaction import Transaction

Listed = ListTransactionsResponse.TransactionState


@handles(ListTransactionsRequest)
def list_transactions(
    cluster: Cluster, call: Call, request: ListTransactionsRequest
) -> ListTransactionsResponse:
    try:
        pattern = compile_re2(request.transactional_id_pattern or "(?s).*")
    except InvalidRegex:
        return ListTransactionsResponse(
            error_code=Error.INVALID_REGULAR_EXPRESSION,
            unknown_state_filters=[],
            transaction_states=[],
        )
    return ListTransactionsResponse(
        unknown_state_filters=list(dict.fromkeys(request.state_filters).keys() - KNOWN_NAMES),
        transaction_states=[
            Listed(
                transactional_id=known.transactional_id,
                producer_id=known.producer_id,
                transaction_state=known.state.value,
            )
            for known in cluster.transactions.at(call.node_id).transactions.values()
            if _is_wanted(known, request, call.now) and pattern.fullmatch(known.transactional_id)
        ],
    )


def _is_wanted(known: Transaction, request: ListTransactionsRequest, now: int) -> bool:
    if request.producer_id_filters and known.producer_id not in request.producer_id_filters:
        return False
    if request.state_filters and known.state.value not in request.state_filters:
        return False
    return request.duration_filter < 0 or now - known.start_ms >= request.duration_filter
