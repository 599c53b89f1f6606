"""Options of `odradek serve` by the environment, for containers.

ODRADEK_DATA_DIR=/data                   --data-dir /data: each option has its variable
ODRADEK_QUIET=true                       of an option without a value: true or false
ODRADEK_TOPIC=orders:3,clicks            several with commas
ODRADEK_SET_LOG_RETENTION_HOURS=24       --set log.retention.hours=24

What does nothing is said: a variable of ours that there is not, and those of Kafka's images.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from ....emulator.config.broker_table import broker_definitions
from .settings import Settings

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
"""What of Kafka's images is an option here."""


def variable(option: str) -> str:
    """The variable of an option: "data-dir" is ODRADEK_DATA_DIR."""
    return PREFIX + option.replace("-", "_").upper()


def read_environment(environment: Mapping[str, str], options: Mapping[str, bool]) -> Settings:
    """What the environment says; empty variables count as not set."""
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
