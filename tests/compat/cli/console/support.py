"""What is written to the topic `orders` before the views look at it."""

from __future__ import annotations

from collections.abc import Callable

from odradek import Emulator
from odradek.compat.cli.console.client import Brokers
from odradek.wire import Error
from odradek.wire.records import NewRecord

from tests.requests.committed_offsets import commit_request
from tests.support.written import write_records

KEPT = {"log.retention.ms": -1}
"""Records are of the time at which tests take place, and would go after half a minute."""

Shell = Callable[..., list[list[str]]]


def fill(kafka: Emulator, partition: int, *records: NewRecord) -> None:
    """Write records to a partition of `orders`."""
    write_records(kafka.bootstrap_servers, "orders", partition, *records)


def commit(kafka: Emulator, group: str, partition: int, offset: int) -> None:
    """Commit an offset of a partition of `orders`."""
    request = commit_request(offset, "orders", partition, group=group)
    with Brokers(kafka.bootstrap_servers) as brokers:
        answer = brokers.ask_coordinator(group, request, most=9)
    assert answer.topics[0].partitions[0].error_code == Error.NONE
