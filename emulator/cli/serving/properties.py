"""Kafka's own server.properties, as it is: what it means for `odradek serve`.

Where it listens, what clients are given as its address and where its data is are options of
`serve`; other broker configs are set; those of the controller, of other listeners and what nothing
here obeys are named, and so is one that Kafka does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from ...config.broker_table import NOT_SETTABLE, broker_definitions
from ...config.inert import inert_broker_configs
from .settings import Settings, SettingsError

_ENDS_ODD = re.compile(r"(?<!\\)(\\\\)*\\$")
_KEY_END = re.compile(r"(?:[^\\\s=:]|\\.)*")
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_LISTENER = re.compile(r"([A-Za-z0-9_]+)://(.*):([0-9]{1,5})")
_IN_KRAFT = ("controller.", "process.roles", "initial.broker.registration")
_SECURITY = ("listener.name.", "ssl.", "sasl.", "zookeeper.")
_PLAINTEXT = "PLAINTEXT"
_PROTOCOLS = "listener.security.protocol.map"


def read_properties(path: Path) -> Settings:
    """What a server.properties says. Raises SettingsError."""
    try:
        given = parse(path.read_text(encoding="latin-1"))
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None
    return _Translated(path, given).settings


def parse(text: str) -> dict[str, str]:
    """Java's format: comments, lines that go on, escapes; the last of several values counts.
    Source: java.util.Properties."""
    found = {}
    for line in _lines(text):
        match = _KEY_END.match(line)
        key = match[0] if match else ""
        value = re.sub(r"^[ \t\f]*[=:]?[ \t\f]*", "", line[len(key) :], count=1)
        found[_plain(key)] = _plain(value)
    return found


def _lines(text: str) -> Iterator[str]:
    """Without comments; a line that ends with a backslash goes on in the next."""
    waiting = ""
    for line in re.split(r"\r\n|\r|\n", text):
        line = line.lstrip(" \t\f")
        if not waiting and (not line or line[0] in "#!"):
            continue
        if _ENDS_ODD.search(line):
            waiting += line[:-1]
            continue
        yield waiting + line
        waiting = ""
    if waiting:
        yield waiting


def _plain(text: str) -> str:
    def meant(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        return _LETTERS.get(escape, escape)

    return _ESCAPED.sub(meant, text)


class _Translated:
    def __init__(self, path: Path, given: Mapping[str, str]) -> None:
        self._path = path
        self.settings = Settings(files=[path])
        definitions, inert = broker_definitions(), inert_broker_configs()
        given = dict(given)
        self._address(given)
        self._data(given)
        for name, value in given.items():
            if name in ("node.id", "broker.id"):
                self.settings.configs["node.id"] = value.strip()
            elif name in NOT_SETTABLE:
                self._leave(name, NOT_SETTABLE[name])
            elif name.startswith(_IN_KRAFT):
                self._leave(name, "the emulator is broker and controller at once")
            elif name.startswith(_SECURITY):
                self._leave(name, inert.get(name, "the listener speaks plain text"))
            elif name not in definitions:
                close = get_close_matches(name, definitions, 1)
                hint = f"; is {close[0]} meant?" if close else ""
                self._leave(name, f"Kafka has no such broker config{hint}")
            else:
                self.settings.configs[name] = value.strip()
                if name in inert and name != _PROTOCOLS:
                    self._leave(name, inert[name])

    def _leave(self, name: str, why: str) -> None:
        self.settings.not_obeyed[name] = why

    def _address(self, given: dict[str, str]) -> None:
        """The first listener that is for clients, which has to be plain text."""
        protocols = dict(
            pair.strip().split(":", 1)
            for pair in given.get(_PROTOCOLS, "").split(",")
            if ":" in pair
        )
        controllers = given.get("controller.listener.names", "").split(",")
        for text in filter(None, map(str.strip, given.pop("listeners", "").split(","))):
            name, host, port = self._listener("listeners", text)
            if name in controllers or "port" in self.settings.options:
                self._leave(f"listeners: {text}", "there is one listener, for clients")
                continue
            protocol = protocols.get(name, name)
            if protocol != _PLAINTEXT:
                raise SettingsError(f"{self._path}: listeners: {text}: {protocol} is not served")
            self._set("host", host or "0.0.0.0", "listeners")
            self._set("port", int(port), "listeners")
        for text in filter(None, map(str.strip, given.pop("advertised.listeners", "").split(","))):
            name, host, port = self._listener("advertised.listeners", text)
            if name not in controllers and "advertised" not in self.settings.options:
                self._set("advertised", f"{host}:{port}", "advertised.listeners")

    def _listener(self, config: str, text: str) -> tuple[str, str, str]:
        match = _LISTENER.fullmatch(text)
        if match is None:
            raise SettingsError(
                f"{self._path}: {config}: {text!r} is not of the form NAME://HOST:PORT"
            )
        return match[1].upper(), match[2].strip("[]"), match[3]

    def _data(self, given: dict[str, str]) -> None:
        one, several = given.pop("log.dir", ""), given.pop("log.dirs", "")
        first, *more = [each.strip() for each in (several or one).split(",")]
        if first:
            self._set("data-dir", first, "log.dirs" if several else "log.dir")
        for each in more:
            self._leave(f"log.dirs: {each}", "there is one data directory")

    def _set(self, option: str, value: object, config: str) -> None:
        self.settings.options[option] = value
        self.settings.where[option] = f"{self._path}: {config}"
