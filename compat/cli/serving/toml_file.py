"""The file of `odradek serve`: odradek.toml, or the table [tool.odradek] of a pyproject.toml.

port = 9092                         # any option, by its name
data-dir = "data"                   # relative to the file, as all paths
seed = "orders.jsonl"               # or several: produced into topics that are empty

[configs]                           # Kafka's broker configs
log.retention.hours = 24

[users]                             # with security = "SASL_PLAINTEXT", or another protocol
alice = "secret"                    # a name, and its password

[features]
"transaction.version" = 1

[topics]
clicks = 6                          # a number of partitions, or a table

[topics.orders]
partitions = 3
replicas = 1
configs = { retention.ms = -1 }
seed = ["espresso", { table = 7 }]  # values, or a file
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .settings import NAME, Settings, SettingsError, TopicSettings

_PYPROJECT = "pyproject.toml"
_TOPIC = ("partitions", "replicas", "configs", "seed")
_TABLES = ("configs", "features", "topics", "users")
_USER = "user"
_SEED = "seed"
_MEANT = {"set": "configs", "config": "configs", "feature": "features", "topic": "topics"}


def find(directory: Path) -> Path | None:
    """The file that is read when none is named. Raises SettingsError for an unreadable one."""
    if (own := directory / NAME).is_file():
        return own
    shared = directory / _PYPROJECT
    if shared.is_file() and "odradek" in _table(shared).get("tool", {}):
        return shared
    return None


def read_toml(path: Path, options: Mapping[str, bool]) -> Settings:
    """The settings of a file. `options`: the names of options, each with whether it is a path.
    Raises SettingsError."""
    table = _table(path)
    where = str(path)
    if path.name == _PYPROJECT:
        table = table.get("tool", {}).get("odradek", {})
        where = f"{path}: [tool.odradek]"
    return _Reader(path, where, options).read(table)


def _table(path: Path) -> dict[str, Any]:
    import tomllib  # not for a broker without such a file

    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from None


class _Reader:
    def __init__(self, path: Path, where: str, options: Mapping[str, bool]) -> None:
        self._directory = path.parent
        self._where = where
        self._options = options
        self.settings = Settings(files=[path])

    def read(self, table: Mapping[str, Any]) -> Settings:
        for key, value in table.items():
            if key in _TABLES:
                if not isinstance(value, dict):
                    raise self._wrong(key, "a table", value)
                getattr(self, f"_{key}")(value)
            elif key == _SEED:
                self._seeds(value)
            elif key in self._options:
                self._option(key, value)
            else:
                raise self._unknown("", key, [*_TABLES, _SEED, *self._options])
        return self.settings

    def _option(self, key: str, value: Any) -> None:
        if isinstance(value, dict):
            raise self._wrong(key, "a value", value)
        if self._options[key]:
            if not isinstance(value, str):
                raise self._wrong(key, "a path", value)
            value = str(self._directory / value)
        self.settings.options[key] = value
        self.settings.where[key] = f"{self._where}: {key}"

    def _seeds(self, value: Any) -> None:
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, str):
                raise self._wrong(_SEED, "a file, or a list of files", each)
            self.settings.seeds.append(self._directory / each)

    def _configs(self, table: Mapping[str, Any]) -> None:
        self.settings.configs = dict(self._flat("configs", table))

    def _features(self, table: Mapping[str, Any]) -> None:
        for name, text in self._flat("features", table):
            if not text.isdecimal():
                raise self._wrong(f"features: {name}", "a level", text)
            self.settings.features[name] = int(text)

    def _users(self, table: Mapping[str, Any]) -> None:
        """Each is as an option `user`. No password is ever quoted."""
        given = self.settings.options.get(_USER, [])
        users = [given] if isinstance(given, str) else list(given)
        for name, password in table.items():
            if not isinstance(password, str) or not password:
                text = (
                    f"{self._where}: users: {name} has to be a password, a text that is not empty"
                )
                raise SettingsError(text)
            users.append(f"{name}:{password}")
        self._option(_USER, users)

    def _flat(self, where: str, table: Mapping[str, Any], prefix: str = "") -> Iterator[Any]:
        """Names with dots are tables within tables in TOML."""
        for key, value in table.items():
            name = prefix + key
            if isinstance(value, dict):
                yield from self._flat(where, value, name + ".")
            else:
                yield name, self._text(f"{where}: {name}", value)

    def _text(self, where: str, value: Any) -> str:
        """A config as Kafka writes it."""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, list):
            return ",".join(self._text(where, each) for each in value)
        if isinstance(value, str | int | float):
            return str(value)
        raise self._wrong(where, "a text, a number, true, false, or a list of them", value)

    def _topics(self, table: Mapping[str, Any]) -> None:
        for name, value in table.items():
            where = f"topics: {name}"
            if isinstance(value, dict):
                self.settings.topics[name] = self._topic(name, where, value)
            else:
                self.settings.topics[name] = TopicSettings(self._count(where, value))

    def _topic(self, name: str, where: str, table: Mapping[str, Any]) -> TopicSettings:
        for key in table:
            if key not in _TOPIC:
                if isinstance(table[key], dict | int):
                    hint = f'; a topic with a dot is written in quotes: "{name}.{key}"'
                    raise self._unknown(where, key, _TOPIC, hint)
                raise self._unknown(where, key, _TOPIC)
        configs, replicas, seed = table.get("configs", {}), table.get("replicas"), table.get(_SEED)
        if not isinstance(configs, dict):
            raise self._wrong(f"{where}: configs", "a table", configs)
        if isinstance(seed, str):
            seed = self._directory / seed
        elif seed is not None and not isinstance(seed, list):
            raise self._wrong(f"{where}: {_SEED}", "a file, or a list of values", seed)
        return TopicSettings(
            partitions=self._count(f"{where}: partitions", table.get("partitions", 1)),
            replicas=None if replicas is None else self._count(f"{where}: replicas", replicas),
            configs=dict(self._flat(f"{where}: configs", configs)),
            seed=seed,
        )

    def _count(self, where: str, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**31:
            raise self._wrong(where, "a number, at least 1", value)
        return value

    def _wrong(self, where: str, wanted: str, value: Any) -> SettingsError:
        return SettingsError(f"{self._where}: {where} has to be {wanted}, not {value!r}")

    def _unknown(self, where: str, key: str, known: Any, hint: str = "") -> SettingsError:
        meant = _MEANT.get(key) or next(iter(get_close_matches(key, list(known), 1)), "")
        if not hint and meant:
            hint = f"; is {meant} meant?"
        place = f"{self._where}: {where}" if where else self._where
        return SettingsError(f"{place}: there is no setting {key!r}{hint}")
