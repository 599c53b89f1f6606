"""Waiting for transactions to come to rest: markers are written, and what has timed out is aborted,
behind the answers. Two brokers have come to rest when they describe the same states."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from odradek.wire.api.describe_transactions import DescribeTransactionsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from ..engine.versions import Asker

# Ids of which each partition of `__transaction_state` keeps one.
_EVERYWHERE = [chr(code) for code in range(50, 100)]
_NOT_FOUND = 105


def settle_transactions(askers: Sequence[Asker], ids: Iterable[str], limit_s: float) -> None:
    """Wait until both sides say the same of these transactional ids, or the time is over."""
    names, deadline = sorted(ids), time.monotonic() + limit_s
    while names and time.monotonic() < deadline:
        real, ours = (_states(asker, names) for asker in askers)
        if real == ours:
            return
        time.sleep(0.002)


def is_warm(asker: Asker) -> bool:
    """Whether every partition of the coordinator is loaded; the first look makes its topic."""
    found = asker.ask(FindCoordinatorRequest(key="warm-up", key_type=1), 1)
    answer = asker.ask(DescribeTransactionsRequest(transactional_ids=_EVERYWHERE), 0)
    codes = {each.error_code for each in answer.transaction_states}
    return not found.error_code and codes == {_NOT_FOUND}


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
