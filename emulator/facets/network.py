"""The network between clients and the broker, as a test makes it misbehave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from .. import parameters, seen
from ..base.fitting import fits
from ..base.never_matched import KNOWN
from ..base.words import Guessable
from ..control.rules.checks import a_time, a_whole_number
from ..net.network.fault import DOWN, STREAMS, Effect, Fault, never_met
from ..net.network.line import Place
from .facet import Facet, Misbehaving
from .fault_view import FaultView

_BOTH = "both"


class NetworkFault(FaultView):
    """A fault of the network. What it has held goes on its way when it is removed; bytes that have
    disappeared do not come again, so such connections are reset."""

    _fault: Fault

    @property
    def clients(self) -> list[str]:
        """The client ids of the connections that have met it, as far as they are known; each
        once."""
        return list(self._fault.clients)


class Network(Guessable):
    """Faults of the network: each verb sets one, at once, for the connections that there are and
    those that come.

    client_id   only for clients with this id (a str, or a matcher as for records). New connections
                say who they are with their first request, and meet it from there on
    connection  only for this one, of `kafka.clients()`
    broker      only for connections to the broker with this node id

    Without these it is for all. Times are real seconds, whatever the broker's clock does. Several
    faults add up. Verbs raise ValueError or TypeError for what cannot be meant, RuntimeError while
    the broker is down.
    """

    def __init__(self, call: Callable[[Callable[[Place], Any]], Any]) -> None:
        KNOWN.add(self)
        self._call = call
        self._set: list[Fault] = []
        self.unfinished: list[str] = []  # there are no sentences without a verb

    @property
    def faults(self) -> list[NetworkFault]:
        """Those that were set since the start or the last `reset`, in this order."""
        return [NetworkFault(self, each) for each in self._set]

    # Bytes

    def latency(
        self,
        seconds: float,
        *,
        jitter: float = 0,
        seed: int = 0,
        stream: str = DOWN,
        client_id: Any = None,
        connection: seen.SeenClient | None = None,
        broker: int | None = None,
    ) -> NetworkFault:
        """Bytes take so much longer, give or take `jitter`, which the seed decides: those of
        answers, or of requests (`stream="upstream"`), or "both"."""
        effect = Effect(
            _streams(stream),
            latency_s=a_time("seconds", seconds),
            jitter_s=a_time("jitter", jitter),
        )
        said = _said(seconds, jitter=jitter, seed=seed, stream=_other(stream))
        return self._fault("latency", said, effect, client_id, connection, broker, seed)

    def bandwidth(
        self,
        bytes_per_second: int,
        *,
        stream: str = DOWN,
        client_id: Any = None,
        connection: seen.SeenClient | None = None,
        broker: int | None = None,
    ) -> NetworkFault:
        """Not more than so many bytes a second, for each connection."""
        effect = Effect(_streams(stream), bytes_per_s=_bytes("bytes_per_second", bytes_per_second))
        said = _said(bytes_per_second, stream=_other(stream))
        return self._fault("bandwidth", said, effect, client_id, connection, broker)

    def dribble(
        self,
        size: int = 1,
        *,
        every: float = 0.001,
        stream: str = DOWN,
        client_id: Any = None,
        connection: seen.SeenClient | None = None,
        broker: int | None = None,
    ) -> NetworkFault:
        """Bytes come in pieces of so many, one every so many seconds."""
        effect = Effect(
            _streams(stream),
            piece_bytes=_bytes("size", size),
            piece_s=a_time("every", every),
        )
        said = _said(size, every=every, stream=_other(stream))
        return self._fault("dribble", said, effect, client_id, connection, broker)

    def limit(
        self,
        size: int,
        *,
        stream: str = DOWN,
        client_id: Any = None,
        connection: seen.SeenClient | None = None,
        broker: int | None = None,
    ) -> NetworkFault:
        """A connection is closed once so many bytes have gone through, perhaps within an answer."""
        effect = Effect(_streams(stream), most_bytes=_bytes("size", size, least=0))
        said = _said(size, stream=_other(stream))
        return self._fault("limit", said, effect, client_id, connection, broker)

    def cut_off(
        self,
        *,
        client_id: Any = None,
        connection: seen.SeenClient | None = None,
        broker: int | None = None,
    ) -> NetworkFault:
        """Nothing gets through in either direction, nor that a connection was closed. What was
        sent meanwhile arrives when it is healed, as TCP sends it again."""
        effect = Effect(_streams(_BOTH), holds=True)
        return self._fault("cut_off", "", effect, client_id, connection, broker)

    def blackhole(
        self,
        *,
        client_id: Any = None,
        connection: seen.SeenClient | None = None,
        broker: int | None = None,
    ) -> NetworkFault:
        """Connections are accepted, and never answered: what is sent disappears. When it is
        removed they are reset."""
        effect = Effect(_streams(_BOTH), drops=True)
        return self._fault("blackhole", "", effect, client_id, connection, broker)

    # Connections

    def reset(
        self,
        *,
        after: float = 0,
        client_id: Any = None,
        connection: seen.SeenClient | None = None,
        broker: int | None = None,
    ) -> NetworkFault:
        """Connections are reset, those that there are and those that come, so many seconds after
        they met it."""
        effect = Effect(reset_s=a_time("after", after))
        said = _said(after=after)
        return self._fault("reset", said, effect, client_id, connection, broker)

    def half_open(
        self,
        *,
        client_id: Any = None,
        connection: seen.SeenClient | None = None,
        broker: int | None = None,
    ) -> NetworkFault:
        """The broker has lost the connections that there are, and their clients are not told: they
        find out by a timeout, or by the reset when it is removed. New connections are served."""
        return self._fault("half_open", "", Effect(forgets=True), client_id, connection, broker)

    def slow_close(
        self,
        seconds: float,
        *,
        client_id: Any = None,
        connection: seen.SeenClient | None = None,
        broker: int | None = None,
    ) -> NetworkFault:
        """When the broker closes a connection, the client learns it so much later."""
        effect = Effect(close_s=a_time("seconds", seconds))
        return self._fault("slow_close", _said(seconds), effect, client_id, connection, broker)

    def refuse(self, *, broker: int | None = None) -> NetworkFault:
        """New connections are refused; those that there are stay. The broker does not listen, and
        keeps its port. Who wants to connect then is not seen: this need not be met by anybody."""
        return self._fault("refuse", "", Effect(refuses=True), None, None, broker).optional()

    def down(self, *, broker: int | None = None) -> NetworkFault:
        """New connections are refused, and those that there are reset. The broker itself goes on,
        and its sessions time out."""
        effect = Effect(refuses=True, reset_s=0.0)
        return self._fault("down", "", effect, None, None, broker).optional()

    def heal(self) -> None:
        """End every fault."""
        for fault in self._set:  # what a broker that stands still holds is not one of them
            self.remove(fault)

    # Within

    def _fault(
        self,
        verb: str,
        said: str,
        effect: Effect,
        client_id: Any,
        connection: seen.SeenClient | None,
        broker: int | None,
        seed: int = 0,
    ) -> NetworkFault:
        if broker is not None:
            parameters.broker_id(broker)
        whom = [] if client_id is None else [f"client_id={client_id!r}"]
        whom += [] if connection is None else [f"connection={connection!r}"]
        whom += [] if broker is None else [f"broker={broker}"]
        if connection is not None and not isinstance(connection, seen.SeenClient):
            raise TypeError(f"connection is one of kafka.clients(), not {connection!r}")
        sentence = f"kafka.network.{verb}({', '.join(filter(None, (said, *whom)))})"
        fault = Fault(
            sentence,
            effect,
            None if client_id is None else lambda name: fits(client_id, name),
            None if connection is None else connection.port,
            broker,
            seed,
        )
        self._call(lambda place: _begin(place, fault))
        self._set.append(fault)
        return NetworkFault(self, fault)

    def remove(self, fault: Fault) -> None:
        """Called by faults."""
        with suppress(RuntimeError):  # it has stopped, and the fault with it
            self._call(lambda place: place.network.remove(fault))

    def forget(self, fault: Fault) -> None:
        """Know nothing more of a fault that has ended."""
        if fault in self._set:
            self._set.remove(fault)

    def never(self, fault: Fault) -> str:
        """No client has met it: what came instead."""
        clients: list[str] = []
        with suppress(RuntimeError):  # the test has stopped the broker
            clients = self._call(_connected)
        return never_met(fault, clients)

    def excuse(self) -> None:
        """The test has failed: it is not told of faults that no client has met."""
        for fault in self._set:
            fault.is_checked = True

    def forget_all(self) -> None:
        """The broker is as new: no fault was ever set."""
        self._set.clear()


class NetworkFaults(Facet):
    """Faults of the network."""

    _network: Network
    _other_faults: Sequence[Misbehaving]

    @property
    def network(self) -> Network:
        """How the network misbehaves: `kafka.network.latency(0.1)`."""
        return self._network

    def cut_off(
        self,
        *,
        client_id: Any = None,
        connection: seen.SeenClient | None = None,
        broker: int | None = None,
    ) -> NetworkFault:
        """`kafka.network.cut_off`: nothing gets through until it is healed."""
        return self._network.cut_off(client_id=client_id, connection=connection, broker=broker)

    def heal(self) -> None:
        """End every fault of the network, between brokers too, and of the disk."""
        for each in self._other_faults:
            each.heal()


def _begin(place: Place, fault: Fault) -> None:
    nodes = place.node_ids
    if not any(map(fault.is_at, nodes)):
        there = ", ".join(map(str, nodes))
        raise ValueError(f"{fault.sentence}: there is no such broker, but {there}")
    place.network.set(fault)


def _connected(place: Place) -> list[str]:
    return sorted({repr(each.who or "") for each in place.protocols})


def _streams(stream: str) -> frozenset[str]:
    return STREAMS[parameters.one_of("stream", stream, tuple(STREAMS))]


def _other(stream: str) -> str | None:
    return None if stream == DOWN else stream


def _said(*given: object, **more: object) -> str:
    """Arguments as they are written; what is 0 or None goes without saying."""
    return ", ".join([*map(repr, given), *(f"{k}={v!r}" for k, v in more.items() if v)])


def _bytes(name: str, given: int, least: int = 1) -> int:
    return a_whole_number(name, given, least=least, of=" of bytes")
