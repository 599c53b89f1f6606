"""Which setting counts: an option, else the environment, else the file, else server.properties.

What is read becomes the default of each option, so that argparse judges it as it judges options.

Options of `odradek serve` by the environment, for containers.

ODRADEK_DATA_DIR=/data                   --data-dir /data: each option has its variable
ODRADEK_QUIET=true                       of an option without a value: true or false
ODRADEK_TOPIC=orders:3,clicks            several with commas
ODRADEK_SET_LOG_RETENTION_HOURS=24       --set log.retention.hours=24

What does nothing is said: a variable of ours that there is not, and those of Kafka's images.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ....emulator.config.broker_table import broker_definitions
from .settings import NAME, Settings, SettingsError, TopicSettings

_PATHS = ("data-dir", "journal", "properties", "ready-file")
_OF_THE_FILE = ("file", "no-file", "watch", "help")
_MAPPINGS = ("set", "topic", "feature")
"""Options that may be repeated: the file has tables for them, what is given adds to these."""
_TRUE, _FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")


def add_settings(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--file",
        metavar="FILE",
        help=f"settings, topics and seeds ({NAME}, else [tool.odradek] in pyproject.toml)",
    )
    serve.add_argument("--no-file", action="store_true", help="read no such file")
    serve.add_argument("--properties", metavar="FILE", help="a server.properties of Kafka's")
    serve.add_argument(
        "--watch", action="store_true", help="apply changes of the file while it runs"
    )
    serve.set_defaults(settings=Settings(), parser=serve)


def configure(serve: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Read what is to be read, and make it the defaults of the options that were not given (those
    that may be repeated would else be added to it). Raises SettingsError."""
    settings = read_all(serve, options)
    judged = {
        option: (action.dest, _judged(action, settings.options[option], settings.where[option]))
        for option, action in _options(serve)
        if option in settings.options
        and (option in _MAPPINGS or getattr(options, action.dest) == action.default)
    }
    _, configs = judged.pop("set", ("", ()))
    _, features = judged.pop("feature", ("", ()))
    _, topics = judged.pop("topic", ("", ()))
    settings.configs |= dict(configs)
    settings.features |= dict(features)
    settings.topics |= {name: TopicSettings(partitions) for name, partitions in topics}
    serve.set_defaults(settings=settings, **dict(judged.values()))


def read_all(
    serve: argparse.ArgumentParser,
    given: argparse.Namespace,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """The settings of file, properties and environment. Raises SettingsError."""
    # Imported here, so that `odradek --help` does not pay for it.
    from .properties import read_properties

    options = {name: name in _PATHS for name, _ in _options(serve) if name not in _OF_THE_FILE}
    from_environment = read_environment(environment, options | {"watch": False})
    settings = Settings()
    path = _file(given, environment)
    if path is not None:
        from .toml_file import read_toml

        in_file = {name: is_path for name, is_path in options.items() if name not in _MAPPINGS}
        settings = read_toml(path, in_file)
    properties = (
        given.properties
        or from_environment.options.get("properties")
        or settings.options.get("properties")
    )
    if properties:
        settings = read_properties(Path(properties)) | settings
    return settings | from_environment


def _file(options: argparse.Namespace, environment: Mapping[str, str]) -> Path | None:
    is_watched = options.watch or bool(environment.get("ODRADEK_WATCH", "").strip())
    if options.no_file:
        if options.file or is_watched:
            raise SettingsError(f"--no-file, and --{'file' if options.file else 'watch'} beside it")
        return None
    from .toml_file import find

    named = options.file or environment.get("ODRADEK_FILE", "")
    path = Path(named) if named else find(Path.cwd())
    if path is None and is_watched:
        raise SettingsError(f"--watch: there is no {NAME} here; name a file with --file")
    return path


def _options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        for option in action.option_strings[-1:]:
            yield option.removeprefix("--"), action


def _judged(action: argparse.Action, value: Any, where: str) -> Any:
    """The value of an option, as if it had been given. Raises SettingsError."""
    if action.nargs == 0:
        text = str(value).lower()
        if text not in (*_TRUE, *_FALSE):
            raise SettingsError(f"{where} has to be true or false, not {value!r}")
        return text in _TRUE
    if isinstance(value, list) or isinstance(action, argparse._AppendAction):
        parts = value if isinstance(value, list) else str(value).split(",")
        if isinstance(action, argparse._AppendAction):
            return [_one(action, each, where) for each in parts]
        return _one(action, ",".join(map(str, parts)), where)
    return _one(action, value, where)


def _one(action: argparse.Action, value: Any, where: str) -> Any:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    try:
        judged = action.type(text) if callable(action.type) else text
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise SettingsError(f"{where}: {error}") from None
    if action.choices is not None and judged not in action.choices:
        known = ", ".join(map(str, action.choices))
        raise SettingsError(f"{where} has to be one of {known}, not {text!r}")
    return judged


PREFIX = "ODRADEK_"
_CONFIG = f"{PREFIX}SET_"
_OF_OTHERS = {
    *("ADVICE", "BOOTSTRAP", "CACHE", "FILE", "PROFILE", "PROFILES", "SECRET", "TIMELINE"),
    *("REPORT", "TIMEOUT", "EXPLORE_SEED", "EXPLORE_SEEDS", "EXPLORE_SCHEDULE"),
}
"""Variables of ours that other commands and the pytest plugin read."""
_OF_IMAGES = re.compile(r"KAFKA_(?:CFG_)?(\w+)")
_MEANT = {
    "ADVERTISED_LISTENERS": "ADVERTISED",
    "LISTENERS": "LISTEN",
    "LOG_DIRS": "DATA_DIR",
    "LOG_DIR": "DATA_DIR",
    "CREATE_TOPICS": "TOPIC",
}
"""Variables of Kafka's images that are options here."""


def variable(option: str) -> str:
    """The variable of an option: "data-dir" is ODRADEK_DATA_DIR."""
    return PREFIX + option.replace("-", "_").upper()


def read_environment(environment: Mapping[str, str], options: Mapping[str, bool]) -> Settings:
    """The settings of the environment; empty variables count as not set."""
    settings = Settings()
    for option in options:
        name = variable(option)
        if value := environment.get(name, "").strip():
            settings.options[option] = value
            settings.where[option] = name
    names = {config.replace(".", "_").upper(): config for config in broker_definitions()}
    for name, value in environment.items():
        if name.startswith(_CONFIG) and value.strip():
            key = name.removeprefix(_CONFIG)
            if key not in names:
                close = get_close_matches(key, names, 1)
                hint = f"; is {_CONFIG}{close[0]} meant?" if close else ""
                settings.not_obeyed[name] = f"Kafka has no such broker config{hint}"
                continue
            settings.configs[names[key]] = value.strip()
    settings.not_obeyed |= dict(_unknown(environment, {*map(variable, options)}))
    settings.not_obeyed |= dict(_of_images(environment, names))
    return settings


def _unknown(environment: Mapping[str, str], known: set[str]) -> Iterator[tuple[str, str]]:
    known |= {PREFIX + each for each in _OF_OTHERS}
    for name in environment:
        if name.startswith(PREFIX) and not name.startswith(_CONFIG) and name not in known:
            close = get_close_matches(name, known, 1, 0.8)
            hint = f"; is {close[0]} meant?" if close else ""
            yield name, f"there is no such variable{hint}"


def _of_images(
    environment: Mapping[str, str], names: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    for name in environment:
        found = _OF_IMAGES.fullmatch(name)
        if found is None or found[1] not in {*names, *_MEANT}:
            continue  # KAFKA_HOME, and what else a shell may have
        ours = PREFIX + _MEANT[found[1]] if found[1] in _MEANT else _CONFIG + found[1]
        yield name, f"it is of another image; {ours} is read here"
