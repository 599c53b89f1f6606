"""Which partitions of a share group have a state at the share coordinator (record 15).

Rules (semantics N2, N21, N26):
- A heartbeat finds partitions of subscribed topics that have none. They are noted as initializing,
  then initialised, and only then assigned. If that fails they are noted no more; what has been
  initializing for `group.share.initialize.retry.interval.ms` is tried again.
- Altering offsets initialises them anew, from the given offset on. Deleting offsets or the group
  notes the topics as being deleted first.
- A deleted topic is forgotten.
Functions here return what the record is to say; None if there is nothing to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...base.java_order import hash_map_order
from ..topics_view import TopicsView
from .group import ShareGroup
from .members import StatePartitions, TopicState

Offsets = Mapping[bytes, Mapping[int, int]]
"""Where partitions begin, by topic id and number."""
_UNKNOWN = "<UNKNOWN>"


def uninitialized(
    group: ShareGroup, names: Iterable[str], now: int, retry_ms: int
) -> dict[bytes, TopicState]:
    """The partitions of these topics that have no state, and are not getting any."""
    states = group.known_states
    recent = {t: s for t, s in states.initializing.items() if now - s.since < retry_ms}
    known = _united(states.initialized, recent)
    missing: dict[bytes, TopicState] = {}
    for name in hash_map_order(names):
        topic = group.view.catalogue.get(name)
        if topic is None:
            continue
        count = len(topic.partitions)
        found = known[topic.id].partitions if topic.id in known else frozenset()
        if len(found) < count:
            missing[topic.id] = TopicState(name, frozenset(range(count)) - found, now)
    return missing


def initializing(group: ShareGroup, topics: Mapping[bytes, TopicState]) -> StatePartitions | None:
    """The record before these are initialised."""
    if not topics:
        return None
    states = group.known_states
    both = _united(states.initializing, topics)
    deleting = {t: name for t, name in states.deleting.items() if t not in both}
    return StatePartitions(both, states.initialized, _named(group.view, deleting))


def initialized(group: ShareGroup, topics: Mapping[bytes, Iterable[int]]) -> StatePartitions:
    """The record after these are initialised."""
    states, view = group.known_states, group.view
    done = {
        topic_id: TopicState(_name(view, topic_id), frozenset(parts))
        for topic_id, parts in topics.items()
    }
    left = _without(states.initializing, topics)
    return StatePartitions(left, _united(states.initialized, done), _named(view, states.deleting))


def not_initialized(
    group: ShareGroup, topics: Mapping[bytes, Iterable[int]]
) -> StatePartitions | None:
    """The record if that has failed."""
    states = group.known_states
    if not states.initializing:
        return None
    left = _without(states.initializing, topics)
    return StatePartitions(left, states.initialized, _named(group.view, states.deleting))


def all_deleting(group: ShareGroup) -> tuple[StatePartitions | None, dict[bytes, frozenset[int]]]:
    """The record before the group is deleted, and the partitions whose state is to be deleted."""
    states = group.states
    if states is None:
        return None, {}
    topics = _united(states.initialized, states.initializing)
    for topic_id in states.deleting:
        count = group.view.count(topic_id)
        if count:
            again = TopicState(_name(group.view, topic_id), frozenset(range(count)))
            topics = _united(topics, {topic_id: again})
    names = {topic_id: topic.name for topic_id, topic in topics.items()}
    parts = {topic_id: topic.partitions for topic_id, topic in topics.items()}
    return StatePartitions({}, {}, names), parts


def without_topics(group: ShareGroup, topic_ids: frozenset[bytes]) -> StatePartitions | None:
    """The record after topics were deleted."""
    states = group.known_states
    named = states.initializing.keys() | states.initialized.keys() | states.deleting.keys()
    if named.isdisjoint(topic_ids):
        return None
    first, second = (
        {t: s for t, s in topics.items() if t not in topic_ids} for topics in states[:2]
    )
    deleting = {t: name for t, name in states.deleting.items() if t not in topic_ids}
    return StatePartitions(first, second, _named(group.view, deleting))


def deleting(group: ShareGroup, topic_ids: Iterable[bytes]) -> StatePartitions:
    """The record before the state of topics is deleted."""
    states = group.known_states
    gone = dict.fromkeys(topic_ids)
    kept = {t: s for t, s in states.initialized.items() if t not in gone}
    names = _named(group.view, {**dict.fromkeys(states.deleting), **gone})
    return StatePartitions(states.initializing, kept, names)


def deleted(group: ShareGroup, topic_ids: Iterable[bytes]) -> StatePartitions:
    """The record after that."""
    states = group.known_states
    gone = set(topic_ids)
    left = {t: name for t, name in states.deleting.items() if t not in gone}
    return StatePartitions(states.initializing, states.initialized, _named(group.view, left))


def _united(
    first: Mapping[bytes, TopicState], second: Mapping[bytes, TopicState]
) -> dict[bytes, TopicState]:
    found = dict(first)
    for topic_id, topic in second.items():
        before = found.get(topic_id)
        parts = topic.partitions if before is None else before.partitions | topic.partitions
        found[topic_id] = TopicState(topic.name, parts, topic.since)
    return found


def _without(
    topics: Mapping[bytes, TopicState], gone: Mapping[bytes, Iterable[int]]
) -> dict[bytes, TopicState]:
    left = {}
    for topic_id, topic in topics.items():
        parts = topic.partitions.difference(gone.get(topic_id, ()))
        if parts:
            left[topic_id] = topic._replace(partitions=parts)
    return left


def _name(view: TopicsView, topic_id: bytes) -> str:
    topic = view.catalogue.by_id(topic_id)
    return _UNKNOWN if topic is None else topic.name


def _named(view: TopicsView, topics: Iterable[bytes]) -> dict[bytes, str]:
    return {topic_id: _name(view, topic_id) for topic_id in topics}
