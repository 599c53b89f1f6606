"""Hosts and ports as text."""

from __future__ import annotations


def parse_address(text: str) -> tuple[str, int]:
    """Split "host:port" or "[::1]:port". Raises ValueError saying what is wrong."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) <= 65535:
        raise ValueError(f"not an address of the form HOST:PORT: {text!r}")
    return host.strip("[]"), int(port)


def reachable(host: str) -> str:
    """What to tell clients of a listener on every interface."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def bracketed(host: str) -> str:
    """A host as it stands in front of a colon."""
    return f"[{host}]" if ":" in host else host
