"""ListTransactions (66): the transactional ids there are, by state, producer, age and name.

States are named exactly, or are unknown and match nothing. The age is that of the transaction; an
Empty id has none, and counts as older than any. A pattern (RE2) must match the whole id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from ..base.call import Call
from ..base.turns import Slices
from ..groups.regex.automaton import Automaton, Work
from ..groups.regex.re2 import InvalidRegex, compile_re2
from ..transactions.transaction import KNOWN_NAMES
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Listed = ListTransactionsResponse.TransactionState
_WORK_A_SLICE = 500


@handler(ListTransactionsRequest)
def list_transactions(
    cluster: Cluster, call: Call, request: ListTransactionsRequest
) -> Slices[ListTransactionsResponse]:
    try:
        pattern = compile_re2(request.transactional_id_pattern or "(?s).*")
    except InvalidRegex:
        return ListTransactionsResponse(
            error_code=Error.INVALID_REGULAR_EXPRESSION,
            unknown_state_filters=[],
            transaction_states=[],
        )
    transactions = cluster.transactions.at(call.node_id).transactions
    matching = yield from _matching(pattern, list(transactions))
    producers, states = set(request.producer_id_filters), set(request.state_filters)
    found = [transactions[each] for each in matching if each in transactions]
    return ListTransactionsResponse(
        unknown_state_filters=list(dict.fromkeys(request.state_filters).keys() - KNOWN_NAMES),
        transaction_states=[
            Listed(
                transactional_id=known.transactional_id,
                producer_id=known.producer_id,
                transaction_state=known.state.value,
            )
            for known in found
            if (not producers or known.producer_id in producers)
            and (not states or known.state.value in states)
            and (
                request.duration_filter < 0 or call.now - known.start_ms >= request.duration_filter
            )
        ],
    )


def _matching(pattern: Automaton, ids: list[str]) -> Slices[list[str]]:
    """The ids that match, with no more work in a slice than a millisecond's."""
    work = Work(_WORK_A_SLICE)
    portions = pattern.matching(ids, work)
    while True:
        try:
            next(portions)
        except StopIteration as end:
            found: list[str] = end.value
            return found
        work.left = _WORK_A_SLICE
        yield
