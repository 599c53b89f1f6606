"""What a request asks for, by entries: a fetch also for what is in its session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from ....wire import NO_ID, Request
from ....wire.api.fetch import FetchRequest
from ....wire.api.share_fetch import ShareFetchRequest
from ...base.call import Call
from ...partitions.fetch_sessions import Wanted
from ...share.sessions import Part, SessionKey
from .entries import Entry, entries, own_values
from .places import PARTITION, TOPIC
from .rules import Rules


def asked_for(rules: Rules, call: Call, request: Request) -> Iterable[Entry]:
    """What a request asks for; a fetch also for what is in its session."""
    found = entries(request, call.version, rules.topic_name)
    if isinstance(request, FetchRequest) and request.session_epoch > 0:
        return chain(found, (_entry_of(rules, each) for each in _session(rules, call, request)))
    if isinstance(request, ShareFetchRequest) and request.share_session_epoch > 0:
        return chain(found, _share_session(rules, call, request))
    return found


def _share_session(rules: Rules, call: Call, request: ShareFetchRequest) -> Iterator[Entry]:
    """What a share fetch asks for without naming it."""
    key = SessionKey(request.group_id or "", request.member_id or "")
    session = rules.cluster.share_leaders.at(call.node_id).sessions.find(key)
    own = own_values(request, call.version)
    forgotten = {
        Part(topic.topic_id, index)
        for topic in request.forgotten_topics_data
        for index in topic.partitions
    }
    for part in [] if session is None else session.parts:
        if part not in forgotten:
            name = rules.topic_name(part.topic_id)
            yield {**own, TOPIC: name, PARTITION: part.partition}


def _session(rules: Rules, call: Call, request: FetchRequest) -> Iterator[Wanted]:
    """What a fetch asks for without naming it."""
    sessions = rules.cluster.brokers[call.node_id].fetch_sessions
    forgotten = {
        (topic.topic_id, topic.topic, index)
        for topic in request.forgotten_topics_data
        for index in topic.partitions
    }
    for wanted in sessions.wanted(request.session_id):
        topic = wanted.topic
        if (topic.topic_id, topic.name, wanted.partition) not in forgotten:
            yield wanted


def _entry_of(rules: Rules, wanted: Wanted) -> Entry:
    """A partition of a fetch session as an entry."""
    topic = wanted.topic
    name = topic.name if topic.topic_id == NO_ID else rules.topic_name(topic.topic_id)
    return {TOPIC: name, PARTITION: wanted.partition}
