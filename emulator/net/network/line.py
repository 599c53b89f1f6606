"""Line and Place: what faults of the network look at, at a broker's server and at a proxy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Protocol

from ...base.journal import Journal

if TYPE_CHECKING:
    from .link import Link
    from .network import Network


class Line(Protocol):
    """The protocol of one client's connection, a BufferedProtocol."""

    node_id: int

    @property
    def port(self) -> int:
        """The client's port."""
        ...

    @property
    def who(self) -> str | None:
        """The client's id; None before its first request."""
        ...

    @property
    def name(self) -> str:
        """The client's name in events; "" if that is not known yet."""
        ...

    @property
    def is_reading(self) -> bool:
        """Whether there is room for more bytes."""
        ...

    @property
    def is_blocked(self) -> bool:
        """Whether writing to it is paused."""
        ...

    @property
    def socket_transport(self) -> asyncio.Transport: ...

    def use_transport(self, transport: asyncio.Transport | Link) -> None:
        """Send by another transport from now on: one that stands before the socket's, or that."""

    def take(self, data: bytes) -> bytes:
        """Bytes that were received by somebody else. Returns those for which there is no room."""
        ...

    def lost(self) -> None:
        """For the broker it has ended; the client's socket stays open."""

    def reset_when_closed(self) -> None:
        """When it is closed, the client's socket is reset, and what is on its way is lost."""

    def eof_received(self) -> bool | None: ...

    def connection_lost(self, exc: Exception | None) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...


class Place(Protocol):
    network: Network

    @property
    def protocols(self) -> Collection[Line]: ...

    @property
    def node_ids(self) -> Collection[int]: ...

    @property
    def journal(self) -> Journal: ...

    def refuse(self, reason: object, is_at: Callable[[int], bool]) -> None:
        """Refuse new connections to these brokers until `accept_again` for the same reason. Raises
        OSError."""

    def accept_again(self, reason: object) -> None:
        """For this reason no connection is refused any more. Raises OSError."""
