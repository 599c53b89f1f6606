"""Parts of scenarios: records to send, expectations, waits.

Left out: anything that asks a broker; clients do that.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from ..clients import NewRecord, Record, wait_until
from ..clients.member import Member


def an_hour_ago() -> int:
    """The time an hour ago, in ms: recent enough for any retention."""
    return int(time.time() * 1000) - 3_600_000


def numbered(count: int, padding: bytes = b"") -> list[NewRecord]:
    """Records whose values say their number, of as many keys as fill every partition."""
    start = an_hour_ago()
    return [NewRecord(b"%d" % n + padding, b"k%d" % (n % 97), (), start + n) for n in range(count)]


def placed(place: tuple[int, int], sent: NewRecord) -> Record:
    """Return the record as it should be read at (partition, offset)."""
    partition, offset = place
    assert sent.timestamp is not None
    return Record(partition, offset, sent.timestamp, sent.key, sent.value, sent.headers)


def assert_in_order(records: Sequence[Record]) -> None:
    """The offsets rise within each partition."""
    offsets: dict[int, list[int]] = defaultdict(list)
    for record in records:
        offsets[record.partition].append(record.offset)
    for partition, read in offsets.items():
        assert all(a < b for a, b in pairwise(read)), f"partition {partition}: {read}"


def await_shares(members: Sequence[Member], shares: Sequence[int]) -> None:
    """Wait until the members have so many partitions each."""
    wait_until(
        lambda: [len(member.positions) for member in members] == shares,
        f"members have {shares} partitions",
    )


def await_records(members: Sequence[Member], count: int) -> None:
    """Wait until the members have seen so many records in all."""
    wait_until(
        lambda: sum(len(member.seen) for member in members) >= count,
        f"members have seen {count} records",
    )
