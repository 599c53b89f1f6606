"""Behind: what a proxy knows of the cluster behind it, and what is done on the way.

It stands where an emulator's steps have their cluster: `chain`, `clock`, `journal` (the timeline's
events), `topics` by name and id, `brokers` with the fetch sessions that go by, and `after`, which
calls back in real time. So a `Step`
(base/chain.py) that needs no more than these works in a proxy, on the decoded requests and answers
of a real broker. Everything here belongs to the proxy's thread.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from ...emulator.base.chain import Chain
from ...emulator.base.clock import SystemClock
from ...emulator.base.journal import Journal
from ...emulator.control.telling import Telling
from ...emulator.control.traffic.exchange import Exchange, Peer, ids_of
from ...emulator.control.traffic.traffic import Traffic
from ...wire import Buffer, Response
from .sessions import PassedBroker


class _Topic(NamedTuple):
    id: bytes
    name: str


class Topics:
    """The topics that answers have named, with their ids."""

    def __init__(self, names: dict[bytes, str]) -> None:
        self._names = names
        self._ids: dict[str, bytes] = {}

    def learn(self, response: Response) -> None:
        """An answer that may name topics and their ids."""
        for topic_id, name in ids_of(response):
            self._names[topic_id], self._ids[name] = name, topic_id

    def get(self, name: str) -> _Topic | None:
        """A topic by its name."""
        topic_id = self._ids.get(name)
        return None if topic_id is None else _Topic(topic_id, name)

    def by_id(self, topic_id: bytes) -> _Topic | None:
        """A topic by its id."""
        name = self._names.get(bytes(topic_id))
        return None if name is None else _Topic(bytes(topic_id), name)


class UpstreamCluster:
    """A cluster behind a proxy."""

    def __init__(self, traffic: Traffic, max_events: int) -> None:
        self.chain = Chain()
        self.clock = SystemClock()
        self.telling = Telling(cast(Any, self), Journal(self.clock, max_events))
        self.journal = self.telling.journal
        self.traffic = traffic
        self.keeps_traffic = False
        self.topics = Topics(traffic.topic_names)
        self.nodes: dict[int, Any] = {}  # none of them is here
        self.brokers: defaultdict[int, PassedBroker] = defaultdict(PassedBroker)

    def begin(self, peer: Peer, frame: Buffer) -> Exchange | None:
        """A request has come; None if no journal is kept."""
        return self.traffic.begin(peer, frame) if self.keeps_traffic else None

    def after(self, milliseconds: int, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Call back when so much real time has passed."""
        return asyncio.get_running_loop().call_later(milliseconds / 1000, callback)

    def told_as(self, node_id: int) -> None:
        """Brokers are not named in what is told."""

    def settle(self) -> None:
        """Nothing is left to do here after a request."""
