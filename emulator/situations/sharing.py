"""Share groups (KIP-932): locks that end while a member works, records that are never done, share
sessions that are lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...wire import Response
from ...wire.api.share_fetch import ShareFetchResponse
from ..base.call import Call
from ..control.rules.verbs.noticing import Notice
from ..facets.rule_view import RuleView
from ..seen import SeenInFlight, SeenMember, ShareGroupView
from ..seen.share_powers import expire_locks, in_flight
from ..share.sessions import SessionKey
from ..share.state import ShareKey
from .expiring import one_member

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .situated import Situated

_API = "ShareFetch"


def locks_end_at_fetch(kafka: Situated, group: ShareGroupView, times: int) -> RuleView:
    """The locks of a member end right after it was given records."""

    def has_records(_: Call, response: Response) -> bool:
        return bool(_acquired(response))

    def end(call: Call) -> None:
        request: Any = call.request

        def end_soon(cluster: Cluster) -> None:
            def end_now() -> None:
                expire_locks(cluster, group.group_id, request.member_id)

            cluster.woken.append(end_now)

        kafka.run(end_soon)

    when = kafka.on(_API, group=group.group_id).times(times)
    return when._set("locks end", Notice(has_records, end))


def poisoned(
    kafka: Situated, group: ShareGroupView, topic: str, partition: int, offset: int
) -> tuple[RuleView, Callable[[], None]]:
    """Make a record poison. Returns what counts its deliveries, and what makes it a record like
    others again. Raises as `ShareGroupView.poison`."""
    group.poison(topic, offset, partition=partition)
    topic_id = kafka.run(lambda cluster: cluster.topic(topic).id)
    key = ShareKey(group.group_id, topic_id, partition)

    def is_delivered(_: Call, response: Response) -> bool:
        return any(
            (found_id, index) == (topic_id, partition) and first <= offset <= last
            for found_id, index, first, last in _acquired(response)
        )

    def cure() -> None:
        kafka.run(lambda cluster: cluster.share_leaders.poison.get(key, set()).discard(offset))

    return kafka.on(_API, group=group.group_id)._set("poison", Notice(is_delivered)), cure


def lost_session(
    kafka: Situated, group: ShareGroupView, wanted: SeenMember | str | None
) -> tuple[SeenInFlight, ...]:
    """Forget a member's share sessions. Returns what it had in flight, which is released. Raises
    ValueError if it has none, and as `one_member`."""
    member = one_member(group, wanted)
    key = SessionKey(group.group_id, member.member_id)

    def close(cluster: Cluster) -> list[SeenInFlight] | None:
        held = [
            each
            for each in in_flight(cluster, group.group_id)
            if each.member_id == member.member_id
        ]
        leaders = [cluster.share_leaders.at(node_id) for node_id in cluster.brokers]
        opened = [leader for leader in leaders if leader.sessions.find(key) is not None]
        for leader in opened:
            leader.close_session(key)
        cluster.settle()
        return held if opened else None

    found = kafka.run(close)
    if found is None:
        raise ValueError(f"{member!r} has no share session: it has not fetched yet")
    return tuple(found)


def _acquired(response: Response) -> list[tuple[bytes, int, int, int]]:
    """Topic id, partition, first and last offset of what was acquired."""
    if not isinstance(response, ShareFetchResponse):
        return []
    return [
        (topic.topic_id, partition.partition_index, each.first_offset, each.last_offset)
        for topic in response.responses
        for partition in topic.partitions
        for each in partition.acquired_records
    ]
