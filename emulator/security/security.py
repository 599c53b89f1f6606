"""Security of one cluster: its listeners, who may log in there, and who failed to.

The configs of a listener are looked up when they are needed, so that a change at run time is in
force for the next login.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from random import Random
from typing import TYPE_CHECKING

from ..config.configs import BrokerConfig
from ..config.definition import ConfigError
from ..config.listener_configs import ListenerConfig
from ..metadata.image import MetadataImage
from .listeners import Listener, laid_out, listeners_of

if TYPE_CHECKING:
    from .login.exchange import Exchange
    from .login.key_sets import KeySets
    from .login.scram import Known
    from .tls.context import Contexts

_MOST_FAILURES = 1000
_NONCE_BITS = 130
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class LogInFailure:
    time: int
    """By the broker's clock, in ms since 1970."""
    user: str
    """Who it was to be; "" if the client had not said."""
    mechanism: str
    """"" if the client had not said."""
    reason: str
    """For people: "wrong password", "unknown user"; more than the client was sent."""
    listener: str
    client_id: str
    host: str

    def __str__(self) -> str:
        said = [each for each in (self.user, self.mechanism) if each]
        return f"log-in failed: {', '.join([*said, self.reason])}"


class Security:
    """The listeners of a cluster, which are checked already."""

    def __init__(
        self,
        config: BrokerConfig,
        listeners: dict[str, Listener],
        image: MetadataImage,
        random: Random,
        key_sets: KeySets | None,
    ) -> None:
        self.listeners = listeners
        self.failures: deque[LogInFailure] = deque(maxlen=_MOST_FAILURES)
        self.bound: dict[tuple[str, str], dict[int, int]] = {}
        """The address that each listener is bound to, with its name: the port of each broker."""
        self._key_sets = key_sets
        self._config = config
        self._image = image
        self._random = random

    @cached_property
    def contexts(self) -> Contexts:
        """Those of the listeners with TLS."""
        from .tls.context import Contexts

        return Contexts()

    def has_login(self, listener: str) -> bool:
        """Whether clients of a listener log in; those of a name that there is not do not."""
        found = self.listeners.get(listener)
        return found is not None and found.has_sasl

    def check_stores(
        self, config: BrokerConfig, changed: Iterable[str], texts: Mapping[str, str]
    ) -> None:
        """The configs to set for a broker at run time, and which of them change. Raises ConfigError
        for a key store or a trust store that cannot be used."""
        names = [each.name for each in self.listeners.values() if each.has_tls]
        if not names:
            return
        from .tls.context import check_stores

        for name in names:
            with suppress(ConfigError):  # one that has never been good is not kept
                self.contexts.of(ListenerConfig(config, name))
        check_stores(config, names, list(changed), texts)

    def begin(self, config: ListenerConfig, mechanism: str, now: int) -> Exchange:
        """An exchange by one of a listener's mechanisms."""
        from .login.exchange import Plain
        from .login.key_sets import KeySets
        from .login.oauthbearer import OAuthBearer
        from .login.scram import Scram
        from .mechanisms import OAUTHBEARER, PLAIN, passwords_of, validator_of

        if mechanism == PLAIN:
            return Plain(passwords_of(config))
        if mechanism == OAUTHBEARER:
            self._key_sets = self._key_sets or KeySets()
            return OAuthBearer(validator_of(config, self._key_sets, now))
        nonce = _text(self._random.getrandbits(_NONCE_BITS) | 1 << _NONCE_BITS - 1)
        return Scram(mechanism, partial(self._known, mechanism), nonce)

    def _known(self, mechanism: str, name: str, is_token: bool) -> Known | None:
        from .delegation_tokens import known_token
        from .login.scram import NUMBERS, Credential, Known

        if is_token:
            return known_token(self._config, self._image, mechanism, name, self._random)
        found = self._image.scram.get(name, {}).get(NUMBERS[mechanism])
        if found is None:
            return None
        credential = Credential(found.salt, found.stored_key, found.server_key, found.iterations)
        return Known(credential, name)


def key_sets_of(config: BrokerConfig, now: int) -> KeySets | None:
    """The keys of tokens, fetched for the first time, if any listener takes tokens. Raises
    ConfigError if there are none."""
    found = None
    for listener in listeners_of(config).values():
        if listener.has_sasl:
            from .login.key_sets import KeySets
            from .mechanisms import OAUTHBEARER, mechanisms_of, validator_of

            own = ListenerConfig(config, listener.name)
            if OAUTHBEARER in mechanisms_of(own):
                found = found or KeySets()
                validator_of(own, found, now)
    return found


def check_security(config: BrokerConfig, brokers: int = 1) -> dict[str, Listener]:
    """The listeners of so many brokers. Raises ConfigError for any problem of theirs: to be called
    before anything is open, as files that they read may be gone since the last time."""
    listeners = laid_out(listeners_of(config), brokers)
    for listener in listeners.values():
        own = ListenerConfig(config, listener.name)
        own.get("max.connections")
        own.get("max.connection.creation.rate")
        if listener.has_sasl:
            check_mechanisms(config, own)
        if listener.has_tls:
            from .tls.context import context_of
            from .tls.principals import parsed

            context_of(own)
            parsed(own.get("ssl.principal.mapping.rules"))
    return listeners


def check_mechanisms(config: BrokerConfig, own: ListenerConfig) -> None:
    """Raises ConfigError for what a listener says of its mechanisms."""
    from .login.key_sets import check_keys
    from .mechanisms import OAUTHBEARER, PLAIN, check_passwords, mechanisms_of

    if PLAIN in mechanisms_of(own):
        check_passwords(own, config.text_of("sasl.jaas.config"))
    if OAUTHBEARER in mechanisms_of(own):
        check_keys(own)


def _text(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits
