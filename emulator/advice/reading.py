"""Rules about reading: what a consumer gets that it should not, and what it never sees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ..base.event import Event
from ..base.sentences import READ_UNCOMMITTED
from ..base.words import number_of
from .advice import Advice
from .seen import Place, Seen, client_of


def read_uncommitted(seen: Seen) -> Iterator[Advice]:
    """A consumer has read records of transactions without isolation.level=read_committed."""
    written = seen.in_transactions()
    told = set()
    for each in seen.of("fetched"):
        is_read = (each.topic, each.partition) in written and each.reason == READ_UNCOMMITTED
        if not is_read or (each.client, each.topic) in told:
            continue
        told.add((each.client, each.topic))
        yield Advice(
            "read_uncommitted",
            f"{each.client} reads {each.topic}, which is written in transactions, with "
            "isolation.level=read_uncommitted: it gets records that may be aborted",
            "set isolation.level=read_committed",
            client=each.client,
            topic=each.topic,
        )


def started_at_the_end(seen: Seen) -> Iterator[Advice]:
    """A consumer of a group found no committed offset, asked for the end, and began there though
    there were records. Silent if it has read any of them later."""
    missed: dict[tuple[str, str, str], list[tuple[Event, int]]] = defaultdict(list)
    for end in seen.of("looked up the end"):
        place = end.topic, end.partition
        no_offset = _first(seen.at(place, "found no offset"), end.client)
        if no_offset is None or not _began_at(seen, end, place):
            continue
        count = end.first_offset - seen.start(place, end.first_offset)
        has_read = any(e.first_offset < end.first_offset for e in seen.fetches(end.client, place))
        ends = missed[end.client, end.topic, no_offset.group]
        if count > 0 and not has_read and place not in {(e.topic, e.partition) for e, _ in ends}:
            ends.append((end, count))
    for (client, topic, group), ends in missed.items():
        if ends:
            last, records = ends[0][0], number_of(sum(count for _, count in ends), "record")
            where = (
                f"{topic}-{last.partition} at its end (offset {last.first_offset})"
                if len(ends) == 1
                else f"{len(ends)} partitions of {topic} at their ends"
            )
            yield Advice(
                "started at the end",
                f"{client} began to read {where} and has missed the {records} before",
                "set auto.offset.reset=earliest, or produce after it was assigned its partitions "
                f"(group {group})",
                client=client,
                topic=topic,
                group=group,
            )


def _first(events: Iterable[Event], client: str) -> Event | None:
    return next((each for each in events if each.client == client), None)


def _began_at(seen: Seen, end: Event, place: Place) -> bool:
    """Whether it began to read there: a fetch of several partitions without records names none."""
    began = _first(seen.at(place, "fetched", "fetched nothing"), end.client)
    if began is not None:
        return began.first_offset == end.first_offset
    fetches = seen.of("fetched", "fetched nothing")
    return any(each.client == end.client and each.topic in ("", end.topic) for each in fetches)


def unread_partitions(seen: Seen) -> Iterator[Advice]:
    """A client that is in no group reads some partitions of a topic, and nobody reads others, which
    have records. Silent for those of which anybody has asked for the end or a committed offset."""
    if seen.cluster is None:
        return
    looked = ("fetched", "took", "looked up the end", "found offset", "found no offset")
    read: dict[str, dict[int, str]] = defaultdict(dict)
    for each in seen.of(*looked):
        read[each.topic].setdefault(each.partition, each.client)
    members = {client_of(each.client) for each in seen.of("joined")}
    for name, by_partition in read.items():
        topic = seen.cluster.topics.get(name)
        readers = {e.client for e in seen.of("fetched") if e.topic == name}
        if topic is None or name.startswith("__") or not readers or readers & members:
            continue
        left = {
            each.index: each.log_end_offset - each.log_start_offset
            for each in topic.partitions
            if each.index not in by_partition and each.log_end_offset > each.log_start_offset
        }
        if left:
            yield _unread(name, sorted(readers)[0], left)


def _unread(topic: str, reader: str, left: dict[int, int]) -> Advice:
    names = " and ".join(f"{topic}-{index}" for index in left)
    has = f"{'has' if len(left) == 1 else 'have'} {number_of(sum(left.values()), 'record')}"
    return Advice(
        "unread partition",
        f"{reader} reads {topic} by assign, and nobody reads {names}, which {has}",
        "assign all of consumer.partitions_for_topic, or subscribe in a group",
        client=reader,
        topic=topic,
    )
