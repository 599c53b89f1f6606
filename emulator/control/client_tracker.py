"""ClientTracker: connections and requests, as events of the journal.

`met` is called with a connection's first request, `closed` when it has ended, and `answered` with
each request but Produce and Fetch (their handlers tell for themselves) and its response.

Rules:
- Connections of one client id count as one client, unless they say of themselves to be different
  software. It has connected with its first connection, and closed with its last one; but a
  connection that has only learnt where the brokers are is not the last: others follow.
- A client is left behind in a group if the connection by which it takes part is closed while it
  still is a member.

The events of a request and its response, by the API.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...wire import Response
from ...wire.api.api_versions import ApiVersionsRequest
from ...wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ...wire.api.find_coordinator import FindCoordinatorRequest
from ...wire.api.heartbeat import HeartbeatRequest
from ...wire.api.join_group import JoinGroupRequest
from ...wire.api.list_offsets import ListOffsetsRequest
from ...wire.api.metadata import MetadataRequest
from ...wire.api.offset_commit import OffsetCommitRequest
from ...wire.api.offset_fetch import OffsetFetchRequest
from ...wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from ...wire.api.txn_offset_commit import TxnOffsetCommitRequest
from ..base.call import ANONYMOUS, TEST, UNKNOWN_SOFTWARE, ClientSoftware
from ..base.event import QUIET, QUIET_OF
from ..base.journal import Journal
from ..base.logger import log
from .refusals import Refusal, finder, refusals

if TYPE_CHECKING:
    from ..base.call import Call, Sender
    from ..cluster import Cluster


_LATEST = -1
_ONE_BY_ONE = 3
_MOST = 10
_MOST_LOOKED_AT = 100
"""Of partitions, of all topics together: a request about more of them is logged in part."""


def _first(topics: Sequence[Any]) -> Sequence[tuple[Any, Any]]:
    if len(topics) == 1 and len(topics[0].partitions) == 1:
        return ((topics[0], topics[0].partitions[0]),)
    each = ((topic, partition) for topic in topics for partition in topic.partitions)
    return list(islice(each, _MOST_LOOKED_AT))


def _joined(request: JoinGroupRequest, response: Any) -> tuple[str, str] | None:
    return None if response.error_code else (request.group_id, response.member_id)


def _beat(request: HeartbeatRequest, response: Any) -> tuple[str, str] | None:
    return None if response.error_code else (request.group_id, request.member_id)


def _new_beat(
    request: ConsumerGroupHeartbeatRequest | StreamsGroupHeartbeatRequest, response: Any
) -> tuple[str, str] | None:
    is_leaving = request.member_epoch < 0
    return None if response.error_code or is_leaving else (request.group_id, response.member_id)


MEMBERSHIPS: dict[int, Callable[[Any, Any], tuple[str, str] | None]] = {
    JoinGroupRequest.api_key: _joined,
    HeartbeatRequest.api_key: _beat,
    ConsumerGroupHeartbeatRequest.api_key: _new_beat,
    StreamsGroupHeartbeatRequest.api_key: _new_beat,
}
"""Group and member that a request is about, if it has succeeded."""


def _committed(
    cluster: Cluster, call: Call, request: Any, response: Any, found: list[Refusal]
) -> None:
    """OffsetCommit, TxnOffsetCommit."""
    refused = found and {
        (_name(cluster, topic), partition.partition_index)
        for topic in response.topics
        for partition in topic.partitions
        if partition.error_code
    }
    client = _member_name(cluster, call, request)
    transactional_id = getattr(request, "transactional_id", "")
    for topic, partition in _first(request.topics):
        name = _name(cluster, topic)
        if not refused or (name, partition.partition_index) not in refused:
            cluster.journal.again(
                "committed",
                partition.committed_offset,
                client,
                name,
                partition.partition_index,
                request.group_id,
                transactional_id,
            )


def _found_offsets(
    cluster: Cluster, call: Call, request: OffsetFetchRequest, response: Any, _: list[Refusal]
) -> None:
    """OffsetFetch of a client that names the partitions, as consumers do."""
    groups: Iterable[Any] = response.groups
    if call.version < 8:
        if request.topics is None:
            return
        groups = [response]
    for group in groups:
        group_id = request.group_id if group is response else group.group_id
        for topic, partition in _first(group.topics):
            if partition.error_code:
                continue
            offset = partition.committed_offset
            cluster.journal.again(
                "found offset" if offset >= 0 else "found no offset",
                offset,
                call.connection.name,
                topic.name or _name(cluster, topic),
                partition.partition_index,
                group_id,
            )


def _looked_up(
    cluster: Cluster, call: Call, request: ListOffsetsRequest, response: Any, _: list[Refusal]
) -> None:
    """ListOffsets of the end: what a consumer does that begins at the latest offset."""
    latest = set()
    for topic, asked in _first(request.topics):
        if asked.timestamp == _LATEST:
            latest.add((topic.name, asked.partition_index))
    if not latest or not call.version:
        return
    for topic, partition in _first(response.topics):
        place = topic.name, partition.partition_index
        offset = partition.offset
        if place in latest and offset >= 0 and not partition.error_code:
            cluster.journal.run("looked up the end", call.connection.name, *place, offset, offset)


EVENT_OF: dict[int, Callable[[Cluster, Call, Any, Any, list[Refusal]], None]] = {
    OffsetCommitRequest.api_key: _committed,
    TxnOffsetCommitRequest.api_key: _committed,
    OffsetFetchRequest.api_key: _found_offsets,
    ListOffsetsRequest.api_key: _looked_up,
}


LOOKS = frozenset({OffsetFetchRequest.api_key, ListOffsetsRequest.api_key})
"""They change nothing: logged of a client, but not of the test, which looks at the broker so."""


def tell_refusals(cluster: Cluster, call: Call, request: Any, found: list[Refusal]) -> None:
    """Each error of a response that is not normal traffic."""
    api = type(request).__name__.removesuffix("Request")
    logged = [each for each in found if _is_logged(cluster, api, each)]
    group = getattr(request, "group_id", None) or ""
    for each in _summed(cluster, logged)[:_MOST]:
        cluster.journal.refused(
            _member_name(cluster, call, request),
            api,
            each.error,
            each.topic,
            each.partition,
            each.message,
            each.group or group,
            getattr(request, "transactional_id", None) or "",
            cluster.node_label(call.node_id),
        )


def _is_logged(cluster: Cluster, api: str, refusal: Refusal) -> bool:
    if refusal.error in QUIET or (api, refusal.error) in QUIET_OF:
        return False
    # Answered as unknown this once: it was created for this request.
    is_new = api == MetadataRequest.__name__.removesuffix("Request") and refusal.topic
    return not (is_new and cluster.topics.get(refusal.topic) is not None)


def _summed(cluster: Cluster, found: list[Refusal]) -> list[Refusal]:
    """One for a topic of which many partitions are refused; topics by their names."""
    if len(found) == 1 and (found[0].topic or not found[0].topic_id):
        return found
    named = []
    for each in found:
        topic = each.topic
        if not topic and each.topic_id:
            known = cluster.topics.by_id(each.topic_id)
            topic = "" if known is None else known.name
        named.append(each._replace(topic=topic, topic_id=b""))
    count = Counter((each.error, each.topic) for each in named)
    many = [
        each._replace(partition=-1) if count[each.error, each.topic] > _ONE_BY_ONE else each
        for each in named
    ]
    return list(dict.fromkeys(many))


def _member_name(cluster: Cluster, call: Call, request: Any) -> str:
    member_id = getattr(request, "member_id", None) or ""
    key = getattr(request, "group_instance_id", None) or member_id
    return cluster.journal.members.known(key, call.connection.name)


def _name(cluster: Cluster, topic: Any) -> str:
    topic_id = getattr(topic, "topic_id", b"")
    if topic.name or not topic_id:
        return str(topic.name)
    known = cluster.topics.by_id(topic_id)
    return "" if known is None else known.name


LEARNING = frozenset(
    {ApiVersionsRequest.api_key, FindCoordinatorRequest.api_key, MetadataRequest.api_key}
)
_MOST_TELLING = 10_000
_MOST_MEMBERS = 100
NAMELESS = "a client without an id"


@dataclass(eq=False, slots=True)
class _Client:
    """The open connections of one client id and software."""

    name: str
    software: ClientSoftware
    open: int = 0
    is_at_work: bool = False
    is_connected: bool = False


class ClientTracker:
    """Names of a cluster's connections, and the members they speak for."""

    def __init__(self, cluster: Cluster, journal: Journal) -> None:
        self.journal = journal
        journal.clock = cluster.clock
        self._cluster = cluster
        self._clients: dict[str, list[_Client]] = {}
        self._of: dict[Sender, _Client] = {}
        self._members: dict[Sender, dict[tuple[str, str], None]] = {}

    def take_over(self, before: ClientTracker) -> None:
        """Know the connections that another cluster had, as far as they are open."""
        self._clients, self._of, self._members = before._clients, before._of, before._members

    def met(self, connection: Sender, client_id: str) -> None:
        """The first request of a connection has arrived, or says what software it is."""
        if not self.journal.is_on or connection in self._of:
            return
        client = self._client(client_id, connection.software)
        self._of[connection] = client
        connection.name = client.name
        client.open += 1
        if not client.is_connected:
            client.is_connected = True
            name, version = client.software
            is_known = client.software != UNKNOWN_SOFTWARE
            software = f" ({name} {version})" if is_known else ""
            if connection.principal != ANONYMOUS:
                software += f" as {connection.principal} at {connection.listener}"
            details = {"software": software, "host": connection.client_host}
            self.journal.add("connected", client=client.name, details=details)

    def _client(self, client_id: str, software: ClientSoftware) -> _Client:
        if len(self._clients) >= _MOST_TELLING:
            self._clients = {
                name: some
                for name, some in self._clients.items()
                if any(client.open for client in some)
            }
        known = self._clients.setdefault(client_id, [])
        for client in known:
            if UNKNOWN_SOFTWARE in (client.software, software) or client.software == software:
                if client.software == UNKNOWN_SOFTWARE:
                    client.software = software
                return client
        name = client_id or NAMELESS
        client = _Client(f"{name} ({software.name})" if known else name, software)
        known.append(client)
        return client

    def closed(self, connection: Sender, *, is_at_work: bool) -> None:
        client = self._of.pop(connection, None)
        if client is None or self._cluster.is_over:
            return
        client.is_at_work = client.is_at_work or is_at_work
        for group_id, member_id in sorted(self._members.pop(connection, ())):
            self._tell_member(client, group_id, member_id)
        client.open -= 1
        if not client.open and client.is_at_work:
            client.is_at_work = client.is_connected = False
            self.journal.add("closed", client=client.name)

    def tell_open_members(self) -> None:
        """Who uses the broker has ended: tell of members whose client was not closed."""
        for connection, members in list(self._members.items()):
            client = self._of.get(connection)
            for group_id, member_id in sorted(members):
                member = _member(self._cluster, group_id, member_id)
                if client is not None and member is not None and member.instance_id is None:
                    name = self.journal.members.known(member_id, client.name)
                    fields = {"client": name, "group": group_id, "member": member_id}
                    self.journal.add("still open", **fields)

    def _tell_member(self, client: _Client, group_id: str, member_id: str) -> None:
        member = _member(self._cluster, group_id, member_id)
        if member is None:
            return
        static: str | None = member.instance_id
        stays = "it stays a member until its session times out"
        if static is not None:
            stays = f"{stays}, as static members do"
        name = self.journal.members.known(static or member_id, client.name)
        details = {} if static is None else {"instance": static}
        fields = {"client": name, "group": group_id, "member": member_id, "reason": stays}
        self.journal.add("left behind", **fields, details=details)

    def speaks_for(self, connection: Sender, group_id: str, member_id: str) -> None:
        """A member of a group is heard of by this connection."""
        members = self._members.setdefault(connection, {})
        members[group_id, member_id] = None
        if len(members) > _MOST_MEMBERS:  # it may have spoken for any number that are gone
            del members[next(iter(members))]

    def answered(self, call: Call, request: Any, response: Response) -> None:
        key, connection = call.api_key, call.connection
        try:
            if key not in LEARNING and (client := self._of.get(connection)) is not None:
                client.is_at_work = True
            if key in MEMBERSHIPS:
                membership = MEMBERSHIPS[key](request, response)
                known = self._members.get(connection, ())
                if membership is not None and membership not in known:
                    self.speaks_for(connection, *membership)
            found = refusals(response) if finder(type(response))(response) else []
            if key in EVENT_OF and not (key in LOOKS and connection.name == TEST):
                EVENT_OF[key](self._cluster, call, request, response, found)
            if found and connection.name != TEST:  # a test gets an exception
                tell_refusals(self._cluster, call, request, found)
        except Exception:  # a client must not suffer from its own events
            log.exception("%r could not be logged", connection)


def _member(cluster: Cluster, group_id: str, member_id: str) -> Any:
    """A member of a group of any type, None if it is none."""
    for node_id in cluster.nodes:
        for shard in cluster.groups.at(node_id).shards.values():
            group = shard.groups.get(group_id)
            if group is not None:
                return group.members.get(member_id)
    return None
