"""One exchange of SASL tokens, by whichever mechanism, and the ways in which it fails."""

from __future__ import annotations

from typing import Protocol


class LoginFailed(Exception):
    """The client is not who it says. `shown` is what it is told, the same for every reason if it is
    empty; `reason` is for the test, and has nothing secret in it."""

    def __init__(self, reason: str, shown: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.shown = shown


class Broken(Exception):
    """What a real broker stumbles over: it closes the connection at once, and answers nothing."""


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
