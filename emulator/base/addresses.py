"""Hosts and ports as text; where brokers listen, and the addresses that clients are given."""

from __future__ import annotations

import re
from string import Formatter
from typing import NamedTuple

_FIELDS = ("id", "port")
_LAST_PORT = 65535


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


class Listening(NamedTuple):
    host: str
    port: int
    """Of the first one; those after it follow. 0: each has a free one."""
    each: tuple[tuple[str, int], ...] = ()
    """Of each broker, instead."""

    def at(self, place: int) -> tuple[str, int]:
        """Host and port of a broker, by its place from 0 on. One that came later than those of
        `each` gets a free port."""
        if self.each:
            return self.each[place] if place < len(self.each) else (self.each[0][0], 0)
        return self.host, self.port + place if self.port else 0


class Advertised(NamedTuple):
    """The addresses that clients are given: HOST:PORT, whose port counts up from broker to broker,
    or a text with the fields {id} and {port}, the id of a broker and the port where it listens."""

    text: str

    def of(self, node_id: int, place: int, port: int) -> tuple[str, int]:
        """Of one broker. Raises ValueError saying what is wrong with the text."""
        fields = [name for _, name, _, _ in Formatter().parse(self.text) if name is not None]
        for name in fields:
            if name not in _FIELDS:
                raise ValueError(f"the fields of {self.text!r} are {{id}} and {{port}}, not {name}")
        host, found = parse_address(self.text.format(id=node_id, port=port))
        if fields:
            return host, found
        if found + place > _LAST_PORT:
            raise ValueError(f"{self.text!r} leaves no port for broker {node_id}: {found + place}")
        return host, found + place
