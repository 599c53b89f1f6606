"""What consumers see: records in either isolation level, and the offsets of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.batch import batches
from odradek.wire.records import read_records

from tests.requests.committed_offsets import committed as fetched
from tests.requests.fetch import fetch
from tests.support.cluster import client_of


def read(
    cluster: Cluster, *, committed: bool, topic: str = "t", partition: int = 0
) -> list[bytes | None]:
    """The values a consumer sees: it skips markers and, if told to, what was aborted."""
    values: list[bytes | None] = []
    offset = 0
    client = client_of(cluster)
    while True:
        answer = fetch(
            client, offset, topic=topic, partition=partition, isolation_level=int(committed)
        )
        assert answer.error_code == Error.NONE
        found = delivered(bytes(answer.records or b""), answer.aborted_transactions or [], offset)
        values += found[0]
        if found[1] == offset:
            return values
        offset = found[1]


def delivered(data: bytes, aborted: Sequence[Any], offset: int) -> tuple[list[bytes | None], int]:
    """What a stock consumer makes of fetched bytes, and where it goes on (KIP-98)."""
    values: list[bytes | None] = []
    pending = sorted(aborted, key=lambda each: each.first_offset)
    open_ids: set[int] = set()
    for pos, header in batches(data):
        while pending and pending[0].first_offset <= header.last_offset:
            open_ids.add(pending.pop(0).producer_id)
        if header.is_control:
            open_ids.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in open_ids):
            values += [r.value for r in read_records(data, pos) if r.offset >= offset]
        offset = max(offset, header.last_offset + 1)
    return values, offset


def committed_offset(cluster: Cluster, group: str = "g", *, stable: bool = True) -> int | Error:
    """What a group has committed for t-0; the error if there is one."""
    found = fetched(client_of(cluster), version=7, group=group, require_stable=stable)
    return Error(found.error_code) if found.error_code else int(found.committed_offset)
