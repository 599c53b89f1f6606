"""The listeners of a broker, as its configs name them: names, addresses, security protocols.

- `listeners` has NAME://HOST:PORT for each; without it there is one, PLAINTEXT, at the address that
  the emulator is started with. Port 0 is any free one; of several brokers other ports count up, in
  steps that keep the listeners of one apart from those of others: 9092 and 9093 are followed by
  9094 and 9095.
- `listener.security.protocol.map` gives a name its protocol; the names of the protocols stand for
  themselves.
- `advertised.listeners` has the addresses that clients are given, if they are others; one without
  a host is this machine, for which Kafka takes its own name.
- `inter.broker.listener.name` has to be one of them. No broker connects there: that listener is
  the one that `max.connections` spares.

Every problem is a ConfigError that begins with the name of the config. Source: Kafka 4.3.1's
SocketServerConfigs and KafkaConfig; KIP-103.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ..base.addresses import reachable
from ..config.broker_rules import LISTENER_PREFIX
from ..config.configs import BrokerConfig
from ..config.definition import ConfigError
from ..config.listener_configs import listener_of

PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL = "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"
PROTOCOLS = {PLAINTEXT: 0, SSL: 1, SASL_PLAINTEXT: 2, SASL_SSL: 3}
"""Security protocols, with their numbers in the metadata log."""
_ANY = "0.0.0.0"
_LISTENERS, _ADVERTISED = "listeners", "advertised.listeners"
_MAP, _BETWEEN = "listener.security.protocol.map", "inter.broker.listener.name"
_ANYWHERE = {"", "0.0.0.0", "::"}
_ADDRESS = re.compile(r"([A-Za-z0-9_.\-]+)://\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]{1,5})")
_OF_TRACE = "TRACE:TRACE"
"""A protocol for Kafka's own tests, in the default of brokers before 1.0."""


class Listener(NamedTuple):
    """One listener of every broker."""

    name: str
    protocol: str
    host: str = ""
    port: int = 0
    advertised: tuple[str, int] | None = None
    step: int = 1
    """By so much the ports of a broker are higher than those of the one before."""

    @property
    def has_tls(self) -> bool:
        return self.protocol in (SSL, SASL_SSL)

    @property
    def has_sasl(self) -> bool:
        return self.protocol in (SASL_PLAINTEXT, SASL_SSL)

    def at(self, place: int) -> tuple[str, int]:
        """Where the broker at this place, from 0 on, listens."""
        return self.host, self.port + place * self.step if self.port else 0

    def given(self, host: str, port: int, place: int) -> tuple[str, int]:
        """The address for clients of a broker that listens there."""
        if self.advertised is None:
            return host, port
        name, number = self.advertised
        return name, number + place * self.step if number else port


def listeners_of(config: BrokerConfig) -> dict[str, Listener]:
    """The listeners by their names, in order. Raises ConfigError."""
    text = config.text_of("listeners")
    protocols = _protocols(config.get("listener.security.protocol.map"))
    found: dict[str, Listener] = {}
    for name, host, port in _addresses(_LISTENERS, "PLAINTEXT://:0" if text is None else text):
        if name not in protocols:
            known = ", ".join(protocols)
            why = f"listener {name} has no security protocol in {_MAP}, which has {known}"
            raise ConfigError(_LISTENERS, f"{_LISTENERS}: {why}")
        if name in found:
            raise ConfigError(_LISTENERS, f"{_LISTENERS}: there are two listeners named {name}")
        same = [
            each.name for each in found.values() if port and (each.host, each.port) == (host, port)
        ]
        if same:
            why = f"{same[0]} and {name} have the same address"
            raise ConfigError(_LISTENERS, f"{_LISTENERS}: {why}")
        found[name] = Listener(name, protocols[name], host, port)
    if not found:
        raise ConfigError(_LISTENERS, f"{_LISTENERS}: there is none")
    _advertise(config, found)
    _check_names(config, found)
    return found


def laid_out(listeners: Mapping[str, Listener], brokers: int) -> dict[str, Listener]:
    """With the least step by which no two of several brokers listen at the same port."""
    ports = [(each.host, each.port) for each in listeners.values() if each.port]
    apart = {
        abs(port - other)
        for at, (host, port) in enumerate(ports)
        for where, other in ports[:at]
        if host == where or not _ANYWHERE.isdisjoint((host, where))
    }
    step = 1
    while not apart.isdisjoint(range(step, step * brokers, step)):
        step += 1
    return {name: each._replace(step=step) for name, each in listeners.items()}


def _protocols(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        name, colon, protocol = (part.strip() for part in pair.rpartition(":"))
        if not colon or not name:
            raise ConfigError(_MAP, f"{_MAP}: {pair!r} is not of the form NAME:PROTOCOL")
        if pair == _OF_TRACE:
            continue
        if protocol.upper() not in PROTOCOLS:
            known = ", ".join(PROTOCOLS)
            raise ConfigError(_MAP, f"{_MAP}: {protocol} is no security protocol: {known}")
        found[name.upper()] = protocol.upper()
    return found


def _addresses(config: str, text: str | list[str]) -> list[tuple[str, str, int]]:
    """Names, hosts and ports. Raises ConfigError."""
    entries = text.split(",") if isinstance(text, str) else text
    found = []
    for entry in filter(None, map(str.strip, entries)):
        match = _ADDRESS.fullmatch(entry)
        if match is None or int(match[3]) > 65535:
            raise ConfigError(config, f"{config}: {entry!r} is not of the form NAME://HOST:PORT")
        found.append((match[1].upper(), match[2], int(match[3])))
    return found


def _advertise(config: BrokerConfig, found: dict[str, Listener]) -> None:
    text = config.text_of("advertised.listeners")
    for name, host, port in _addresses(_ADVERTISED, text or ""):
        if name not in found:
            known = ", ".join(found)
            raise ConfigError(_ADVERTISED, f"{_ADVERTISED}: {name} is not in {_LISTENERS}: {known}")
        if host == _ANY:
            why = f"{name} needs a host that clients can connect to, not {host!r}"
            raise ConfigError(_ADVERTISED, f"{_ADVERTISED}: {why}")
        found[name] = found[name]._replace(advertised=(host or reachable(_ANY), port))


def _check_names(config: BrokerConfig, found: Mapping[str, Listener]) -> None:
    known = ", ".join(found)
    between = config.text_of("inter.broker.listener.name")
    if between is not None and between.upper() not in found:
        raise ConfigError(_BETWEEN, f"{_BETWEEN}: {between} is not in {_LISTENERS}: {known}")
    small = {name.lower() for name in found}
    for name in config.overrides:
        if name.startswith(LISTENER_PREFIX) and listener_of(name) not in small:
            why = f"there is no listener {listener_of(name).upper()}, but {known}"
            raise ConfigError(name, f"{name}: {why}")
