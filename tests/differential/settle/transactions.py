"""Transactions: settled when both brokers describe the same states.

A real coordinator writes markers, and aborts what has timed out, after it has answered.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from odradek.wire import Error
from odradek.wire.api.describe_transactions import DescribeTransactionsRequest
from odradek.wire.api.end_txn import EndTxnRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest

from ..engine.asker import Asker
from .alike import until_alike

_TRANSACTION = 1
_MARKED_S = 0.05
"""How long markers take, where no broker says whether they are written."""
_ONE_PER_PARTITION = [chr(code) for code in range(50, 100)]
"""Transactional ids, one for each partition of `__transaction_state`."""


def settle(askers: Sequence[Asker], ids: Iterable[str], limit_s: float) -> None:
    """Wait until both brokers say the same of these transactional ids."""
    names = sorted(ids)
    if names and not askers[0].serves(DescribeTransactionsRequest):
        time.sleep(_MARKED_S)
    elif names:
        until_alike(askers, lambda asker: _states(asker, names), limit_s)


def is_warm(asker: Asker) -> bool:
    """Whether the transaction coordinator has loaded every partition. Looking for the coordinator
    creates its topic."""
    if not asker.serves(InitProducerIdRequest):
        return True
    found = asker.ask(FindCoordinatorRequest(key="warm-up", key_type=_TRANSACTION), 1)
    if not asker.serves(DescribeTransactionsRequest):
        ended = (
            EndTxnRequest(transactional_id=each, producer_id=0, producer_epoch=0, committed=False)
            for each in _ONE_PER_PARTITION
        )
        codes = {asker.ask(each, 0).error_code for each in ended}
        return not found.error_code and codes == {Error.INVALID_PRODUCER_ID_MAPPING}
    answer = asker.ask(DescribeTransactionsRequest(transactional_ids=_ONE_PER_PARTITION), 0)
    codes = {each.error_code for each in answer.transaction_states}
    return not found.error_code and codes == {Error.TRANSACTIONAL_ID_NOT_FOUND}


def _states(asker: Asker, names: list[str]) -> list[Any]:
    answer = asker.ask(DescribeTransactionsRequest(transactional_ids=names), 0)
    return [
        (
            each.error_code,
            each.transaction_state,
            each.producer_epoch,
            sorted((topic.topic, sorted(topic.partitions)) for topic in each.topics),
        )
        for each in answer.transaction_states
    ]
