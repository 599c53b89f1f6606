"""How many brokers `odradek serve` starts, where they listen, their racks."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 9092


def brokers_of(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments of an Emulator. Without --brokers there are as many as have an address or a rack.
    Raises ValueError that names the option."""
    listen, racks = _flat(options.listen), _flat(options.rack)
    if listen and options.port != DEFAULT_PORT:
        raise ValueError("--listen and --port both say where to listen: give one of them")
    count = options.brokers
    if count is None:
        count = max(len(listen or ()), len(racks or ()), 1)
    for option, given in (("listen", listen), ("racks", racks)):
        if given is not None and len(given) != count:
            are = "1 is" if len(given) == 1 else f"{len(given)} are"
            raise ValueError(f"--{option}: {are} given for {count} brokers")
    port = 0 if listen else options.port
    return {"brokers": count, "racks": racks, "listen": listen, "port": port}


def address_of(options: argparse.Namespace, configs: Mapping[str, str]) -> dict[str, Any]:
    """The same, and the host. The defaults of --host and --port are none where the config
    `listeners` says where to listen."""
    found = {"host": options.host, **brokers_of(options)}
    if "listeners" in configs and (options.host, options.port) == (DEFAULT_HOST, DEFAULT_PORT):
        found["port"] = 0
    return found


def _flat(given: list[list[str]] | None) -> list[str] | None:
    """What was given with commas, or repeated."""
    return None if given is None else [each for some in given for each in some]
