"""One exchange of SASL tokens, by whichever mechanism, and the ways in which it fails.

PLAIN: a user and a password, as they are. Source: RFC 4616; Kafka's PlainSaslServer.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Protocol


class LoginFailed(Exception):
    """The client is not who it says. `shown` is the message that it is sent, the same for every
    reason if it is empty; `reason` is for the test, and has nothing secret in it."""

    def __init__(self, reason: str, shown: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.shown = shown


class Broken(Exception):
    """A frame that a real broker fails at: it closes the connection at once, and answers
    nothing."""


class Exchange(Protocol):
    """A mechanism at work for one client."""

    @property
    def user(self) -> str:
        """Who logs in, as far as it is known; of a delegation token its owner."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether the client has shown who it is."""
        ...

    @property
    def expires_at(self) -> int | None:
        """When what it has shown expires, in ms since 1970; None if it does not."""
        ...

    @property
    def is_token(self) -> bool:
        """Whether it has shown a delegation token."""
        ...

    def receive(self, token: bytes, now: int) -> bytes:
        """The answer to a token of the client. Raises LoginFailed, Broken."""
        ...


NAME = "PLAIN"
_FAILED = "Authentication failed: "
_PARTS = 3


class Plain:
    """The exchange: one token, `[authzid] NUL user NUL password`."""

    is_complete = False
    expires_at = None
    is_token = False

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self.user = ""
        self._passwords = passwords

    def receive(self, token: bytes, now: int) -> bytes:
        """Nothing follows. Raises LoginFailed."""
        parts = token.decode("utf-8", "replace").split("\0", _PARTS)
        if len(parts) != _PARTS:
            shown = f"Invalid SASL/PLAIN response: expected {_PARTS} tokens, got {len(parts)}"
            raise LoginFailed("a token that is not PLAIN's", shown)
        wanted, user, password = parts
        if not user:
            raise LoginFailed("no user", f"{_FAILED}username not specified")
        self.user = user
        if not password:
            raise LoginFailed("no password", f"{_FAILED}password not specified")
        known = self._passwords.get(user)
        # Compared even if there is no such user, so that the time does not tell.
        is_same = hmac.compare_digest((known or "").encode(), password.encode())
        if known is None or not is_same:
            reason = "unknown user" if known is None else "wrong password"
            raise LoginFailed(reason, f"{_FAILED}Invalid username or password")
        if wanted not in ("", user):
            shown = "Client requested an authorization id that is different from username"
            raise LoginFailed("another authorization id", f"{_FAILED}{shown}")
        self.is_complete = True
        return b""
