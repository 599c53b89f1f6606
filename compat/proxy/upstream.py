"""Behind: what a proxy knows of the cluster behind it, and what is done on the way.

It stands where an emulator's steps have their cluster: `chain`, `clock`, `journal` (the timeline's
events), `topics` by name and id, `brokers` with the fetch sessions that go by, and `after`, which
calls back in real time. So a `Step`
(base/chain.py) that needs no more than these works in a proxy, on the decoded requests and answers
of a real broker. Everything here belongs to the proxy's thread.

The fetch sessions that a proxy sees go by (KIP-227): what is read in each.

A client names in a session only what has changed; steps that look for a topic ask here for the
rest, as they ask a broker of an emulator. A session that began before the proxy was there is not
known.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from ...emulator.base.chain import Chain
from ...emulator.base.clock import SystemClock
from ...emulator.base.journal import Journal
from ...emulator.base.turns import carried_out
from ...emulator.control.client_tracker import ClientTracker
from ...emulator.control.traffic.exchange import Exchange, Peer, ids_of
from ...emulator.control.traffic.traffic import Traffic
from ...emulator.partitions.fetch_sessions import Wanted, WantedPartitions
from ...wire import Buffer, Response
from ...wire.api.fetch import FetchRequest, FetchResponse

_MOST = 2_000  # twice what a broker keeps


class PassingSessions:
    """Those of one broker, the last used at the end."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[int, WantedPartitions] = OrderedDict()

    def learn(self, request: FetchRequest, response: FetchResponse) -> None:
        session_id = response.session_id
        if response.error_code or request.session_epoch < 0 or not session_id:
            self._sessions.pop(request.session_id, None)  # closed, lost, or without partitions
            return
        if not request.session_epoch:
            self._sessions[session_id] = WantedPartitions()
        known = self._sessions.get(session_id)
        if known is None:
            return
        carried_out(known.add(request))
        carried_out(known.forget(request))
        self._sessions.move_to_end(session_id)
        if len(self._sessions) > _MOST:
            self._sessions.popitem(last=False)

    def wanted(self, session_id: int) -> list[Wanted]:
        """The partitions of a session; none if it is not known."""
        known = self._sessions.get(session_id)
        return [] if known is None else known.all()


class PassedBroker:
    def __init__(self) -> None:
        self.fetch_sessions = PassingSessions()


class _Topic(NamedTuple):
    id: bytes
    name: str


class Topics:
    """The topics that answers have named, with their ids."""

    def __init__(self, names: dict[bytes, str]) -> None:
        self._names = names
        self._ids: dict[str, bytes] = {}

    def learn(self, response: Response) -> None:
        for topic_id, name in ids_of(response):
            self._names[topic_id], self._ids[name] = name, topic_id

    def get(self, name: str) -> _Topic | None:
        topic_id = self._ids.get(name)
        return None if topic_id is None else _Topic(topic_id, name)

    def by_id(self, topic_id: bytes) -> _Topic | None:
        name = self._names.get(bytes(topic_id))
        return None if name is None else _Topic(bytes(topic_id), name)


class UpstreamCluster:
    def __init__(self, traffic: Traffic, max_events: int) -> None:
        self.chain = Chain()
        self.clock = SystemClock()
        self.tracker = ClientTracker(cast(Any, self), Journal(self.clock, max_events))
        self.journal = self.tracker.journal
        self.traffic = traffic
        self.keeps_traffic = False
        self.is_over = False
        self.topics = Topics(traffic.topic_names)
        self.nodes: dict[int, Any] = {}  # none of them is here
        self.brokers: defaultdict[int, PassedBroker] = defaultdict(PassedBroker)

    def begin(self, peer: Peer, frame: Buffer) -> Exchange | None:
        """A request has come; None if no journal is kept."""
        return self.traffic.begin(peer, frame) if self.keeps_traffic else None

    def after(self, milliseconds: int, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Call back when so much real time has passed."""
        return asyncio.get_running_loop().call_later(milliseconds / 1000, callback)

    def node_label(self, node_id: int) -> None:
        """Brokers have no name in events."""

    def settle(self) -> None:
        """Nothing is left to do here after a request."""
