"""What a test waits for at a broker."""

from __future__ import annotations

from typing import Any

from .. import seen
from ..base.fitting import fits, told
from ..base.words import number_of
from .facet import Facet

_LONG_POLLS = {"Fetch", "ShareFetch", "JoinGroup", "SyncGroup", "Heartbeat"}
_AT_REST = ("Stable", "Empty", "Dead")
_LIST_GROUPS = 4  # a version that all of these releases serve


class Waiting(Facet):
    """Waits, in real seconds. Each has a coroutine twin: "a" and its name. They raise
    WaitTimeout."""

    @property
    def timeout(self) -> float:
        """How many seconds a wait takes that is given no other timeout; 10 to begin with."""
        return self._inside.timeout

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        self._inside.timeout = seen.seconds_of("timeout", seconds, self._inside.timeout)

    def wait_connected(
        self, client_id: Any = None, *, count: int = 1, timeout: float | None = None
    ) -> list[seen.SeenClient]:
        """Wait until there are so many connections, or more, of clients with this id (a str, or a
        matcher as for records), or of any client; return them. A client may have several."""
        __tracebackhide__ = True
        return self._inside.wait(self._connected(client_id, count), timeout)

    async def await_connected(
        self, client_id: Any = None, *, count: int = 1, timeout: float | None = None
    ) -> list[seen.SeenClient]:
        """`wait_connected` in a coroutine."""
        __tracebackhide__ = True
        return await self._inside.wait_async(self._connected(client_id, count), timeout)

    def wait_idle(self, *, timeout: float | None = None) -> None:
        """Wait for a moment at which no request is in progress but long polls (fetches that wait
        for records, members that wait for others), no group rebalances, and no transaction is
        open."""
        __tracebackhide__ = True
        self._inside.wait(self._idle(), timeout)

    async def await_idle(self, *, timeout: float | None = None) -> None:
        """`wait_idle` in a coroutine."""
        __tracebackhide__ = True
        await self._inside.wait_async(self._idle(), timeout)

    def _connected(self, client_id: Any, count: int) -> seen.Wait[list[seen.SeenClient]]:
        wanted = seen.count_of("count", count)

        def look() -> list[seen.SeenClient] | None:
            clients = self._inside.clients()
            found = [
                each for each in clients if client_id is None or fits(client_id, each.client_id)
            ]
            return found if len(found) >= wanted else None

        def there() -> str:
            clients = self._inside.clients()
            lines = [f"There {seen.counted(len(clients), 'connection')}."]
            return "\n".join([*lines, *(f"  {each!r}" for each in clients)])

        noun = "a connection" if wanted == 1 else number_of(wanted, "connection")
        of = "" if client_id is None else f" of client {told(client_id)}"
        return seen.Wait(noun + of, look, there)

    def _idle(self) -> seen.Wait[bool]:
        def look() -> bool | None:
            return None if self._busy() else True

        def there() -> str:
            return "\n".join(["It is busy with:", *(f"  {each}" for each in self._busy())])

        return seen.Wait("the broker to be idle", look, there)

    def _busy(self) -> list[str]:
        """What is going on."""
        from ...wire.api.list_groups import ListGroupsRequest

        found = [
            f"{client!r}, requests in flight: {client.in_flight}"
            for client in self._inside.clients()
            if client.in_flight > (client.waits_for in _LONG_POLLS)
        ]
        answer = self._inside.ask(ListGroupsRequest(), _LIST_GROUPS)
        seen.check(answer.error_code, "the groups")
        found += [
            f"group {group.group_id!r}, {group.group_state}"
            for group in answer.groups
            if group.group_state not in _AT_REST
        ]
        found += [repr(each) for each in seen.transactions_of(self._inside) if each.is_open]
        jobs = self.run(lambda cluster: len(cluster.turns))
        return found + ([f"work of the broker: {number_of(jobs, 'job')}"] if jobs else [])
