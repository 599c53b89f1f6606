"""The TLS context of a listener, made of its configs.

Certificates may change while the broker runs, by AlterConfigs or in their files: who connects then
meets the new ones. While the new ones cannot be used, the last good ones stay.

Left out: `ssl.cipher.suites`, `ssl.provider`, the classes of engines. Kafka looks at a file again
only when a config is altered, and refuses other names in a new certificate. Source: KIP-226,
KIP-684; Kafka 4.3.1's SslFactory.

Whether a key store or a trust store that is to be set at run time can be used.

Kafka looks at it before it takes the config, at the broker that is asked. It does not compare the
key with its certificate then: a listener that cannot use such a store keeps the one it has.

Left out: Kafka refuses a certificate with other names than the one before, too. Source: KIP-226;
Kafka 4.3.1's SslFactory.validateReconfiguration.
"""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...base.logger import log
from ...config.broker_rules import LISTENER_PREFIX, PER_LISTENER
from ...config.configs import BrokerConfig
from ...config.definition import ConfigError
from ...config.listener_configs import ListenerConfig
from .stores import KeyStore, files_of, key_store, trusted

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CLIENT_AUTH = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
_NAMES = (
    "ssl.client.auth",
    "ssl.enabled.protocols",
    *(name for name in PER_LISTENER if name != "ssl.engine.factory.class"),
)


class KeyMismatch(ConfigError):
    """A key is not that of its certificate."""


_FATAL = bytes.fromhex("15 0303 0002 02")
_BAD_CERTIFICATE, _CERTIFICATE_UNKNOWN = 42, 46
_ALERTS = {
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": _BAD_CERTIFICATE,
    "CERTIFICATE_VERIFY_FAILED": _CERTIFICATE_UNKNOWN,
}
"""OpenSSL's reasons, and Java's alerts."""


class _Telling(ssl.SSLObject):
    """One end of a connection. Event loops drop what is to be sent when a handshake fails: the
    error has it, as `alert`."""

    outgoing: ssl.MemoryBIO

    def do_handshake(self) -> None:
        try:
            super().do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except ssl.SSLError as error:
            error.alert = _as_java(error, self.outgoing.read())  # type: ignore[attr-defined]
            raise


def _as_java(error: ssl.SSLError, sent: bytes) -> bytes:
    """An alert with Java's number, where it is not encrypted: before TLS 1.3."""
    number = _ALERTS.get(error.reason)
    if number is None or sent[-len(_FATAL) - 1 : -1] != _FATAL:
        return sent
    return sent[:-1] + bytes([number])


class _Context(ssl.SSLContext):
    sslobject_class = _Telling

    def wrap_bio(
        self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *args: Any, **keywords: Any
    ) -> ssl.SSLObject:
        made = super().wrap_bio(incoming, outgoing, *args, **keywords)
        assert isinstance(made, _Telling)
        made.outgoing = outgoing
        return made


class _Made(NamedTuple):
    of: object
    context: ssl.SSLContext


class Contexts:
    """The contexts of a broker's listeners, kept while what they are made of is the same."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], _Made] = {}

    def of(self, config: ListenerConfig) -> ssl.SSLContext:
        """That of one listener. Raises ConfigError if there has never been a good one."""
        of = [str(config.get(name)) for name in _NAMES], files_of(config)
        key = config.node, config.listener
        made = self._made.get(key)
        if made is not None and made.of == of:
            return made.context
        try:
            context = context_of(config)
        except ConfigError as error:
            if made is None:
                raise
            log.warning("listener %s keeps its certificates: %s", config.listener, error)
            context = made.context
        self._made[key] = _Made(of, context)
        return context


def context_of(config: ListenerConfig) -> ssl.SSLContext:
    """A new context. Raises ConfigError."""
    context = _Context(ssl.PROTOCOL_TLS_SERVER)
    context.check_hostname = False
    _set_versions(context, config.get("ssl.enabled.protocols"))
    context.verify_mode = _CLIENT_AUTH[config.get("ssl.client.auth")]
    _load_key(context, key_store(config))
    authorities = trusted(config)
    if authorities is None:
        if context.verify_mode != ssl.CERT_NONE:
            context.load_default_certs(ssl.Purpose.CLIENT_AUTH)
    else:
        try:
            context.load_verify_locations(cadata=authorities)
        except (ssl.SSLError, ValueError):
            name = "ssl.truststore.certificates"
            if config.get("ssl.truststore.location") is not None:
                name = "ssl.truststore.location"
            raise ConfigError(name, f"{name}: there are no certificates in it") from None
    return context


def _set_versions(context: ssl.SSLContext, names: list[str]) -> None:
    config = "ssl.enabled.protocols"
    versions = [_VERSIONS[name] for name in names if name in _VERSIONS]
    if not versions:
        known = ", ".join(_VERSIONS)
        raise ConfigError(config, f"{config}: none of {', '.join(names)} is served, but {known}")
    context.minimum_version, context.maximum_version = min(versions), max(versions)


class _NoPassword(Exception):
    """A key is encrypted, and no password is given."""


def _load_key(context: ssl.SSLContext, store: KeyStore) -> None:
    def password() -> str:
        if store.password is None:
            raise _NoPassword
        return store.password

    # OpenSSL reads keys from files alone. Only their owner may read these, and they go at once.
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(store.chain if store.chain == store.key else f"{store.key}\n{store.chain}\n")
        file.flush()
        try:
            context.load_cert_chain(file.name, password=password)
        except _NoPassword:
            name = "ssl.key.password"
            raise ConfigError(name, f"{name}: the key is encrypted, and there is none") from None
        except (ssl.SSLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or ""
            raise _bad_key(reason, has_password=store.password is not None) from None


def _bad_key(reason: str, *, has_password: bool) -> ConfigError:
    if reason == "KEY_VALUES_MISMATCH":
        name = "ssl.keystore.key"
        return KeyMismatch(name, f"{name}: it is not the key of the first certificate of the chain")
    name = "ssl.keystore"
    said = f" ({reason})" if reason else ""
    why = ", or ssl.key.password is not its own" if has_password else ""
    return ConfigError(name, f"{name}: key and certificates cannot be read as PEM{why}{said}")


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
