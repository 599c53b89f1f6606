"""The fetch sessions that a proxy sees go by (KIP-227): what is read in each.

A client names in a session only what has changed; steps that look for a topic ask here for the
rest, as they ask a broker of an emulator. A session that began before the proxy was there is not
known.
"""

from __future__ import annotations

from collections import OrderedDict

from ...emulator.partitions.fetch_sessions import Wanted, WantedPartitions
from ...wire.api.fetch import FetchRequest, FetchResponse

_MOST = 2_000  # twice what a broker keeps


class PassingSessions:
    """Those of one broker, the last used at the end."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[int, WantedPartitions] = OrderedDict()

    def learn(self, request: FetchRequest, response: FetchResponse) -> None:
        """A fetch was answered."""
        session_id = response.session_id
        if response.error_code or request.session_epoch < 0 or not session_id:
            self._sessions.pop(request.session_id, None)  # closed, lost, or without partitions
            return
        if not request.session_epoch:
            self._sessions[session_id] = WantedPartitions()
        known = self._sessions.get(session_id)
        if known is None:
            return
        known.add(request)
        known.forget(request)
        self._sessions.move_to_end(session_id)
        if len(self._sessions) > _MOST:
            self._sessions.popitem(last=False)

    def wanted(self, session_id: int) -> list[Wanted]:
        """What is read in a session; nothing if it is not known."""
        known = self._sessions.get(session_id)
        return [] if known is None else known.all()


class PassedBroker:
    """A broker behind a proxy, as far as steps look at one."""

    def __init__(self) -> None:
        self.fetch_sessions = PassingSessions()
