"""Whether a key store or a trust store that is to be set at run time can be used.

Kafka looks at it before it takes the config, at the broker that is asked. It does not compare the
key with its certificate then: a listener that cannot use such a store keeps the one it has.

Left out: Kafka refuses a certificate with other names than the one before, too. Source: KIP-226;
Kafka 4.3.1's SslFactory.validateReconfiguration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...config.broker_rules import LISTENER_PREFIX
from ...config.configs import BrokerConfig
from ...config.definition import ConfigError
from ...config.listener_configs import ListenerConfig
from .context import KeyMismatch, context_of

_STORES = ("ssl.keystore.", "ssl.truststore.", "ssl.key.password")


class _Changed(ListenerConfig):
    """The configs of a listener as they would be."""

    def __init__(self, config: BrokerConfig, listener: str, texts: Mapping[str, str]) -> None:
        super().__init__(config, listener)
        self._texts = texts

    def own(self, name: str, mechanism: str = "") -> tuple[str, str] | None:
        full_name = f"{LISTENER_PREFIX}{self.listener.lower()}.{name}"
        text = self._texts.get(full_name)
        return super().own(name, mechanism) if text is None else (full_name, text)


def check_stores(
    config: BrokerConfig, listeners: Iterable[str], changed: Iterable[str], texts: Mapping[str, str]
) -> None:
    """`changed` are the names of configs that are to change, `texts` what is to be set then. Raises
    ConfigError for a store of one of these listeners, which have TLS."""
    for listener in listeners:
        prefix = f"{LISTENER_PREFIX}{listener.lower()}."
        own = tuple(prefix + each for each in _STORES)
        if not any(name.startswith(own) for name in changed):
            continue
        try:
            context_of(_Changed(config, listener, texts))
        except KeyMismatch:
            continue
        except ConfigError as error:
            why = f"Validation of dynamic config update of SSLFactory failed: {error}"
            kind = "org.apache.kafka.common.config.ConfigException"
            sentence = (
                f"Invalid value {kind}: {why} for configuration Invalid dynamic configuration"
            )
            raise ConfigError(error.name, sentence) from None
