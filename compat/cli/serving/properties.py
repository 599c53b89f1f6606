"""Kafka's own server.properties, as it is: what it means for `odradek serve`.

Where its data is is an option of `serve`, and so is the address, where one listener of plain text
is for clients; other listeners, and what they need to log clients in, are configs as in the file.
Other broker configs are set; those of the controller and what nothing here obeys are named, and so
is one that Kafka does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from ....emulator.base.addresses import bracketed, reachable
from ....emulator.config.broker_rules import STANDARD_AUTHORIZER
from ....emulator.config.broker_table import NOT_SETTABLE, broker_definitions
from ....emulator.config.inert import inert_broker_configs
from ....emulator.config.listener_configs import listener_of
from ....emulator.config.release_tables import is_of_a_release
from .settings import Settings, SettingsError

_ENDS_ODD = re.compile(r"(?<!\\)(\\\\)*\\$")
_KEY_END = re.compile(r"(?:[^\\\s=:]|\\.)*")
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_LISTENER = re.compile(r"([A-Za-z0-9_]+)://(.*):([0-9]{1,5})")
_IN_KRAFT = ("controller.", "process.roles", "initial.broker.registration")
_SECURITY = ("listener.name.", "ssl.", "sasl.")
_ZOOKEEPER = "zookeeper."
_OF_CONNECTIONS = ("max.connections", "max.connection.creation.rate")
_OLD_AUTHORIZER = "kafka.security.authorizer.AclAuthorizer"
_PLAINTEXT, _ANY = "PLAINTEXT", "0.0.0.0"
_LISTENERS, _ADVERTISED = "listeners", "advertised.listeners"
_PROTOCOLS, _BETWEEN = "listener.security.protocol.map", "inter.broker.listener.name"
_OF_A_LISTENER = "listener.name."
_OLD_ADDRESS = ("host.name", "port", "advertised.host.name", "advertised.port")
_PORT = "9092"


def read_properties(path: Path) -> Settings:
    """The settings of a server.properties. Raises SettingsError."""
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
    def __init__(self, path: Path, settings: Mapping[str, str]) -> None:
        self._path = path
        self.settings = Settings(files=[path])
        definitions, inert = broker_definitions(), inert_broker_configs()
        settings = dict(settings)
        self._controllers = [
            name.strip().upper()
            for name in settings.get("controller.listener.names", "").split(",")
        ]
        self._is_plain = True
        self._addresses(settings)
        self._data(settings)
        for name, value in settings.items():
            if name in ("node.id", "broker.id"):
                self.settings.configs["node.id"] = value.strip()
            elif name in NOT_SETTABLE:
                self._leave(name, NOT_SETTABLE[name])
            elif name.startswith(_IN_KRAFT):
                self._leave(name, "the emulator is broker and controller at once")
            elif name.startswith(_ZOOKEEPER):
                self._leave(name, "the emulator needs no ZooKeeper")
            elif name.startswith(_SECURITY) and self._is_plain:
                self._of_plain_text(name, value, inert)
            elif value.strip() == _OLD_AUTHORIZER:
                self.settings.configs[name] = STANDARD_AUTHORIZER
                self._leave(name, f"{STANDARD_AUTHORIZER} is in its place, as in Kafka 4")
            elif name.startswith(_OF_A_LISTENER):
                self._of_a_listener(name, value)
            elif name not in definitions and not is_of_a_release(name):
                close = get_close_matches(name, definitions, 1)
                hint = f"; is {close[0]} meant?" if close else ""
                self._leave(name, f"Kafka has no such broker config{hint}")
            else:
                self.settings.configs[name] = value.strip()
                if name in inert:
                    self._leave(name, inert[name])
        left = self.settings.not_obeyed.keys() - self.settings.configs.keys()
        self.settings.ignored = {name: text for name, text in settings.items() if name in left}

    def _leave(self, name: str, why: str) -> None:
        self.settings.not_obeyed[name] = why

    def _old_address(self, settings: dict[str, str]) -> None:
        """The address as releases before 3.0 may have it, where `listeners` is not set."""
        given = {name: settings.pop(name).strip() for name in _OLD_ADDRESS if name in settings}
        host, port, *advertised = (given.get(name, "") for name in _OLD_ADDRESS)
        if _LISTENERS in settings:
            for name in given:
                self._leave(name, f"{_LISTENERS} says where to listen")
        elif host or port:
            settings[_LISTENERS] = f"{_PLAINTEXT}://{bracketed(host)}:{port or _PORT}"
        if any(advertised) and not {_LISTENERS, _ADVERTISED}.issubset(settings):
            name, number = advertised
            at = f"{bracketed(name or host)}:{number or port or _PORT}"
            settings.setdefault(_ADVERTISED, f"{_PLAINTEXT}://{at}")

    def _addresses(self, settings: dict[str, str]) -> None:
        self._old_address(settings)
        listeners = list(self._for_clients(settings, _LISTENERS))
        advertised = list(self._for_clients(settings, _ADVERTISED))
        pairs = [pair.strip() for pair in settings.pop(_PROTOCOLS, "").split(",") if ":" in pair]
        protocols = dict(pair.upper().split(":", 1) for pair in pairs)
        self._names = {name.lower() for name, _, _ in listeners} or {_PLAINTEXT.lower()}
        self._is_plain = len(listeners) <= 1 and all(
            protocols.get(name, name) == _PLAINTEXT for name, _, _ in listeners
        )
        if self._is_plain:
            settings.pop(_BETWEEN, None)  # it is the only one
            for _, host, port in listeners:
                self._set("host", host or _ANY, _LISTENERS)
                self._set("port", int(port), _LISTENERS)
            for _, host, port in advertised:
                self._set("advertised", f"{host or reachable(_ANY)}:{port}", _ADVERTISED)
            return
        configs = self.settings.configs
        for config, found in ((_LISTENERS, listeners), (_ADVERTISED, advertised)):
            if found:
                texts = [f"{name}://{bracketed(host)}:{port}" for name, host, port in found]
                configs[config] = ",".join(texts)
        own = [pair for pair in pairs if pair.split(":")[0].upper() not in self._controllers]
        if own:
            configs[_PROTOCOLS] = ",".join(own)

    def _for_clients(self, settings: dict[str, str], config: str) -> Iterator[tuple[str, str, str]]:
        for text in filter(None, map(str.strip, settings.pop(config, "").split(","))):
            found = self._listener(config, text)
            if found[0] not in self._controllers:
                yield found
            elif config == _LISTENERS:
                self._leave(f"{config}: {text}", "the emulator has no controller listener")

    def _of_plain_text(self, name: str, value: str, inert: Mapping[str, str]) -> None:
        """One of security, where the only listener has none; its connections may be limited."""
        if not name.startswith(_OF_A_LISTENER):
            self._leave(name, inert.get(name, "the listener speaks plain text"))
        elif listener_of(name) not in self._names:
            self._leave(name, f"there is no listener {listener_of(name).upper()}")
        elif (plain := name.split(".", 3)[-1]) in _OF_CONNECTIONS:
            self.settings.configs[plain] = value.strip()
        else:
            self._leave(name, "the listener speaks plain text")

    def _of_a_listener(self, name: str, value: str) -> None:
        if name.split(".")[2].upper() in self._controllers:
            self._leave(name, "the emulator has no controller listener")
        else:
            self.settings.configs[name] = value.strip()

    def _listener(self, config: str, text: str) -> tuple[str, str, str]:
        match = _LISTENER.fullmatch(text)
        if match is None:
            raise SettingsError(
                f"{self._path}: {config}: {text!r} is not of the form NAME://HOST:PORT"
            )
        return match[1].upper(), match[2].strip("[]"), match[3]

    def _data(self, settings: dict[str, str]) -> None:
        one, several = settings.pop("log.dir", ""), settings.pop("log.dirs", "")
        first, *more = [each.strip() for each in (several or one).split(",")]
        if first:
            self._set("data-dir", first, "log.dirs" if several else "log.dir")
        for each in more:
            self._leave(f"log.dirs: {each}", "there is one data directory")

    def _set(self, option: str, value: object, config: str) -> None:
        self.settings.options[option] = value
        self.settings.where[option] = f"{self._path}: {config}"
