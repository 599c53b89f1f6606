"""What a load that failed has written into topics already: a new run would write it again.

Brokers tell it: they know how many records they have of the producers that the load has noted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...segments.listing import PlaceError
from ..broker import EARLIEST, LATEST, BrokerError, Cluster, Place, find_topics, offsets
from ..broker.producers import sequences
from ..errors import PipelineError
from ..state import State
from ..topics import Topics

_SHOWN = 8
"""How many partitions are named."""


@contextmanager
def telling_what_is_there(topics: Topics | None, state: State) -> Iterator[None]:
    """A load into topics that cannot be done, or go on, tells what it has written."""
    try:
        yield
    except (PipelineError, PlaceError) as error:
        there = None if topics is None or state.plan is None else _told(topics, state)
        if there is None:
            raise
        raise PipelineError(
            f"{error} ({there} already: --resume goes on after them with the same files, a new run "
            "would write them again: empty or delete the topic before one)"
        ) from error


def _told(topics: Topics, state: State) -> str | None:
    """How many records of the load are there, and where; None if there are none."""
    noted = sum(each["rows"] for each in state.done.values())
    try:
        with Cluster(topics.addresses) as cluster:
            found, most = _written(cluster, topics.topic, state.plan["producers"])
    except (BrokerError, OSError):  # which does not hide why the load failed
        return f"at least {noted:,} records were written" if noted else None
    if not found:  # the broker has forgotten the producers, or the topic was emptied
        noted = min(noted, most)
        return f"about {noted:,} records are there" if noted else None
    places = [f"{topic}-{index}: {count:,}" for (topic, index), count in sorted(found.items())]
    more = f", {len(places) - _SHOWN} partitions more" if len(places) > _SHOWN else ""
    return f"{sum(found.values()):,} records are there ({', '.join(places[:_SHOWN])}{more})"


def _written(
    cluster: Cluster, topic: str | None, producers: list[list[int]]
) -> tuple[dict[Place, int], int]:
    """How many records partitions have of these producers, and how many of all."""
    names = ["*" if topic is None else topic]
    places = [place for each in find_topics(cluster, names, none=True) for place in each.places]
    firsts, ends = offsets(cluster, places, EARLIEST), offsets(cluster, places, LATEST)
    ours = {producer_id for producer_id, _ in producers}
    found: dict[Place, int] = {}
    for (place, _), last in sequences(cluster, places, ours).items():
        found[place] = found.get(place, 0) + last + 1
    lengths = {place: ends[place] - firsts[place] for place in places}
    kept = {place: min(count, lengths[place]) for place, count in found.items()}
    return {place: count for place, count in kept.items() if count}, sum(lengths.values())
