"""How a verb connects: TLS and log-in from a file of properties, from `-X`, or from a profile.

    odradek topics --bootstrap-server HOST:9093 --command-config client.properties
    odradek topics HOST:9093 -X security.protocol=SSL -X ssl.ca.location=ca.pem
    odradek topics --profile staging

A profile is a table of `odradek/profiles.toml` in the folder of configurations (`~/.config`, or
XDG_CONFIG_HOME; the variable ODRADEK_PROFILES names another file): properties, and
`bootstrap.servers`. What `-X` says wins over the file of properties, and that over the profile. The
names are those of wire_client/security/settings.py; other properties in a file are those of other
clients, and passed over.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ...wire_client.security import ClientSecurity, SecurityError
from ...wire_client.security.settings import check_names
from .arguments import setting

PROFILE = "ODRADEK_PROFILE"
PROFILES = "ODRADEK_PROFILES"
_SERVERS = "bootstrap.servers"
_FILE_OPTIONS = ("--command-config", "--consumer.config", "--producer.config")
CONNECTION_OPTIONS = (*_FILE_OPTIONS, "-X", "--profile")
"""Each has a value."""


class ConnectionSettingsError(Exception):
    """A file, a profile or a property is wrong: `str` says which, and how."""


def add_connection(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        *_FILE_OPTIONS,
        metavar="FILE",
        type=Path,
        help="a client's properties: security.protocol, sasl.*, ssl.*",
    )
    add(
        "-X",
        dest="properties",
        metavar="NAME=VALUE",
        type=setting,
        action="append",
        default=[],
        help="one such property; may be repeated",
    )
    add("--profile", metavar="NAME", help=f"of profiles.toml; default: that of {PROFILE}")


def security_of(options: argparse.Namespace) -> ClientSecurity | None:
    """Security by the options; None for a plain connection. Raises ConnectionSettingsError."""
    own = dict(options.properties)
    try:
        check_names(own)
        given = {
            **_profile(options.profile or os.environ.get(PROFILE, "")),
            **_file(options),
            **own,
        }
        security = ClientSecurity.of(given)
    except SecurityError as error:
        raise ConnectionSettingsError(str(error)) from None
    return None if security == ClientSecurity() else security


def address_of_profile(
    arguments: Sequence[str], environment: Mapping[str, str] = os.environ
) -> str:
    """The servers of the profile that is named in these arguments, or with none there in the
    environment; empty if there is none. Raises ConnectionSettingsError."""
    return _profile(named_profile(arguments) or environment.get(PROFILE, "")).get(_SERVERS, "")


def named_profile(arguments: Sequence[str]) -> str:
    for number, each in enumerate(arguments):
        name, equals, value = each.partition("=")
        if name == "--profile":
            return value if equals else "".join(arguments[number + 1 : number + 2])
    return ""


def _file(options: argparse.Namespace) -> dict[str, str]:
    path: Path | None = options.command_config
    if path is None:
        return {}
    from ..serving.properties import parse  # much, and seldom needed

    try:
        return parse(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise ConnectionSettingsError(f"{path} cannot be read: {error.strerror}") from None


def _profile(name: str) -> dict[str, str]:
    if not name:
        return {}
    import tomllib

    path = _profiles_file()
    try:
        tables = tomllib.loads(path.read_text())
    except OSError as error:
        raise ConnectionSettingsError(f"profile {name}: {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConnectionSettingsError(f"profile {name}: {path} is no TOML: {error}") from None
    if not isinstance(tables.get(name), dict):
        close = get_close_matches(name, tables, 1)
        known = f"is {close[0]} meant?" if close else f"there are {', '.join(tables) or 'none'}"
        raise ConnectionSettingsError(f"{path} has no profile {name}: {known}")
    given = dict(_flat(tables[name]))
    try:
        check_names({each: "" for each in given if each != _SERVERS})
    except SecurityError as error:
        raise ConnectionSettingsError(f"profile {name}: {error}") from None
    return given


def _profiles_file() -> Path:
    if named := os.environ.get(PROFILES):
        return Path(named)
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder, "odradek/profiles.toml")


def _flat(table: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """`sasl.mechanism = "PLAIN"` is a table in a table, in TOML."""
    found: list[tuple[str, str]] = []
    for name, value in table.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{before}{name}.")
        else:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            found.append((f"{before}{name}", text))
    return found
