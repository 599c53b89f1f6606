"""The only asyncio: sockets, and timers at the next deadlines.

Cluster and Connection decide everything, and use neither. Bytes are received straight into the
buffer that `Frames` offers (protocol.py), and answers are given to the transport piece by piece as
they are, windows of mapped segments included.

A sendfile from segment to socket was tried and is no faster than the mapping. A stock consumer of
240 MiB over loopback, in 1 and 12 partitions, medians of 5 alternating runs: 0.09-0.13 s of the
broker's CPU with mappings, 0.11-0.15 s with sendfile, at the same throughput, which is the
client's limit; 0.10-0.24 s copied by pread, which is slower with 12 partitions. Also sendfile does
not work under TLS, and asyncio and uvloop do not allow waiting for the socket of a transport.

Alarm: rings on an event loop when the first of some timers is due.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ..base.clock import Movable, TestClock
from ..base.journal import Journal
from ..base.real_time import real_ms
from ..base.timers import Timers
from ..metadata.delta import MetadataDelta
from ..metadata.image import BROKER_RESOURCE, MetadataImage
from ..replication.brokers import BrokerState, Process
from ..security.listeners import PLAINTEXT
from .connections import Connections
from .listener import Listener
from .network.fault import DOWN, UP, Effect, Fault
from .network.network import Network
from .protocol import ClientProtocol, FollowingProtocol, bound, copy_of
from .receive_budget import ROOM_BYTES, ReceiveBudget

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..config.configs import BrokerConfig
    from .tls import ListenerTls


class Alarm:
    """`until` says how many real milliseconds are left until a time of the timers, None if there is
    no telling; `ring` fires what is due."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        timers: Timers,
        until: Callable[[int], float | None],
        ring: Callable[[], object],
    ) -> None:
        self._loop = loop
        self._timers = timers
        self._until = until
        self._ring = ring
        self._handle: asyncio.TimerHandle | None = None
        self._set_for = 0
        timers.on_earlier = self._set
        self._set()  # for what was set before

    def set_anew(self) -> None:
        """Their time goes on otherwise than it did."""
        self._cancel()
        self._set()

    def close(self) -> None:
        self._timers.on_earlier = None
        self._cancel()

    def _cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _set(self) -> None:
        when = self._timers.next()
        if when is None or (self._handle is not None and self._set_for <= when):
            return
        left = self._until(when)
        if left is None:
            return
        self._cancel()
        self._set_for = when
        # Time is counted in whole milliseconds: one more, so as not to wake up just before it.
        self._handle = self._loop.call_later(max(0.0, left + 1) / 1000, self._rings)

    def _rings(self) -> None:
        self._handle = None
        self._ring()
        self._set()


# What transports may hold of answers that are not sent, all together, and one of them.
_UNSENT_BYTES = 8 << 20
_PIECE_BYTES = 1 << 20
_EXCESS_S = 0.1
_FOLLOWS_S = 0.01
_STANDS_STILL = Effect(frozenset({UP, DOWN}), holds=True)


class SideServer(Protocol):
    """A server with sockets of its own in the broker's thread."""

    def attach(self, cluster: Cluster) -> None:
        """The server serves another cluster from now on."""

    def gone(self) -> None:
        """The server has gone down."""

    def descriptors(self) -> list[int]:
        """Those of its sockets."""


class Server:
    """Listening sockets and timer of one cluster, on one event loop; it may move to another."""

    def __init__(self, cluster: Cluster) -> None:
        # In the order in which they came.
        self.protocols: dict[ClientProtocol, None] = {}
        self.sending = 0  # connections with an answer that is sent in pieces
        self.closing: list[Callable[[], None]] = []  # called before anything is closed
        self.beside: list[SideServer] = []
        self._loop = asyncio.get_running_loop()
        size: int = cluster.config.get("queued.max.request.bytes")
        self.room = ReceiveBudget(size if size > 0 else ROOM_BYTES, self._loop.call_later)
        self.connections = {
            node_id: self._counted(broker.config) for node_id, broker in cluster.brokers.items()
        }
        self._listeners: list[Listener] = []
        self._places: dict[int, tuple[int, str]] = {}  # by port, the broker and listener there
        self.network = Network(self, self._loop)
        self._processes: dict[int, Process] = {}  # what those of brokers did at the last change
        self._held: dict[int, Fault] = {}
        self.is_down = False
        """Between `go_down` and `come_back`: its cluster is not to be used."""
        self.comes_back = False
        """It is down, and comes back by itself."""
        self._attach(cluster)

    def _counted(self, config: BrokerConfig) -> Connections:
        return Connections(config, self._throttle_ms, self._close_excess_soon)

    def _throttle_ms(self, address: str) -> int:
        throttle = self.cluster.throttle
        return 0 if throttle is None else throttle.of_address(address)

    def _attach(self, cluster: Cluster) -> None:
        self.cluster = cluster
        for node_id, connections in self.connections.items():
            if node_id in cluster.brokers:  # else it was removed
                connections.use(cluster.brokers[node_id].config)
        self._alarm = Alarm(self._loop, cluster.timers, self._until, cluster.settle)
        cluster.clock_moved = self._alarm.set_anew
        cluster.waits = Timers()
        self._waits = Alarm(
            self._loop, cluster.waits, lambda when: when - real_ms(), cluster.end_waits
        )
        self._following: asyncio.TimerHandle | None = None
        if isinstance(cluster.clock, TestClock):
            self._follow()
        self._flusher = cluster.log_manager.flusher
        self._flusher.wake = self._collect_flushes
        self._cleaner = cluster.log_manager.cleaner
        self._cleaner.wake = self._collect_compactions
        self._turns = cluster.turns
        self._turns.wake = self._turn_soon
        self._idle_ms = cluster.max_idle_ms
        self._sweep: asyncio.TimerHandle | None = None
        self._excess: asyncio.TimerHandle | None = None
        self._close_excess_soon()
        self._close_idle_later()
        cluster.metadata.subscribe(self._configs_changed)
        cluster.replication.moved = self._process_moved
        cluster.replication.has_clients = self._has_clients
        for each in self.beside:
            each.attach(cluster)
        for node_id, broker in cluster.replication.brokers.items():
            if self._processes.get(node_id, Process.UP) is not broker.process:
                self._process_moved(node_id, broker)

    def _process_moved(self, node_id: int, broker: BrokerState) -> None:
        """The process of one of several brokers has ended, stands still, or is back."""
        self._processes[node_id] = broker.process
        if broker.process is Process.DOWN:  # before what a pause has held goes on
            self.refuse(node_id, lambda at: at == node_id)
            self._close_all_of(node_id, is_reset=broker.has_crashed)
        held = self._held.pop(node_id, None)
        if held is not None:
            self.network.remove(held)
        if broker.process is Process.PAUSED:
            sentence = f"broker {node_id} stands still"
            self._held[node_id] = Fault(sentence, _STANDS_STILL, node_id=node_id)
            self.network.set(self._held[node_id])
        if broker.process is not Process.DOWN:
            self.accept_again(node_id)

    def _has_clients(self, node_id: int) -> bool:
        return any(each.node_id == node_id for each in self.protocols)

    def _close_all_of(self, node_id: int, *, is_reset: bool) -> None:
        for protocol in list(self.protocols):
            if protocol.node_id == node_id:
                if is_reset:
                    protocol.reset_when_closed()
                protocol.connection.close()

    def listen(
        self, host: str, port: int, node_id: int, listener: str = PLAINTEXT
    ) -> tuple[str, int]:
        """Accept connections for a listener of a broker; port 0 is any free one. Returns the
        address.

        Raises OSError when the address is not available.
        """
        sock = self._bound(host, port)
        name = sock.getsockname()
        config = self.cluster.config.of_node(node_id)
        connections = self.connections.setdefault(node_id, self._counted(config))
        follows = isinstance(self.cluster.clock, TestClock)
        protocol = FollowingProtocol if follows else ClientProtocol
        new = partial(protocol, self, node_id, listener)
        admission = connections.at(listener)
        accepting = Listener(sock, admission, new, node_id, self._tls(node_id, listener))
        self._listeners.append(accepting)
        self._places[int(name[1])] = node_id, listener
        if self._processes.get(node_id) is Process.DOWN:
            accepting.refuse(node_id)
        return str(name[0]), int(name[1])

    def _bound(self, host: str, port: int) -> socket.socket:
        """Raises OSError that names the listener of its own which is there already."""
        try:
            return bound(host, port)
        except OSError as error:
            if port not in self._places:
                raise
            own, name = self._places[port]
            said = f"{error.strerror}, by listener {name} of broker {own}"
            raise OSError(error.errno, said) from None

    def forget(self, node_id: int) -> None:
        """Listen for this broker no longer: its ports are free again."""
        for listener in [each for each in self._listeners if each.node_id == node_id]:
            listener.shut()
            self._listeners.remove(listener)
        self._places = {at: who for at, who in self._places.items() if who[0] != node_id}
        self.connections.pop(node_id, None)

    def _tls(self, node_id: int, listener: str) -> ListenerTls | None:
        found = self.cluster.security.listeners.get(listener)
        if found is None or not found.has_tls:
            return None
        from .tls import ListenerTls

        return ListenerTls(self, node_id, listener)

    @property
    def node_ids(self) -> Collection[int]:
        return self.cluster.nodes

    @property
    def journal(self) -> Journal:
        """The cluster's."""
        return self.cluster.journal

    def descriptors(self) -> list[int]:
        """Those of its sockets: first where it listens, then its connections. In this order a
        forked process gives them up: who sees a connection end may rely on the port being free."""
        found = [listener.descriptor for listener in self._listeners]
        found += [protocol.descriptor for protocol in list(self.protocols)]
        found += [number for each in self.beside for number in each.descriptors()]
        return [number for number in found if number >= 0]

    def hand_over(self) -> tuple[list[socket.socket], list[socket.socket], set[int]]:
        """Copies of the sockets where it listens, and of those of clients that are still connected;
        and the ports of these. Theirs stay open when the server is closed."""
        left = [each for each in self.protocols if each.connection.is_open and not each.has_left()]
        if not left:
            return [], [], set()
        listeners = [copy_of(listener.descriptor) for listener in self._listeners]
        return listeners, [copy_of(each.descriptor) for each in left], {each.port for each in left}

    def piece_bytes(self) -> int:
        """How much one connection may give its transport at once."""
        return min(_PIECE_BYTES, _UNSENT_BYTES // max(1, self.sending))

    def move_to(self, cluster: Cluster) -> None:
        """Serve another cluster from now on, of the same brokers. Connections that are not cut have
        to `go_on`."""
        cluster.tracker.take_over(self.cluster.tracker)
        self._detach()
        self._attach(cluster)
        for protocol in self.protocols:
            protocol.connection.cluster = cluster

    def cut(self) -> None:
        """Close every connection at once, as a process that dies does."""
        self.cluster.is_over = True
        self._give_up_asked()
        for protocol in list(self.protocols):
            protocol.connection.lost()
            protocol.abort()

    def _give_up_asked(self) -> None:
        for asked in list(self.cluster.asked):
            if not asked.done():
                asked.set_exception(ConnectionError("the broker went down before it answered"))

    def go_down(self) -> None:
        """Be as a broker whose process has ended: connections are reset, new ones are refused, and
        no timer rings. The port is kept. Raises OSError (listener.py)."""
        for listener in self._listeners:
            listener.refuse(self)
        self.is_down = True
        for protocol in list(self.protocols):
            protocol.reset_when_closed()
        self.cut()
        self._detach()
        for each in self.beside:
            each.gone()

    def come_back(self, cluster: Cluster) -> None:
        """Serve a cluster after `go_down`, at the same port. Raises OSError."""
        self.move_to(cluster)
        self.is_down = False
        for listener in self._listeners:
            listener.accept_again(self)

    def refuse(self, reason: object, is_at: Callable[[int], bool]) -> None:
        """Refuse new connections to these brokers until `accept_again` for the same reason. Raises
        OSError."""
        for listener in self._listeners:
            if is_at(listener.node_id):
                listener.refuse(reason)

    def accept_again(self, reason: object) -> None:
        """For this reason no connection is refused any more. Raises OSError."""
        for listener in self._listeners:
            listener.accept_again(reason)

    def _detach(self) -> None:
        self._flusher.wake = self._cleaner.wake = None
        self.cluster.clock_moved = None
        self._alarm.close()
        self._waits.close()
        self._turns.close()
        self._turns.wake = None
        for handle in (self._following, self._sweep, self._excess):
            if handle is not None:
                handle.cancel()

    async def close(self) -> None:
        """Stop accepting, close every connection, cancel the timer."""
        self.cluster.is_over = True
        for tell in self.closing:
            tell()
        self._give_up_asked()
        self._detach()
        for listener in self._listeners:
            await listener.close()
        for protocol in list(self.protocols):
            protocol.abort()
        while self.protocols:
            await asyncio.sleep(0)

    def _close_idle(self) -> None:
        """Twice per `connections.max.idle.ms`: close connections that were silent for two of these
        periods."""
        for protocol in list(self.protocols):
            protocol.silent_for += 1
            if protocol.silent_for > 2 and protocol.connection.current is None:
                protocol.abort()
        self._close_idle_later()

    def _close_idle_later(self) -> None:
        if self._idle_ms > 0:
            self._sweep = self._loop.call_later(self._idle_ms / 2000, self._close_idle)

    def _configs_changed(self, delta: MetadataDelta, _: MetadataImage) -> None:
        if any(kind == BROKER_RESOURCE for kind, _ in delta.configs):
            self._close_excess_soon()

    def _close_excess_soon(self) -> None:
        if self._excess is None:
            self._excess = self._loop.call_later(_EXCESS_S, self._close_excess)

    def _close_excess(self) -> None:
        """Close one connection of each broker that has more than `max.connections`, and soon the
        next: of those that were silent longest the one that came first."""
        self._excess = None
        is_excess = False
        for node_id, connections in self.connections.items():
            if connections.has_excess:
                is_excess = True
                those = (
                    each
                    for each in self.protocols
                    if each.node_id == node_id and not connections.is_kept(each.connection.listener)
                )
                silent = max(those, key=lambda each: each.silent_for, default=None)
                if silent is not None:
                    silent.abort()
        if is_excess:
            self._close_excess_soon()

    def _until(self, when: int) -> float | None:
        """Real milliseconds until the clock says so; None while it stands still."""
        clock = self.cluster.clock
        if not isinstance(clock, Movable):
            return when - clock.now()
        if clock.is_held or not clock.rate:
            return None
        return (when - clock.now()) / clock.rate

    def _follow(self) -> None:
        self.cluster.follow(_FOLLOWS_S)
        self._following = self._loop.call_later(_FOLLOWS_S, self._follow)

    def _collect_flushes(self) -> None:
        """Called in the flusher's thread."""
        self._loop.call_soon_threadsafe(self._flusher.collect)

    def _collect_compactions(self) -> None:
        """Called in the cleaner's thread."""
        self._loop.call_soon_threadsafe(self._cleaner.collect)

    def call_soon(self, action: Callable[[], object]) -> None:
        """Call it in the next round of the event loop. Only for the broker's thread."""
        self._loop.call_soon(action)

    def _turn_soon(self) -> None:
        self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        if not self.is_down:
            self._turns.work()
            self.cluster.settle()
