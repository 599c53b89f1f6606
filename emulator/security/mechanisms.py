"""Which SASL mechanisms a listener offers, and the users of PLAIN: as its configs have it.

`sasl.enabled.mechanisms` names the mechanisms. The users of PLAIN stand in
`listener.name.NAME.plain.sasl.jaas.config`, as `user_alice="secret"`; those of SCRAM in the
metadata log (scram.py).

Left out: GSSAPI (Kerberos). Source: KIP-12, KIP-85; Kafka 4.3.1's PlainServerCallbackHandler.
"""

from __future__ import annotations

from functools import lru_cache

from ..config.broker_rules import LISTENER_PREFIX
from ..config.definition import ConfigError
from ..config.listener_configs import ListenerConfig
from .jaas import LoginModule, parse_jaas, written
from .login import jwks, oauthbearer, plain, scram
from .login.key_sets import KeySets

PLAIN, OAUTHBEARER = plain.NAME, oauthbearer.NAME
KNOWN = (PLAIN, *scram.HASHES, OAUTHBEARER)
WITH_PASSWORDS = (PLAIN, *scram.HASHES)
"""The mechanisms that there are; and those by which a user shows a password."""
_MECHANISMS = "sasl.enabled.mechanisms"
_JAAS = "sasl.jaas.config"
_PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
_USER = "user_"


def mechanisms_of(config: ListenerConfig) -> list[str]:
    """The mechanisms of a listener, in order. Raises ConfigError for one that there is not."""
    found: list[str] = config.get("sasl.enabled.mechanisms")
    name, _ = config.own(_MECHANISMS) or (_MECHANISMS, "")
    for each in found:
        if each == "GSSAPI":
            why = "GSSAPI (Kerberos) is not emulated, and is what Kafka takes if nothing is set"
        elif each not in KNOWN:
            why = f"there is no mechanism {each!r}"
        else:
            continue
        raise ConfigError(name, f"{name}: {why}; it may have {', '.join(KNOWN)}")
    return found


def passwords_of(config: ListenerConfig) -> dict[str, str]:
    """The users of PLAIN at a listener, and their passwords. Raises ConfigError."""
    name = plain_config(config.listener)
    found = config.own(_JAAS, PLAIN)
    if found is None or found[0] != name:
        return {}
    try:
        return dict(_passwords(found[1]))
    except ValueError as error:
        raise ConfigError(name, f"{name}: {error}") from None


def check_passwords(config: ListenerConfig, shared: str | None) -> None:
    """Raises ConfigError for users of PLAIN that cannot be read, and for those of a config without
    the mechanism in its name, which Kafka does not read: the listener's, or `shared` by all."""
    passwords_of(config)
    name = plain_config(config.listener)
    found = config.own(_JAAS, PLAIN) or (None if shared is None else (_JAAS, shared))
    if found is not None and found[0] != name:
        raise ConfigError(found[0], f"{found[0]}: it is not read, as in Kafka; is {name} meant?")


def plain_config(listener: str) -> str:
    """The config that has the users of PLAIN at a listener."""
    return f"{LISTENER_PREFIX}{listener.lower()}.{PLAIN.lower()}.{_JAAS}"


@lru_cache(maxsize=64)
def _passwords(text: str) -> tuple[tuple[str, str], ...]:
    """Raises ValueError, which quotes no password."""
    module = parse_jaas(text)
    if module.class_name != _PLAIN_MODULE:
        raise ValueError(f"the login module of PLAIN is {_PLAIN_MODULE}, not {module.class_name}")
    users = tuple(
        (name.removeprefix(_USER), password)
        for name, password in module.options.items()
        if name.startswith(_USER)
    )
    for user, password in users:
        if not user or not password:
            raise ValueError(f"the password of {user!r} is empty" if user else "a user has no name")
    return users


def plain_jaas(users: dict[str, str]) -> str:
    """The `sasl.jaas.config` with these users of PLAIN."""
    options = {_USER + name: password for name, password in users.items()}
    return written(LoginModule(_PLAIN_MODULE, options))


def validator_of(config: ListenerConfig, key_sets: KeySets, now: int) -> oauthbearer.Validate:
    """What judges the tokens of OAUTHBEARER at a listener. Keys at an address that was not asked
    before are fetched from there. Raises ConfigError."""
    mechanism = OAUTHBEARER
    url = config.get("sasl.oauthbearer.jwks.endpoint.url", mechanism)
    if url is None:
        return oauthbearer.unsecured
    return jwks.Signed(
        key_sets.of(config, now),
        audience=config.get("sasl.oauthbearer.expected.audience", mechanism),
        issuer=config.get("sasl.oauthbearer.expected.issuer", mechanism),
        user_claim=config.get("sasl.oauthbearer.sub.claim.name", mechanism),
        skew_ms=1000 * config.get("sasl.oauthbearer.clock.skew.seconds", mechanism),
    )
