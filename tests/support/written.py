"""Records that are written over a connection, as soon as the leader takes them."""

from __future__ import annotations

import time

from odradek.wire import Error
from odradek.wire.records import NewRecord, build_batch

from tests.requests.produce import produce_request
from tests.support.clock import NOW
from tests.support.connection import Connection

# A real broker names a leader a moment before that one takes records.
READY_S = 30.0
NOT_YET = (Error.UNKNOWN_TOPIC_OR_PARTITION, Error.NOT_LEADER_OR_FOLLOWER)


def record(value: bytes, key: bytes | None = None, **headers: bytes) -> NewRecord:
    """A record of the time at which tests take place."""
    return NewRecord(NOW, key, value, tuple(headers.items()))


def write_records(address: str, topic: str, partition: int, *records: NewRecord) -> None:
    """Write records as one batch."""
    request = produce_request(bytes(build_batch(records)), topic, partition)
    with Connection(address) as connection:
        deadline = time.monotonic() + READY_S
        while True:
            result = connection.ask(request, 9).responses[0].partition_responses[0]
            if result.error_code not in NOT_YET or time.monotonic() > deadline:
                break
            time.sleep(0.05)
    assert result.error_code == Error.NONE
