"""Configs of one listener, and of one SASL mechanism at it.

    listener.name.internal.ssl.client.auth
    listener.name.internal.scram-sha-256.sasl.jaas.config

The prefix is the listener's name in small letters, as is the mechanism's. The value in force is the
first of: the mechanism's at this listener, the listener's, the broker's; each set at run time or at
the start. Source: KIP-103, KIP-226; Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from .broker_rules import LISTENER_PREFIX
from .definition import ConfigError, Definition

if TYPE_CHECKING:
    from .configs import BrokerConfig

_FAMILIES = ("ssl.", "sasl.")
_SINGLE = (
    "connections.max.reauth.ms",
    "max.connection.creation.rate",
    "max.connections",
    "principal.builder.class",
)


_OF_A_MECHANISM = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)


class ListenerConfig:
    """The configs of one listener of a broker, by Kafka's names without their prefix."""

    def __init__(self, config: BrokerConfig, listener: str) -> None:
        self.listener = listener
        self.node = config.node
        """The broker, by the name of its resource."""
        self._config = config
        self._prefix = f"{LISTENER_PREFIX}{listener.lower()}."

    def get(self, name: str, mechanism: str = "") -> Any:
        """The value in force, parsed. Raises ConfigError for one that is not allowed, KeyError for
        a name that Kafka does not have."""
        found = self.own(name, mechanism)
        if found is None:
            return self._config.get(name)
        full_name, text = found
        try:
            return self._config.definitions[name].parse(text)
        except ConfigError as error:
            raise ConfigError(full_name, f"{full_name}: {error}") from None

    def is_set(self, name: str) -> bool:
        return self.own(name) is not None or self._config.text_of(name) is not None

    def own(self, name: str, mechanism: str = "") -> tuple[str, str] | None:
        """The full name and the text of what is set for the listener, or for a mechanism there;
        None if nothing is."""
        names = [self._prefix + name]
        if mechanism:
            names.insert(0, f"{self._prefix}{mechanism.lower()}.{name}")
        for full_name in names:
            text = self._config.text_of(full_name)
            if text is not None:
                return full_name, text
        return None


def listener_of(name: str) -> str:
    """The listener, in small letters, that a prefixed config is for."""
    return name.removeprefix(LISTENER_PREFIX).partition(".")[0]


def config_of(name: str) -> str:
    """The config of a broker that a prefixed name stands for; empty if it is of no listener."""
    if not name.startswith(LISTENER_PREFIX):
        return ""
    rest = name.removeprefix(LISTENER_PREFIX).partition(".")[2]
    return next((each for each in _OF_A_MECHANISM if rest.endswith(each)), rest)


def check_listener_name(name: str, definitions: Mapping[str, Definition]) -> None:
    """Raises ConfigError for a prefixed name whose last part is no config of a listener."""
    listener, _, rest = name.removeprefix(LISTENER_PREFIX).partition(".")
    if not listener or not rest:
        wanted = f"{LISTENER_PREFIX}NAME.CONFIG"
        raise ConfigError(name, f"Unknown broker config name: {name}; is {wanted} meant?")
    known = [each for each in definitions if each.startswith(_FAMILIES) or each in _SINGLE]
    if rest in known or rest.partition(".")[2] in known:
        return
    close = get_close_matches(rest, known, 1)
    hint = f"; is {LISTENER_PREFIX}{listener}.{close[0]} meant?" if close else ""
    raise ConfigError(name, f"Unknown broker config name: {name}{hint}")
