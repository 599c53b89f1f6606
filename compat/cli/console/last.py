"""The last records of a topic: those with the latest timestamps, of all partitions together."""

from __future__ import annotations

from collections.abc import Callable

from ....wire.api.metadata import MetadataResponse
from ....wire.records import Record
from .client import Brokers
from .offsets import bounds
from .reading import Reader

_WIDER = 4


def last(
    brokers: Brokers,
    topic: MetadataResponse.Topic,
    count: int,
    is_wanted: Callable[[int, Record], bool],
    *,
    committed: bool,
) -> list[tuple[int, Record]]:
    """The last `count` that are wanted, in the order of their timestamps. Raises ConsoleError."""
    found: list[tuple[int, Record]] = []
    limits = bounds(brokers, [topic], committed=committed)
    for (name, index), (first, after) in limits.items():
        width = count
        while True:  # there may be fewer records than offsets, and not all are wanted
            start = max(first, after - width)
            reader = Reader(
                brokers, topic, {(name, index): start}, committed=committed, follow=False
            )
            own = [(each, record) for each, record in reader if is_wanted(each, record)]
            if len(own) >= count or start == first:
                break
            width *= _WIDER
        found += own[-count:]
    found.sort(key=lambda each: (each[1].timestamp, each[0], each[1].offset))
    return found[-count:]
