"""What a load that failed, or did not end, has written already: a new run would write it again.

Of topics brokers tell it: they know how many records they have of the producers that the load has
noted. Of a data directory the state does: which partitions have got their segments.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...segments.damaged import Damaged
from ...segments.listing import PlaceError
from ...segments.writer import log_end
from ..broker import EARLIEST, LATEST, BrokerError, Cluster, Place, find_topics, offsets
from ..broker.producers import sequences
from ..errors import PipelineError
from ..places import broker_place
from ..state import Noted, State, Unfinished
from ..topics import Topics
from .to_directory import BEGUN, PUBLISHED

_SHOWN = 8
"""How many partitions are named."""


@contextmanager
def telling_of_an_unfinished_load() -> Iterator[None]:
    """A load that is refused because an earlier one did not end tells what that one has written."""
    try:
        yield
    except Unfinished as refused:
        there = _told(refused.noted)
        if there is None:
            raise
        raise PipelineError(f"{refused} ({_advice(there)})") from refused


@contextmanager
def telling_what_is_there(state: State) -> Iterator[None]:
    """A load that cannot be done, or go on, tells what it has written."""
    try:
        yield
    except (PipelineError, PlaceError) as error:
        there = None if state.plan is None else _told(state.noted)
        if there is None:
            raise
        raise PipelineError(f"{error} ({_advice(there)})") from error


def _advice(there: str) -> str:
    return (
        f"{there} already: --resume goes on after them with the same files, a new run "
        "would write them again: empty or delete the topic before one"
    )


def _told(noted: Noted) -> str | None:
    """How many records of the load are there, and where; None if there are none."""
    if "producers" not in noted.plan:
        return _as_text(_published(noted))
    topics = broker_place(noted.asked["place"])
    assert topics is not None
    return _told_by_broker(topics, noted)


def _published(noted: Noted) -> dict[Place, int]:
    """How many records partitions of a directory have got."""
    merged = len(noted.plan["splits"])
    found: dict[Place, int] = {}
    for number, staged in enumerate(noted.done.get(merged, []), merged + 1):
        place, step = (staged["topic"], staged["partition"]), noted.done.get(number)
        if step == PUBLISHED:
            found[place] = staged["records"]
        elif step == BEGUN:  # killed meanwhile: some of its segments may be there
            found[place] = min(_written_to(staged), staged["records"])
    return {place: count for place, count in found.items() if count}


def _written_to(staged: Mapping[str, Any]) -> int:
    home = os.path.join(staged["directory"], f"{staged['topic']}-{staged['partition']}")
    try:
        return max(0, log_end(home) - int(staged["base_offset"]))
    except (Damaged, PlaceError, OSError):  # which does not hide why the load failed
        return 0


def _told_by_broker(topics: Topics, noted: Noted) -> str | None:
    rows = sum(each["rows"] for each in noted.done.values())
    try:
        with Cluster(topics.addresses) as cluster:
            found, most = _written(cluster, topics.topic, noted.plan)
    except (BrokerError, OSError):  # which does not hide why the load failed
        return f"at least {rows:,} records were written" if rows else None
    if not found:  # the broker has forgotten the producers, or the topic was emptied
        rows = min(rows, most)
        return f"about {rows:,} records are there" if rows else None
    return _as_text(found)


def _as_text(found: Mapping[Place, int]) -> str | None:
    if not found:
        return None
    places = [f"{topic}-{index}: {count:,}" for (topic, index), count in sorted(found.items())]
    more = f", {len(places) - _SHOWN} partitions more" if len(places) > _SHOWN else ""
    return f"{sum(found.values()):,} records are there ({', '.join(places[:_SHOWN])}{more})"


def _written(
    cluster: Cluster, topic: str | None, plan: Mapping[str, Any]
) -> tuple[dict[Place, int], int]:
    """How many records partitions have of a load's producers, and how many of all."""
    names = ["*" if topic is None else topic]
    places = [place for each in find_topics(cluster, names, none=True) for place in each.places]
    firsts, ends = offsets(cluster, places, EARLIEST), offsets(cluster, places, LATEST)
    ours = {producer_id for producer_id, _ in plan["producers"]}
    found: dict[Place, int] = {}
    for (place, _), last in sequences(cluster, places, ours).items():
        found[place] = found.get(place, 0) + last + 1
    lengths = {place: ends[place] - firsts[place] for place in places}
    kept = {place: min(count, lengths[place]) for place, count in found.items()}
    return {place: count for place, count in kept.items() if count}, sum(lengths.values())
