"""Key stores and trust stores, read as PEM: from the texts of configs, PEM files, PKCS#12 files.

Java's own format, JKS, is not read: it is what Kafka takes if no type is set, and `keytool`
converts it. PKCS#12 needs the package `cryptography`, of the extra `odradek[tls]`.

Every problem is a ConfigError that begins with the name of a config, and quotes no secret.
Source: KIP-651; Kafka 4.3.1's DefaultSslEngineFactory.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ...config.definition import ConfigError
from ...config.listener_configs import ListenerConfig

PEM, PKCS12 = "PEM", "PKCS12"
_KEY, _TRUST = "ssl.keystore", "ssl.truststore"
_CONVERT = (
    "convert it: keytool -importkeystore -srckeystore {0} -destkeystore {0}.p12"
    " -deststoretype PKCS12"
)


class KeyStore(NamedTuple):
    key: str
    chain: str
    password: str | None

    def __repr__(self) -> str:
        return "<key store>"


def has_key_store(config: ListenerConfig) -> bool:
    """Whether a listener has configs of its key."""
    names = ("ssl.keystore.location", "ssl.keystore.key", "ssl.keystore.certificate.chain")
    return any(config.get(name) for name in names)


def has_trust_store(config: ListenerConfig) -> bool:
    """Whether a listener has configs of its trust."""
    names = ("ssl.truststore.location", "ssl.truststore.certificates")
    return any(config.get(name) for name in names)


def key_store(config: ListenerConfig) -> KeyStore:
    """The key of a listener. Raises ConfigError."""
    kind = _kind(config, _KEY)
    location = config.get("ssl.keystore.location")
    password = config.get("ssl.keystore.password")
    key_password = config.get("ssl.key.password")
    if kind == PEM:
        key = config.get("ssl.keystore.key")
        chain = config.get("ssl.keystore.certificate.chain")
        if location is None:
            for name, text in (("key", key), ("certificate.chain", chain)):
                if not text:
                    full_name = f"{_KEY}.{name}"
                    raise ConfigError(full_name, f"{full_name}: a listener with TLS needs it")
        elif key or chain:
            why = "the key store is a file, so there may be no ssl.keystore.key besides"
            raise ConfigError(f"{_KEY}.location", f"{_KEY}.location: {why}")
        else:
            key = chain = _text(f"{_KEY}.location", location)
        return KeyStore(key, chain, key_password)
    if location is None:
        raise ConfigError(f"{_KEY}.location", f"{_KEY}.location: a listener with TLS needs it")
    return _key_of(_bytes(f"{_KEY}.location", location), password)


def trusted(config: ListenerConfig) -> str | None:
    """The certificates of authorities whose clients a listener trusts; None without any of its
    own. Raises ConfigError."""
    location = config.get("ssl.truststore.location")
    texts = config.get("ssl.truststore.certificates")
    if location is None and not texts:
        return None
    kind = _kind(config, _TRUST)
    if kind == PEM:
        return str(texts) if location is None else _text(f"{_TRUST}.location", location)
    if location is None:
        raise ConfigError(
            f"{_TRUST}.location", f"{_TRUST}.location: a store of type {kind} needs it"
        )
    return _trusted_of(
        _bytes(f"{_TRUST}.location", location), config.get("ssl.truststore.password")
    )


def files_of(config: ListenerConfig) -> list[tuple[str, int]]:
    """The files that a listener's key and trust are read from, and when each was written last."""
    found = []
    for name in ("ssl.keystore.location", "ssl.truststore.location"):
        location = config.get(name)
        if location is not None:
            try:
                found.append((location, Path(location).stat().st_mtime_ns))
            except OSError:
                found.append((location, 0))
    return found


def _kind(config: ListenerConfig, store: str) -> str:
    """PEM or PKCS12. Raises ConfigError."""
    key_type, trust_type = config.get("ssl.keystore.type"), config.get("ssl.truststore.type")
    kind = str(key_type if store == _KEY else trust_type).upper()
    name = f"{store}.type"
    if kind in (PEM, PKCS12):
        return kind
    if kind == "JKS":
        raise ConfigError(name, f"{name}: {_why_not_java(config, store)}")
    raise ConfigError(name, f"{name}: there is no type {kind!r}, but PEM and PKCS12")


def _why_not_java(config: ListenerConfig, store: str) -> str:
    location = config.get(f"{store}.location")
    convert = _CONVERT.format(location or f"{store.removeprefix('ssl.')}.jks")
    if config.is_set(f"{store}.type"):
        return f"JKS is not read here, but PEM and PKCS12: {convert}"
    if location is None:
        return "JKS is what Kafka takes if nothing is set: set PEM"
    return (
        "JKS (it is what Kafka takes if nothing is set) is not read here, but PEM and PKCS12: set "
        f"it if {location} is one of them, or {convert}"
    )


def _bytes(name: str, location: str) -> bytes:
    try:
        return Path(location).read_bytes()
    except OSError as error:
        raise ConfigError(name, f"{name}: {location}: {error.strerror}") from None


def _text(name: str, location: str) -> str:
    data = _bytes(name, location)
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise ConfigError(name, f"{name}: {location} is not a PEM file") from None


def _key_of(data: bytes, password: str | None) -> KeyStore:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
    except ImportError:
        raise _missing(f"{_KEY}.type") from None
    try:
        found = load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        raise _unreadable(_KEY) from None
    if found.key is None or found.cert is None:
        name = f"{_KEY}.location"
        raise ConfigError(name, f"{name}: there is no key with a certificate in it")
    encoding = serialization.Encoding.PEM
    key = found.key.private_bytes(
        encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    chain = [found.cert, *found.additional_certs]
    texts = [each.certificate.public_bytes(encoding).decode() for each in chain]
    return KeyStore(key.decode(), "".join(texts), None)


def _trusted_of(data: bytes, password: str | None) -> str:
    try:
        from cryptography.hazmat.primitives.serialization import Encoding
        from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
    except ImportError:
        raise _missing(f"{_TRUST}.type") from None
    try:
        found = load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        raise _unreadable(_TRUST) from None
    certificates = [*([] if found.cert is None else [found.cert]), *found.additional_certs]
    return "".join(each.certificate.public_bytes(Encoding.PEM).decode() for each in certificates)


def _missing(name: str) -> ConfigError:
    return ConfigError(name, f"{name}: PKCS12 needs a package: pip install 'odradek[tls]'")


def _unreadable(store: str) -> ConfigError:
    name = f"{store}.location"
    return ConfigError(name, f"{name}: it is no PKCS#12 file, or {store}.password is not its own")
