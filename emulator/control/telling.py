"""Telling: connections and requests, told to the journal.

`met` is called with a connection's first request, `closed` when it has ended, and `answered` with
each request but Produce and Fetch (their handlers tell for themselves) and its response.

Rules:
- Connections of one client id count as one client, unless they say of themselves to be different
  software. It has connected with its first connection, and closed with its last one; but a
  connection that has only learnt where the brokers are is not the last: others follow.
- A client is left behind in a group if the connection by which it takes part is closed while it
  still is a member.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...wire import Response
from ...wire.api.api_versions import ApiVersionsRequest
from ...wire.api.find_coordinator import FindCoordinatorRequest
from ...wire.api.metadata import MetadataRequest
from ..base.call import TEST
from ..base.client import ANONYMOUS, UNKNOWN_SOFTWARE, ClientSoftware
from ..base.journal import Journal
from ..base.logger import log
from .refusals import finder, refusals
from .tellers import LOOKS, MEMBERSHIPS, TELLERS, tell_refusals

if TYPE_CHECKING:
    from ..base.call import Call, Sender
    from ..cluster import Cluster

LEARNING = frozenset(
    {ApiVersionsRequest.api_key, FindCoordinatorRequest.api_key, MetadataRequest.api_key}
)
_MOST = 10_000
_MOST_MEMBERS = 100
NAMELESS = "a client without an id"


@dataclass(eq=False, slots=True)
class _Client:
    """What one client id and software has open."""

    name: str
    software: ClientSoftware
    open: int = 0
    is_at_work: bool = False
    is_connected: bool = False


class Telling:
    """What a cluster's connections are called, and which members they speak for."""

    def __init__(self, cluster: Cluster, journal: Journal) -> None:
        self.journal = journal
        journal.clock = cluster.clock
        self.is_over = False
        """The broker stops: it closes the connections, and not the clients."""
        self._cluster = cluster
        self._clients: dict[str, list[_Client]] = {}
        self._of: dict[Sender, _Client] = {}
        self._members: dict[Sender, dict[tuple[str, str], None]] = {}

    def take_over(self, before: Telling) -> None:
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
        if len(self._clients) >= _MOST:
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
        """A connection has ended."""
        client = self._of.pop(connection, None)
        if client is None or self.is_over:
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
        """A request is answered."""
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
            if key in TELLERS and not (key in LOOKS and connection.name == TEST):
                TELLERS[key](self._cluster, call, request, response, found)
            if found and connection.name != TEST:  # a test is told by an exception
                tell_refusals(self._cluster, call, request, found)
        except Exception:  # a client must not suffer from what is told of it
            log.exception("%r could not be told", connection)


def _member(cluster: Cluster, group_id: str, member_id: str) -> Any:
    """A member of a group of any type, None if it is none."""
    for node_id in cluster.nodes:
        for shard in cluster.groups.at(node_id).shards.values():
            group = shard.groups.get(group_id)
            if group is not None:
                return group.members.get(member_id)
    return None
