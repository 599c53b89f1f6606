"""Whoever sends a request and returns the answer: a client without a socket, or a connection."""

from __future__ import annotations

from typing import Any, Protocol

from odradek.wire import Request


class Asker(Protocol):
    def ask(self, request: Request, version: int) -> Any:
        """Send a request and return the answer."""
