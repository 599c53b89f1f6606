"""The arguments of an Emulator about security, as Kafka's configs: `security="SASL_SSL"`,
`users`."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from reprlib import repr as shortened
from typing import TYPE_CHECKING

from ...wire.stored.cluster import UserScramCredentialRecord
from ..base.addresses import bracketed
from ..base.release import Release
from ..config.broker_rules import LISTENER_PREFIX
from ..config.configs import BrokerConfig
from ..config.listener_configs import ListenerConfig
from ..config.release_tables import config_tables
from .listeners import PLAINTEXT, PROTOCOLS, SASL_PLAINTEXT, SASL_SSL, Listener, listeners_of
from .login.scram import ITERATIONS, NUMBERS, credential_of
from .mechanisms import (
    PLAIN,
    WITH_PASSWORDS,
    check_passwords,
    mechanisms_of,
    passwords_of,
    plain_config,
    plain_jaas,
)
from .tls.certificates import HOSTS, Certificate, Certificates
from .tls.stores import has_key_store, has_trust_store

if TYPE_CHECKING:
    from ..environment import Environment
    from ..metadata.log import MetadataLog
    from .security import Security

_SALT_BYTES = 16


def users_given(users: Mapping[str, str] | None) -> dict[str, str]:
    """Names and passwords. Raises TypeError, ValueError, which name no password."""
    if users is None:
        return {}
    if not isinstance(users, Mapping):
        raise TypeError("users is a mapping, name -> password")
    for name, password in users.items():
        if not isinstance(name, str) or not isinstance(password, str):
            raise TypeError("users is a mapping, name -> password, both a str")
        if not name:
            raise ValueError("users: a user needs a name")
        if not password:
            raise ValueError(f"users: the password of {name!r} is empty")
        if "\0" in name + password:
            raise ValueError(f"users: name and password of {name!r} have a character of code 0")
        if any("\ud800" <= each <= "\udfff" for each in name + password):
            raise ValueError(f"users: name or password of {name!r} cannot be written in UTF-8")
    return dict(users)


def secured(texts: Mapping[str, str], security: str | None, release: Release) -> dict[str, str]:
    """The configs of a broker with one listener of this protocol. Raises TypeError, ValueError."""
    if security is None:
        return dict(texts)
    known = ", ".join(PROTOCOLS)
    if not isinstance(security, str):
        raise TypeError(f"security is one of {known}, not {shortened(security)}")
    if security not in PROTOCOLS:
        close = get_close_matches(security.upper(), PROTOCOLS, 1)
        hint = f"; is {close[0]} meant?" if close else ""
        raise ValueError(f"security is one of {known}, not {shortened(security)}{hint}")
    if "listeners" in texts:
        raise ValueError("security and the config listeners both say what listens: give one")
    if not config_tables(release).is_settable("listeners"):
        if security == PLAINTEXT:
            return dict(texts)
        raise ValueError(f"security: Kafka {release.name} has none, it came with 0.9.0")
    found = {"listeners": f"{security}://:0", **texts}
    if security in (SASL_PLAINTEXT, SASL_SSL):
        found.setdefault("sasl.enabled.mechanisms", ",".join(WITH_PASSWORDS))
    return found


def with_users(
    config: BrokerConfig, listeners: Mapping[str, Listener], users: Mapping[str, str]
) -> dict[str, str]:
    """Configs by which these users may log in with PLAIN at every listener, besides those that its
    configs name. Raises ValueError if nobody logs in anywhere."""
    if users and not any(listener.has_sasl for listener in listeners.values()):
        raise ValueError(
            'users log in at a listener with SASL: give security="SASL_PLAINTEXT" or "SASL_SSL"'
        )
    found = {}
    for listener in listeners.values():
        own = ListenerConfig(config, listener.name)
        if users and listener.has_sasl and PLAIN in mechanisms_of(own):
            check_passwords(own, config.text_of("sasl.jaas.config"))
            found[plain_config(listener.name)] = plain_jaas({**passwords_of(own), **users})
    return found


def with_certificates(
    config: BrokerConfig,
    listeners: Mapping[str, Listener],
    made: Callable[[], Certificates],
    hosts: list[str],
) -> dict[str, str]:
    """Configs by which the listeners with TLS that have no key of their own show a certificate for
    these hosts, and trust clients of the same authority. Raises TlsUnavailable."""
    found: dict[str, str] = {}
    for listener in listeners.values():
        own = ListenerConfig(config, listener.name)
        if listener.has_tls and not has_key_store(own):
            given = made()
            found |= shown(listener, given.server(*dict.fromkeys([*HOSTS, *hosts])))
            if not has_trust_store(own):
                prefix = f"{LISTENER_PREFIX}{listener.name.lower()}.ssl.truststore."
                found |= {f"{prefix}type": "PEM", f"{prefix}certificates": given.ca}
    return found


def shown(listener: Listener, certificate: Certificate) -> dict[str, str]:
    prefix = f"{LISTENER_PREFIX}{listener.name.lower()}.ssl.keystore."
    return {
        f"{prefix}type": "PEM",
        f"{prefix}certificate.chain": certificate.chain,
        f"{prefix}key": certificate.key,
    }


def free_ports(config: BrokerConfig) -> BrokerConfig:
    """The same configs with listeners at free ports, for a twin of an emulator."""
    found = listeners_of(config).values()
    texts = {
        name: text for name, text in config.overrides.items() if name != "advertised.listeners"
    }
    texts["listeners"] = ",".join(f"{each.name}://{bracketed(each.host)}:0" for each in found)
    return BrokerConfig(texts, config.release)


def ensure_scram_users(
    environment: Environment, metadata: MetadataLog, security: Security, users: Mapping[str, str]
) -> None:
    """Write the credentials of those users that have none, or those of another password. Raises
    Refused."""
    random, records = environment.random, []
    mechanisms = {
        each: None
        for listener in security.listeners.values()
        if listener.has_sasl
        for each in mechanisms_of(ListenerConfig(environment.config, listener.name))
        if each in NUMBERS
    }
    for name, password in users.items():
        for mechanism in mechanisms:
            known = metadata.image.scram.get(name, {}).get(NUMBERS[mechanism])
            if known is not None and _is_of(known, mechanism, password):
                continue
            salt = random.randbytes(_SALT_BYTES)
            found = credential_of(mechanism, password.encode(), salt, ITERATIONS)
            records.append(
                UserScramCredentialRecord(
                    name=name, mechanism=NUMBERS[mechanism], **found._asdict()
                )
            )
    if records:
        metadata.append(records)


def _is_of(known: UserScramCredentialRecord, mechanism: str, password: str) -> bool:
    """Whether a credential was made of this password."""
    made = credential_of(mechanism, password.encode(), known.salt, known.iterations)
    return hmac.compare_digest(made.stored_key, known.stored_key)
