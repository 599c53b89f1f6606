"""Watching: the waits for this process' broker, looked after in its thread.

After whatever happens in the broker (`Cluster.settle`), those that wait look whether what they wait
for is there now. All together they take about a tenth of the broker's time: after looks that have
taken some, the next ones come nine times that later, but after 50 ms at most. Those that wait for
records read what has come since their last look, together (record_tail.py), and do not even begin
while the ends of their partitions stay where they are.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from ...emulator.base.real_time import perf_counter
from ...wire import Refused
from .waiting import Wait

if TYPE_CHECKING:
    from ...emulator.net.server import Server
    from .record_tail import Shared

_REST = 9
"""So much longer than looking has taken they rest."""
_MOST_REST_S = 0.05
_ROUND_S = 0.005
"""After so long the others look in the next round, so that clients are served between. What is read
for all of them does not count: else one look would be a round."""
_UNKNOWN = object()


class Watching:
    """The waits of one run of a broker. Only its thread calls this."""

    def __init__(self, server: Server, shared: Shared) -> None:
        self.server = server
        self.shared = shared
        self._thread = threading.get_ident()
        self._watched: dict[Future[Any], _Watched] = {}
        self._rests_until = 0.0
        self._alarm: asyncio.TimerHandle | None = None
        server.closing.append(self._close)

    @property
    def is_looking(self) -> bool:
        """Whether it is the broker's thread that asks: it looks for those that wait."""
        return threading.get_ident() == self._thread

    def begin(self, wait: Wait[Any], future: Future[Any]) -> None:
        """Look now, and whenever something has happened, until the future has a result or was
        cancelled."""
        watched = _Watched(self.server, wait, future)
        if watched.is_over():
            return
        if not self._watched:
            self.server.cluster.watchers.append(self._look)
        self._watched[future] = watched

    def end(self, future: Future[Any]) -> None:
        """The time of a wait is over: look once more, and never again. Its future is cancelled if
        there is no result."""
        watched = self._watched.get(future)
        if watched is None or not watched.is_over():
            future.cancel()
        if watched is not None:
            self._forget(future)

    def _look(self) -> None:
        """Something has happened. A broker that comes back in a moment is looked at then."""
        if self._alarm is not None or self.server.comes_back:
            return
        begin = now = perf_counter()
        if begin < self._rests_until:
            self._look_in(self._rests_until - begin)
            return
        self.shared.seconds = 0.0
        for future, watched in list(self._watched.items()):
            if now > begin + _ROUND_S + self.shared.seconds:
                self._look_in(_rest(now - begin))
                break
            del self._watched[future]
            self._watched[future] = watched  # as the last one, so that the others have their turn
            if watched.is_over():
                self._forget(future)
            now = perf_counter()
        self._rests_until = now + _rest(now - begin)

    def _look_in(self, seconds: float) -> None:
        self._alarm = asyncio.get_running_loop().call_later(seconds, self._rested)

    def _rested(self) -> None:
        self._alarm = None
        self._rests_until = 0.0
        self._look()

    def _forget(self, future: Future[Any]) -> None:
        del self._watched[future]
        if not self._watched:
            self.server.cluster.watchers.remove(self._look)
            self.shared.clear()

    def _close(self) -> None:
        for future, watched in list(self._watched.items()):
            self._forget(future)
            if future.set_running_or_notify_cancel():
                text = f"the broker was stopped during a wait for {watched.wait.what}"
                future.set_exception(RuntimeError(text))


def _rest(taken: float) -> float:
    return min(_REST * taken, _MOST_REST_S)


class _Watched:
    def __init__(self, server: Server, wait: Wait[Any], future: Future[Any]) -> None:
        self.wait = wait
        self._server = server
        self._future = future
        self._ends: object = _UNKNOWN

    def is_over(self) -> bool:
        if self._future.done():
            return True
        try:
            found = self.wait.look() if self._may_have_changed() else None
        except BaseException as error:  # it must not end the broker's thread
            if self._future.set_running_or_notify_cancel():
                self._future.set_exception(error)
            return True
        if found is None:
            return False
        if self._future.set_running_or_notify_cancel():
            self._future.set_result(found)
        return True

    def _may_have_changed(self) -> bool:
        """Whether what is waited for may have come since the last look."""
        if not self.wait.reads_records:
            return True
        before, self._ends = self._ends, self._ends_now()
        return self._ends != before or self._ends is _UNKNOWN

    def _ends_now(self) -> object:
        """Where each partition ends, for readers of uncommitted data and of committed."""
        name, index = self.wait.topic, self.wait.partition
        try:
            partitions = self._server.cluster.topic(name or "").partitions
            return [
                (each.high_watermark, each.last_stable_offset) if each.is_log_open else None
                for each in (partitions if index is None else partitions[index : index + 1])
            ]
        except Refused:  # for the look to tell
            return _UNKNOWN
