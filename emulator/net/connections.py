"""How many connections a broker may have: of each listener, of each address, and in all.

As Kafka does (SocketServer's ConnectionQuotas, tried on 4.3.1):

- While a broker has `max.connections`, or a listener `listener.name.NAME.max.connections`, the next
  client is connected and nothing it sends is read until another one leaves; later ones wait in the
  backlog of the socket.
- Where there are several listeners, that of the brokers (`inter.broker.listener.name`, or that of
  `security.inter.broker.protocol`) may have its own number whatever there is at the others, one of
  whose connections is closed then.
- Where connections are made faster than `max.connection.creation.rate`, of the broker or of the
  listener, the next client waits until the rate is kept, one window at most, and those after it
  with it. That of the broker does not hold the listener of the brokers back.
- A client whose address has `max.connections.per.ip`, or the number of its own in
  `max.connections.per.ip.overrides`, is connected and then closed at once.
- One that comes too soon by the quota `connection_creation_rate` of its address is closed when the
  throttle time is over.
- All can be changed at run time. While a broker then has more than `max.connections`, one is
  closed after the other: there those that were silent longest on each network thread, here those
  that were silent longest by half of `connections.max.idle.ms` (server.py). A listener that has
  more than its own number keeps them.
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ..base.logger import log
from ..config.configs import BrokerConfig
from ..config.listener_configs import ListenerConfig

if TYPE_CHECKING:
    from ..security.throttling.rates import Rate

_MOST, _RATE = "max.connections", "max.connection.creation.rate"
_UNLIMITED = 2**31 - 1
_OF_BROKER = ""


class Ended(NamedTuple):
    requests: int = 0
    received: int = 0
    """In bytes, as `sent`."""
    sent: int = 0

    def and_also(self, requests: int, received: int, sent: int) -> Ended:
        """With another connection's."""
        return Ended(self.requests + requests, self.received + received, self.sent + sent)


class Connections:
    def __init__(
        self,
        config: BrokerConfig,
        throttle_ms: Callable[[str], int],
        exceeded: Callable[[], object] = lambda: None,
    ) -> None:
        """`throttle_ms` tells of an address for how long its quota allows no other connection;
        `exceeded` is called when there are more than there may be."""
        self._config = config
        self._throttle_ms = throttle_ms
        self._exceeded = exceeded
        self._by_address: Counter[str] = Counter()
        self._by_listener: dict[str, int] = {}
        self._rates: dict[str, Rate] = {}
        self.total = 0
        self.ended = Ended()

    def at(self, listener: str) -> Place:
        """Those of one listener, which the broker has from now on."""
        self._by_listener.setdefault(listener, 0)
        return Place(self, listener)

    def use(self, config: BrokerConfig) -> None:
        """How many there may be is in this config from now on."""
        self._config = config

    @property
    def has_excess(self) -> bool:
        """Whether one is to be closed: there are more than there may be, and not only those of
        other brokers."""
        kept = sum(number for name, number in self._by_listener.items() if self.is_kept(name))
        most: int = self._config.get(_MOST)
        return self.total > most and self.total > kept

    def is_kept(self, listener: str) -> bool:
        """Whether connections of this listener stay when there are too many: it is the brokers'."""
        if len(self._by_listener) < 2:
            return False
        named = self._config.text_of("inter.broker.listener.name")
        between: str = named or self._config.get("security.inter.broker.protocol")
        return listener == between.upper()

    def has_slot(self, listener: str) -> bool:
        """Whether one that has come to this listener is read now; otherwise it waits."""
        most: int = ListenerConfig(self._config, listener).get(_MOST)
        if self._by_listener[listener] >= most:
            return False
        most = self._config.get(_MOST)
        return self.total < most or self.is_kept(listener)

    def delay_ms(self, listener: str, now: int) -> int:
        """One has come to this listener, at this moment of any clock of ms: for how long it waits,
        so that no more are made than `max.connection.creation.rate` a second."""
        bounds = {listener: ListenerConfig(self._config, listener).get(_RATE)}
        if not self.is_kept(listener):
            bounds[_OF_BROKER] = self._config.get(_RATE)
        found = [
            self._recorded(name, bound, now) for name, bound in bounds.items() if bound < _UNLIMITED
        ]
        return max(found, default=0)

    def _recorded(self, name: str, bound: int, now: int) -> int:
        from ..security.throttling.rates import Rate, windows_of

        windows = windows_of(self._config)
        rate = self._rates.setdefault(name, Rate(windows))
        rate.record(1, now)
        return min(rate.throttle_ms(bound, now), windows.window_ms)

    def refusal_ms(self, listener: str, address: str) -> int | None:
        """Count a new one, unless its address has as many as it may, or too many have come from
        there lately: then in how many ms it is closed."""
        throttle_ms = self._throttle_ms(address)
        if throttle_ms:
            log.info("refused a connection from %s: too many have come from there lately", address)
            return throttle_ms
        most = self._most_of(address)
        if self._by_address[address] >= most:
            log.info("refused a connection from %s: it has %d, as many as it may", address, most)
            return 0
        self._by_address[address] += 1
        self._by_listener[listener] += 1
        self.total += 1
        if self.has_excess:
            self._exceeded()
        return None

    def had(self, requests: int, received: int, sent: int) -> None:
        """One has ended that had so much."""
        before = self.ended
        self.ended = Ended(
            before.requests + requests, before.received + received, before.sent + sent
        )

    def left(self, listener: str, address: str) -> None:
        """One has ended."""
        self.total -= 1
        self._by_listener[listener] -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def _most_of(self, address: str) -> int:
        overrides = self._config.get("max.connections.per.ip.overrides")
        for entry in overrides.split(",") if overrides else ():
            host, _, number = entry.strip().rpartition(":")
            if address in _addresses(host.strip()):
                return int(number)
        most: int = self._config.get("max.connections.per.ip")
        return most


class Place(NamedTuple):
    connections: Connections
    listener: str

    @property
    def has_slot(self) -> bool:
        return self.connections.has_slot(self.listener)

    def delay_ms(self, now: int) -> int:
        """One has come: for how long it is not let in."""
        return self.connections.delay_ms(self.listener, now)

    def refusal_ms(self, address: str) -> int | None:
        """One from this address is let in: None if it stays, or in how many ms it is closed."""
        return self.connections.refusal_ms(self.listener, address)

    def left(self, address: str) -> None:
        self.connections.left(self.listener, address)


@lru_cache(maxsize=256)
def _addresses(host: str) -> frozenset[str]:
    """The addresses of a host by number; none for one that is unknown."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return frozenset()
    return frozenset(str(each[4][0]) for each in found[:1])
