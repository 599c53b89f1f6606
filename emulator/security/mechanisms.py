"""Which SASL mechanisms a listener offers, and the users of PLAIN: as its configs have it.

`sasl.enabled.mechanisms` names the mechanisms. The users of PLAIN stand in
`listener.name.NAME.plain.sasl.jaas.config`, as `user_alice="secret"`; those of SCRAM in the
metadata log (scram.py).

Left out: GSSAPI (Kerberos). Source: KIP-12, KIP-85; Kafka 4.3.1's PlainServerCallbackHandler.

The text of a `sasl.jaas.config`: one login module and its options.

    org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";

Source: javax.security.auth.login.Configuration; KIP-85.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ..config.broker_rules import LISTENER_PREFIX
from ..config.definition import ConfigError
from ..config.listener_configs import ListenerConfig
from .login import exchange, oauthbearer, scram
from .login.key_sets import KeySets, Signed

_TOKEN = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"=;]+)|(=|;))""", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")
_FLAGS = ("required", "requisite", "sufficient", "optional")
_END = ("", ";")


class LoginModule(NamedTuple):
    class_name: str
    options: dict[str, str]


def parse_jaas(text: str) -> LoginModule:
    """Raises ValueError, which says what is wrong and quotes nothing of the text: it has
    passwords."""
    words = _words(text)
    if len(words) < 2 or words[1][0].lower() not in _FLAGS or words[0][1]:
        raise ValueError(f"it begins with a login module and one of {', '.join(_FLAGS)}")
    if words[-1] != (";", True):
        raise ValueError("it does not end with a semicolon")
    options: dict[str, str] = {}
    rest = words[2:-1]
    if len(rest) % 3:
        raise ValueError('its options are not all of the form name="value"')
    for at in range(0, len(rest), 3):
        (name, is_sign), equals, (value, no_value) = rest[at : at + 3]
        if is_sign or no_value or equals != ("=", True):
            raise ValueError('its options are not all of the form name="value"')
        options[name] = value
    return LoginModule(words[0][0], options)


def written(module: LoginModule) -> str:
    """The text that `parse_jaas` reads."""
    quoted = (f' {_name(name)}="{_escaped(value)}"' for name, value in module.options.items())
    return f"{module.class_name} required{''.join(quoted)};"


def _name(name: str) -> str:
    """The name of an option: in quotation marks, as Kafka reads it, unless it is a plain word."""
    return name if _PLAIN.fullmatch(name) else f'"{_escaped(name)}"'


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _words(text: str) -> list[tuple[str, bool]]:
    """Its words, and whether each is a sign. Raises ValueError."""
    found: list[tuple[str, bool]] = []
    pos, text = 0, text.rstrip()
    while pos < len(text):
        match = _TOKEN.match(text, pos)
        if match is None:
            raise ValueError("a quotation mark is not closed")
        pos = match.end()
        quoted, word, sign = match.groups()
        if quoted is not None:
            found.append((re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL), False))
        else:
            found.append((word or sign, sign is not None))
    return found


PLAIN, OAUTHBEARER = exchange.NAME, oauthbearer.NAME
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
    """The validator of the tokens of OAUTHBEARER at a listener. Keys at an address that was not
    asked before are fetched from there. Raises ConfigError."""
    mechanism = OAUTHBEARER
    url = config.get("sasl.oauthbearer.jwks.endpoint.url", mechanism)
    if url is None:
        return oauthbearer.unsecured
    return Signed(
        key_sets.of(config, now),
        audience=config.get("sasl.oauthbearer.expected.audience", mechanism),
        issuer=config.get("sasl.oauthbearer.expected.issuer", mechanism),
        user_claim=config.get("sasl.oauthbearer.sub.claim.name", mechanism),
        skew_ms=1000 * config.get("sasl.oauthbearer.clock.skew.seconds", mechanism),
    )
