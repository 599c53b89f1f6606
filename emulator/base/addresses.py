"""Hosts and ports as text."""

from __future__ import annotations

import re


def parse_address(text: str) -> tuple[str, int]:
    """Split "host:port" or "[::1]:port". Raises ValueError saying what is wrong."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not is_port(port):
        raise ValueError(f"not an address of the form HOST:PORT: {text!r}")
    return host.strip("[]"), int(port)


def is_port(text: str) -> bool:
    """Whether a text is a port to connect to: 1 to 65535, in plain digits."""
    return bool(re.fullmatch("[0-9]{1,5}", text)) and 0 < int(text) <= 65535


def reachable(host: str) -> str:
    """The address for clients of a listener on every interface."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def bracketed(host: str) -> str:
    """A host as it is written before a colon and a port."""
    return f"[{host}]" if ":" in host else host
