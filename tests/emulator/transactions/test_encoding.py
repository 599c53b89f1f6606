"""Records of `__transaction_state`, at each level of transaction.version (semantics H10)."""

from __future__ import annotations

import pytest
from odradek.emulator.transactions.store import decoded, encoded_key, encoded_value
from odradek.emulator.transactions.transaction import TV2, State, Transaction
from odradek.wire.records import Record

from tests.support.clock import NOW


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("state", list(State))
def test_a_record_comes_back_as_it_was_written(level: int, state: State) -> None:
    written = Transaction(
        "x",
        5,
        60_000,
        previous_producer_id=5 if level else -1,
        next_producer_id=6 if level else -1,
        epoch=7,
        state=state,
        partitions=() if state is State.EMPTY else (("a", 2), ("a", 0), ("b", 1)),
        last_update_ms=NOW,
        start_ms=NOW - 5,
        client_version=TV2 if level else 0,
    )
    key, value = encoded_key("x"), encoded_value(written, level)
    assert value[:2] == (b"\0\0" if level == 0 else b"\0\1")
    record = Record(0, NOW, key, value, ())
    assert decoded(record) == ("x", written)
    assert decoded(record._replace(value=None)) == ("x", None)
